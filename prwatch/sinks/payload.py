"""The bytes in which an event leaves, the same for every sink."""

import json

import msgspec

from prwatch.domain.envelope import build_envelope
from prwatch.domain.outbox import Delivery


def encode_event(delivery: Delivery) -> bytes:
    """Return the envelope as JSON on one line, without the line's end."""
    envelope = build_envelope(delivery.event, is_superseded=delivery.is_superseded)
    try:
        return msgspec.json.encode(envelope)
    except UnicodeEncodeError:
        # A lone surrogate, which must not hold up the events behind it. Escaped it
        # is JSON that every decoder takes in one way or another.
        return json.dumps(envelope, separators=(",", ":")).encode()
