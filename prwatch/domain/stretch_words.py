"""What stretched and why, in words for people."""

import datetime as dt
from collections.abc import Iterator

from prwatch.domain.load import Load
from prwatch.domain.schedule import Activity, Intervals, get_interval
from prwatch.domain.stretch import Bucket, Stretch, StretchLevel, StretchRules
from prwatch.domain.timestamp import format_age

_NAMES = {
    Activity.FRESH: "active",
    Activity.IDLE: "idle",
    Activity.RESTING: "resting",
}


def describe_stretch(
    stretch: Stretch,
    load: Load,
    *,
    usual: Intervals,
    bucket: Bucket | None,
    rules: StretchRules,
) -> str:
    """Return what is asked less often and why; '' where nothing is."""
    if stretch.level is StretchLevel.NONE or bucket is None:
        return ""
    asked = ", ".join(_iter_stretched(stretch.intervals, load, usual))
    reason = (
        f"{_describe_bucket(bucket, rules)} does not hold "
        f"{_span(usual.base)} for {load.watched:,}"
    )
    if stretch.level is StretchLevel.SHORT:
        return f"{asked}, and that does not suffice: {reason}"
    return f"{asked}: {reason}"


def count_stretched(stretch: Stretch, load: Load, usual: Intervals) -> int:
    """Return how many pull requests are asked less often than usual."""
    return sum(count for _, count, _ in _list_stretched(stretch.intervals, load, usual))


def _iter_stretched(
    intervals: Intervals, load: Load, usual: Intervals
) -> Iterator[str]:
    for activity, count, interval in _list_stretched(intervals, load, usual):
        verb = "is" if count == 1 else "are"
        noun = "pull request" if count == 1 else "pull requests"
        name = _NAMES[activity]
        yield f"{count:,} {name} {noun} {verb} asked every {_span(interval)}"


def _list_stretched(
    intervals: Intervals, load: Load, usual: Intervals
) -> list[tuple[Activity, int, dt.timedelta]]:
    found = []
    for activity in _NAMES:
        interval = get_interval(activity, intervals)
        count = load.count(activity)
        if count and interval > get_interval(activity, usual):
            found.append((activity, count, interval))
    return found


def _describe_bucket(bucket: Bucket, rules: StretchRules) -> str:
    whole = f"the budget of {bucket.limit:,} points an hour"
    if bucket.others:
        return f"{whole}, of which others use {bucket.others:,.0f},"
    left = bucket.remaining
    if left is not None and left < bucket.limit * rules.above:
        return f"what is left ({left:,}) of {whole}"
    return whole


def _span(span: dt.timedelta) -> str:
    """Return seconds up to two minutes, else the two largest units."""
    seconds = span.total_seconds()
    return f"{seconds:g} s" if seconds < 120 else format_age(span)
