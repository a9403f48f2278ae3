"""Durations and sizes as people write them: a whole number and a unit."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Final

_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_UNITS: Final[Mapping[str, dt.timedelta]] = {
    "ms": _MILLISECOND,
    "s": dt.timedelta(seconds=1),
    "m": dt.timedelta(minutes=1),
    "h": dt.timedelta(hours=1),
    "d": dt.timedelta(days=1),
}
_SIZES: Final[Mapping[str, int]] = {
    "B": 1,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}
# Nine digits of days are within the range of timedelta, and more is a mistake.
_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_SIZE = re.compile(r"([0-9]{1,9})(B|KiB|MiB|GiB)")


def parse_duration(text: str) -> dt.timedelta:
    """
    Return the duration that `30s`, `15m`, `2h`, `30d` or `500ms` means.

    Raises:
        ValueError: It is not a whole number with one of these units.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError('a duration such as "500ms", "30s", "15m", "2h" or "30d"')
    return int(match[1]) * _UNITS[match[2]]


def format_duration(duration: dt.timedelta) -> str:
    """
    Return a text that `parse_duration` reads as this duration, in a natural unit.

    One minute, hour or day is told in the unit below, as people do: `60s`, `24h`.
    Less than a millisecond is cut off.
    """
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(duration, _UNITS[unit])
        if not rest and (count > 1 or unit == "s"):
            return f"{count}{unit}"
    return f"{duration // _MILLISECOND}ms"


def parse_size(text: str) -> int:
    """
    Return the bytes that `512B`, `64KiB`, `64MiB` or `1GiB` means.

    Raises:
        ValueError: It is not a whole number with one of these units.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError('a size such as "512KiB", "64MiB" or "1GiB"')
    return int(match[1]) * _SIZES[match[2]]


def format_size(size_bytes: int) -> str:
    """Return the shortest text that `parse_size` reads as this many bytes."""
    for unit, length in sorted(_SIZES.items(), key=lambda item: item[1], reverse=True):
        if size_bytes and size_bytes % length == 0:
            return f"{size_bytes // length}{unit}"
    return "0B"
