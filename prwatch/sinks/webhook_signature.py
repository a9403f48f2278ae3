"""
Headers by which a receiver knows that a webhook is ours, and which one it is.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import datetime as dt
import hashlib
import hmac
from typing import Final

from prwatch.errors import ConfigError
from prwatch.telemetry.secret import Secret

_PREFIX: Final = "whsec_"


def parse_signing_key(secret: Secret) -> bytes:
    """
    Return the key: the base64 after `whsec_`, or else the secret's own bytes.

    Raises:
        ConfigError: nothing is there, or what follows `whsec_` is no base64.
    """
    value = secret.reveal()
    if not value.startswith(_PREFIX):
        key = value.encode("utf-8", "surrogateescape")
    else:
        try:
            key = base64.b64decode(value.removeprefix(_PREFIX), validate=True)
        except binascii.Error as error:
            raise ConfigError(
                "the webhook's signing secret is not valid",
                hint="after whsec_ there must be base64",
            ) from error
    if not key:
        raise ConfigError("the webhook's signing secret is empty")
    return key


def build_webhook_headers(
    event_id: str, sent_at: dt.datetime, body: bytes, key: bytes | None
) -> dict[str, str]:
    """
    Return the headers of one attempt; without a key it is not signed.

    The id stays the same at each attempt, the timestamp is the attempt's.
    """
    timestamp = str(int(sent_at.timestamp()))
    headers = {"webhook-id": event_id, "webhook-timestamp": timestamp}
    if key is not None:
        signed = b".".join((event_id.encode(), timestamp.encode(), body))
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        headers["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
    return headers
