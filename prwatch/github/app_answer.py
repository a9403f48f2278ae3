"""What GitHub answers an app that asks for a token of one of its installations."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import httpx
import msgspec

from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProtocolViolation,
)
from prwatch.github.classify import judge
from prwatch.github.exchange import Exchange
from prwatch.github.plausible import Timed
from prwatch.github.rest_wire import MESSAGE
from prwatch.github.text import clean_text
from prwatch.github.wire import decode
from prwatch.github.wording import find_app_refusal
from prwatch.telemetry.secret import Secret

OPERATION: Final = "create installation token"
SCOPE: Final = "installation"


@dataclass(frozen=True, slots=True)
class InstallationToken:
    """A token, and when it ends on GitHub's clock. Nothing else about it is known."""

    secret: Secret
    expires_at: dt.datetime


class _Granted(Timed):
    token: str
    expires_at: dt.datetime


_GRANTED: Final = msgspec.json.Decoder(_Granted)


def read_answer(response: httpx.Response, now: dt.datetime) -> InstallationToken:
    """
    Return the token that the answer grants.

    Raises:
        AuthenticationFailed: the app is refused (401), or its installation is
            suspended (403) or gone (404).
        ProviderError: whatever else the answer means.
    """
    exchange = _read_exchange(response, now)
    if exchange.status == 401 or (exchange.status == 404 and exchange.is_json):
        refusal = find_app_refusal(exchange.status, exchange.message)
        raise _refuse(exchange, refusal.said, refusal.hint)
    error = judge(exchange)
    if isinstance(error, PermissionDenied):
        raise _refuse(
            exchange,
            "GitHub gives the app no token for this installation",
            "look at the app and its installation on GitHub",
        )
    if error is not None:
        raise error
    return _read_granted(response, exchange)


def _refuse(exchange: Exchange, said: str, hint: str) -> AuthenticationFailed:
    return AuthenticationFailed(
        said,
        operation=exchange.operation,
        request_id=exchange.request_id,
        scope=SCOPE,
        status=exchange.status,
        hint=hint,
    )


def _read_granted(response: httpx.Response, exchange: Exchange) -> InstallationToken:
    try:
        granted = _GRANTED.decode(response.content)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        granted = None
    if granted is None or not granted.token:
        # Without its cause, which may quote the token.
        raise ProtocolViolation(
            "GitHub's answer holds no installation token",
            operation=exchange.operation,
            request_id=exchange.request_id,
            scope=SCOPE,
            status=exchange.status,
            hint="check the host's api_url",
        )
    return InstallationToken(Secret(granted.token), granted.expires_at)


def _read_exchange(response: httpx.Response, now: dt.datetime) -> Exchange:
    is_json = response.content.lstrip()[:1] == b"{"
    said = None
    if is_json and response.status_code >= 300:
        said = decode(MESSAGE, response.content)
    return Exchange(
        status=response.status_code,
        headers=response.headers,
        operation=OPERATION,
        is_json=is_json,
        message=clean_text(said.message) if said else "",
        received_at=now,
    )
