"""How a time is written in what we publish, and an age in what people read."""

import datetime as dt
from typing import Final

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def format_time(value: dt.datetime) -> str:
    """Return RFC 3339 text in UTC with microseconds, such as `…T01:02:03.000000Z`."""
    text = value.astimezone(dt.UTC).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"


def format_optional_time(value: dt.datetime | None) -> str | None:
    """Return the same for a time that may be missing."""
    return None if value is None else format_time(value)


def format_age(age: dt.timedelta) -> str:
    """Return a duration by its two largest units: `3 h 20 min`, `45 s`."""
    seconds = max(0, int(age.total_seconds()))
    parts = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
        if len(parts) == 2 or (parts and not count):
            break
    return " ".join(parts) or "0 s"
