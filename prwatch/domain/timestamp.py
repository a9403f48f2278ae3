"""How a time is written in what we publish."""

import datetime as dt


def format_time(value: dt.datetime) -> str:
    """Return RFC 3339 text in UTC with microseconds, such as `…T01:02:03.000000Z`."""
    text = value.astimezone(dt.UTC).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"


def format_optional_time(value: dt.datetime | None) -> str | None:
    """Return the same for a time that may be missing."""
    return None if value is None else format_time(value)
