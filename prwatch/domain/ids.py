"""Our own identifiers: UUID version 7 text, made from given time and chance."""

import datetime as dt
import random
import uuid


def build_id(now: dt.datetime, chance: random.Random) -> str:
    """
    Return a new UUIDv7 (RFC 9562, 5.7) as text.

    Ids sort by the millisecond they were made in. Nothing may rely on the order
    of two ids of one millisecond.
    """
    milliseconds = int(now.timestamp() * 1000) & ((1 << 48) - 1)
    value = milliseconds << 80
    value |= 0x7 << 76
    value |= chance.getrandbits(12) << 64
    value |= 0b10 << 62
    value |= chance.getrandbits(62)
    return str(uuid.UUID(int=value))
