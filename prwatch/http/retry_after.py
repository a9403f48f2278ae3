"""How long a server asks us to wait."""

import datetime as dt
from email.utils import parsedate_to_datetime
from typing import Final

_LONGEST: Final = dt.timedelta(days=365)


def parse_retry_after(value: str, now: dt.datetime) -> dt.timedelta | None:
    """
    Return the wait that a `Retry-After` header asks for (RFC 9110, 10.2.3).

    It is given in seconds or as an HTTP date. A date in the past is no wait, more
    than a year is a year, and nonsense is None. Where the header came several times,
    which joins the numbers with commas, the longest counts.
    """
    text = value.strip()
    waits = [_read_seconds(each.strip()) for each in text.split(",")]
    if all(each is not None for each in waits):
        return max(each for each in waits if each is not None)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=dt.UTC)
    return _bound(date - now)


def _read_seconds(text: str) -> dt.timedelta | None:
    if not (text.isascii() and text.isdigit()):
        return None
    # So many digits are beyond the bound, and beyond what int() reads.
    return _bound(dt.timedelta(seconds=int(text))) if len(text) < 12 else _LONGEST


def _bound(wait: dt.timedelta) -> dt.timedelta:
    return min(max(wait, dt.timedelta()), _LONGEST)
