"""What more watches would cost, and from where on a budget does not hold them."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from prwatch.domain.forecast import build_forecast
from prwatch.domain.load import Load, grow, multiply, resize
from prwatch.domain.schedule import Activity, Intervals
from prwatch.domain.stretch import (
    Bucket,
    Stretch,
    StretchRules,
    count_allowed,
    count_usable,
    plan_stretch,
    promise,
    stretch_fully,
)

STEPS: Final = (100, 1_000)
TIMES: Final = 10
MOST: Final = 1_000_000
"""Watches beyond which nobody asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Under what a load is forecast: the intervals, the budget, and how it is kept."""

    intervals: Intervals
    bucket: Bucket | None
    rules: StretchRules
    tick: dt.timedelta

    def plan(self, load: Load) -> Stretch:
        """Return the least stretch under which an hour costs what it may."""
        return plan_stretch(load, self.intervals, bucket=self.bucket, rules=self.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The forecast for so many pull requests; a change becomes as old as `bound`."""

    watched: int
    stretch: Stretch
    bound: dt.timedelta


def list_growth(load: Load, terms: Terms) -> list[Growth]:
    """List the forecasts of the load, of some more, and of ten times as much."""
    loads = [load, *(grow(load, step) for step in STEPS)]
    if load.watched:
        loads.append(multiply(load, TIMES))
    loads.sort(key=lambda each: each.watched)
    return [_forecast(each, terms) for each in loads]


def get_promise(load: Load, stretch: Stretch, tick: dt.timedelta) -> dt.timedelta:
    """Return how old a change of the least asked pull request may become."""
    present = [each for each in Activity if load.count(each)] or [Activity.FRESH]
    return max(promise(stretch.intervals, each, tick=tick) for each in present)


def find_stretch_start(load: Load, terms: Terms) -> int | None:
    """Return from how many pull requests on intervals give way, None for never."""
    bucket = terms.bucket
    if bucket is None:
        return None
    allowed = count_allowed(bucket, terms.rules)

    def is_over(more: Load) -> bool:
        return build_forecast(more, terms.intervals).hour.points > allowed

    return _find_first(load, is_over)


def find_end(load: Load, terms: Terms) -> int | None:
    """Return from how many on even the longest intervals cost more than there is."""
    bucket = terms.bucket
    if bucket is None:
        return None
    usable = count_usable(bucket, terms.rules)
    longest = stretch_fully(terms.intervals, terms.rules)

    def is_over(more: Load) -> bool:
        return build_forecast(more, longest).hour.points > usable

    return _find_first(load, is_over)


def _forecast(load: Load, terms: Terms) -> Growth:
    stretch = terms.plan(load)
    bound = get_promise(load, stretch, terms.tick)
    return Growth(watched=load.watched, stretch=stretch, bound=bound)


def _find_first(load: Load, is_over: Callable[[Load], bool]) -> int | None:
    """Return the least number of pull requests that is too many."""
    low, high = 0, max(1, load.watched)
    if is_over(resize(load, low)):
        return low
    while not is_over(resize(load, high)):
        low, high = high, high * 2
        if low > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if is_over(resize(load, middle)):
            high = middle
        else:
            low = middle
    return high
