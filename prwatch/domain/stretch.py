"""
Which intervals give way when a budget does not hold what is watched.

As long as an hour is forecast to cost less than half of the bucket, nothing gives way.
Above that, idle pull requests are asked less often first, then all idle ones further,
and in the end everything that is not hot. What is hot keeps its interval.
"""

import datetime as dt
import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from prwatch.domain.forecast import HOUR, Forecast, build_forecast
from prwatch.domain.load import Load
from prwatch.domain.schedule import Activity, Intervals, get_interval

STEPS_A_FACTOR: Final = 4
"""Intervals grow by a quarter of their first value at a time."""
KNOWN_SPAN: Final = dt.timedelta(minutes=5)
"""How long others must have been seen to tell how much they use."""


class StretchLevel(enum.StrEnum):
    """How far the intervals have given way."""

    NONE = "none"
    IDLE = "idle"
    """What did not move for an hour is asked less often."""
    FURTHER = "further"
    """The same, and less often than that."""
    CALM = "calm"
    """Everything is asked less often that is not hot; so are lists."""
    SHORT = "short"
    """That, and the budget does not hold it even so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchRules:
    """
    How far intervals may give way.

    `above` is the part of a bucket that a forecast may reach before anything does,
    `reserve` the part that is left to people. `longest` bounds every interval.
    """

    idle: dt.timedelta = dt.timedelta(minutes=5)
    idle_rest: dt.timedelta = dt.timedelta(minutes=15)
    longest: dt.timedelta = dt.timedelta(hours=1)
    above: float = 0.5
    reserve: float = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """
    What an account may spend in an hour, in points.

    `remaining` is None, and `is_assumed` true, while GitHub has not told. `resets_in`
    is how long the window still lasts. `others` is what was used beside us in an hour.
    """

    limit: int
    remaining: int | None = None
    resets_in: dt.timedelta = HOUR
    others: float = 0.0
    is_assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The intervals that hold now, and what an hour costs with them."""

    level: StretchLevel
    intervals: Intervals
    forecast: Forecast


def count_usable(bucket: Bucket, rules: StretchRules) -> float:
    """Return how many points of an hour are ours: without the reserve and others."""
    return max(0.0, bucket.limit * (1 - rules.reserve) - bucket.others)


def count_allowed(bucket: Bucket, rules: StretchRules) -> float:
    """
    Return how many points an hour may cost before intervals give way.

    That is a part of the whole bucket, or what is left of it when that is less: what
    remains above the reserve must last until the reset. When nothing does, polling
    pauses, and the hour after that counts.
    """
    allowed = min(bucket.limit * rules.above, count_usable(bucket, rules))
    if bucket.remaining is None or bucket.resets_in <= dt.timedelta(0):
        return allowed
    left = bucket.remaining - bucket.limit * rules.reserve
    if left <= 0:
        return allowed
    return min(allowed, left / (bucket.resets_in / HOUR))


def plan_stretch(
    load: Load, intervals: Intervals, *, bucket: Bucket | None, rules: StretchRules
) -> Stretch:
    """
    Return the least stretch under which an hour costs no more than it may.

    Without a bucket there is nothing to plan: some servers have no limits.
    """
    allowed = None if bucket is None else count_allowed(bucket, rules)
    last: Stretch | None = None
    for level, stretched in _iter_steps(intervals, rules):
        forecast = build_forecast(load, stretched)
        last = Stretch(level=level, intervals=stretched, forecast=forecast)
        if allowed is None or forecast.hour.points <= allowed:
            return last
    assert last is not None  # noqa: S101 - the first step stretches nothing
    assert bucket is not None  # noqa: S101 - without one that step was enough
    if last.forecast.hour.points <= count_usable(bucket, rules):
        return last
    return replace(last, level=StretchLevel.SHORT)


def promise(
    intervals: Intervals, activity: Activity, *, tick: dt.timedelta
) -> dt.timedelta:
    """Return how old a change may become: its interval, and until the loop wakes."""
    return get_interval(activity, intervals) + tick


def stretch_fully(intervals: Intervals, rules: StretchRules) -> Intervals:
    """Return the longest intervals to which anything gives way."""
    return [stretched for _, stretched in _iter_steps(intervals, rules)][-1]


def _iter_steps(
    intervals: Intervals, rules: StretchRules
) -> Iterator[tuple[StretchLevel, Intervals]]:
    """Yield ever longer intervals, the given ones first."""
    yield StretchLevel.NONE, intervals
    idle = max(intervals.base, rules.idle)
    rest = max(idle, rules.idle_rest)
    stretched = replace(intervals, idle=idle, idle_rest=rest)
    yield StretchLevel.IDLE, stretched
    for factor in _iter_factors(idle, rules.longest):
        stretched = replace(
            intervals,
            idle=idle * factor,
            idle_rest=max(idle * factor, min(rest * factor, rules.longest)),
        )
        yield StretchLevel.FURTHER, stretched
    for factor in _iter_factors(intervals.base, max(idle, intervals.base)):
        yield StretchLevel.CALM, replace(stretched, base=intervals.base * factor)


def _iter_factors(first: dt.timedelta, longest: dt.timedelta) -> Iterator[float]:
    """Yield the factors above 1 by which an interval grows until it is the longest."""
    step = 1
    while first < longest:
        factor = min(1 + step / STEPS_A_FACTOR, longest / first)
        yield factor
        if factor >= longest / first:
            return
        step += 1
