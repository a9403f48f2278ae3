"""
What an hour of watching costs, before it is spent.

It follows the walk: what is due together is asked together, what a list has shown is
not probed again, and every tenth list is walked to its end. Where references have
several intervals, free places are filled with those that are due next, so that an hour
costs what its questions cost, but at least a point for each time that it asks.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.load import Load
from prwatch.domain.price import (
    BRANCH_CONNECTIONS,
    BRANCHES_A_REQUEST,
    CONNECTIONS_A_POINT,
    PAGE_SIZE,
    PROBES_A_POINT,
    PROBES_A_REQUEST,
    Price,
    price_branches,
    price_pages,
    price_probes,
    price_reads,
)
from prwatch.domain.schedule import (
    Activity,
    Intervals,
    get_full_read_interval,
    get_interval,
    get_search_interval,
)

HOUR: Final = dt.timedelta(hours=1)
FULL_WALK_EVERY: Final = 10
"""Each tenth time a list is walked to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """
    The price of an hour by what it is for, and that of one quiet cycle.

    The quiet cycle asks for everything once, reads nothing in full and walks no list
    to its end.
    """

    probes: Price
    reads: Price
    lists: Price
    branches: Price
    finished: Price
    cycle: Price

    @property
    def hour(self) -> Price:
        """Return the price of an hour."""
        return self.probes + self.reads + self.lists + self.branches + self.finished


def build_forecast(load: Load, intervals: Intervals) -> Forecast:
    """Return what watching that load at these intervals costs."""
    walks = _per_hour(intervals.base)
    unlisted = _leave_out_listed(load)
    branches: defaultdict[dt.timedelta, int] = defaultdict(int)
    for activity, count in load.branches.items():
        branches[get_search_interval(activity, intervals)] += count
    return Forecast(
        probes=_price_probing(load, unlisted, intervals),
        reads=_price_reading(load, unlisted, intervals),
        lists=_price_lists(load) * walks,
        branches=_price_rounds(
            branches,
            price=price_branches,
            a_point=CONNECTIONS_A_POINT // BRANCH_CONNECTIONS,
            a_request=BRANCHES_A_REQUEST,
        ),
        finished=price_probes(load.finished) * _per_hour(intervals.finished),
        cycle=_price_cycle(load, unlisted),
    )


def _list_shown(load: Load) -> list[int]:
    """List how many pull requests each page, or search, shows that is always read."""
    return [*(min(PAGE_SIZE, each) for each in load.lists), *load.searches]


def _leave_out_listed(load: Load) -> dict[Activity, float]:
    """Return the pull requests that need a probe, as active as all are."""
    total = sum(load.pull_requests.values())
    part = max(0.0, 1 - sum(_list_shown(load)) / total) if total else 0.0
    return {each: count * part for each, count in load.pull_requests.items()}


def _price_cycle(load: Load, unlisted: Mapping[Activity, float]) -> Price:
    pages = Price(len(load.lists), len(load.lists))
    probes = price_probes(round(sum(unlisted.values())))
    branches = price_branches(sum(load.branches.values()))
    searches = sum((_price_search(each) for each in load.searches), Price())
    return pages + searches + probes + branches


def _price_search(shown: int) -> Price:
    """Return what a search costs: its pages, and a look at each that they show."""
    return price_pages(shown) + price_probes(shown)


def _price_lists(load: Load) -> Price:
    """Return what one walk of the lists costs on average."""
    price = sum((_price_search(each) for each in load.searches), Price())
    for watched in load.lists:
        price += Price(1, 1) * (1 - 1 / FULL_WALK_EVERY)
        price += price_pages(watched) * (1 / FULL_WALK_EVERY)
    return price


def _price_probing(
    load: Load, unlisted: Mapping[Activity, float], intervals: Intervals
) -> Price:
    groups: defaultdict[dt.timedelta, float] = defaultdict(float)
    for activity, count in unlisted.items():
        groups[get_interval(activity, intervals)] += count
    price = _price_rounds(
        {interval: round(count) for interval, count in groups.items()},
        price=price_probes,
        a_point=PROBES_A_POINT,
        a_request=PROBES_A_REQUEST,
    )
    price *= 1 - _count_saved(load, groups, intervals)
    archived = price_probes(load.archived) * _per_hour(intervals.archived)
    return price + archived


def _count_saved(
    load: Load, groups: Mapping[dt.timedelta, float], intervals: Intervals
) -> float:
    """
    Return which part of the probes a walk to the end of the lists saves.

    It shows what no ordinary walk does, and nothing of that is due for a while.
    """
    beyond = sum(load.lists) - sum(min(PAGE_SIZE, each) for each in load.lists)
    left = sum(groups.values())
    if not beyond or not left:
        return 0.0
    walks = _per_hour(intervals.base) / FULL_WALK_EVERY
    asked = sum(_per_hour(each) * count for each, count in groups.items())
    saved = sum(min(walks, _per_hour(each)) * count for each, count in groups.items())
    return beyond / left * saved / asked


def _price_reading(
    load: Load, unlisted: Mapping[Activity, float], intervals: Intervals
) -> Price:
    """Return what full re-reads cost; those of one answer are read together."""
    total = sum(load.pull_requests.values())
    if not total:
        return Price()
    times = sum(
        count * _per_hour(get_full_read_interval(activity, intervals))
        for activity, count in load.pull_requests.items()
    )
    shown = _list_shown(load)
    groups = sum((price_reads(each) for each in shown), Price())
    full, rest = divmod(round(sum(unlisted.values())), PROBES_A_REQUEST)
    groups += price_reads(PROBES_A_REQUEST) * full + price_reads(rest)
    return groups * (times / total)


def _price_rounds(
    groups: Mapping[dt.timedelta, int],
    *,
    price: Callable[[int], Price],
    a_point: int,
    a_request: int,
) -> Price:
    """Return what an hour costs in which each group is asked at its interval."""
    asked = {interval: count for interval, count in groups.items() if count}
    apart = Price()
    for interval, count in asked.items():
        apart += price(count) * _per_hour(interval)
    if len(asked) < 2:
        return apart
    questions = sum(count * _per_hour(each) for each, count in asked.items())
    rounds = _per_hour(min(asked))
    # Each time, a quarter of a request stays free in the end.
    return Price(
        min(apart.points, max(rounds, questions / a_point + rounds / 4)),
        min(apart.requests, max(rounds, questions / a_request + rounds / 4)),
    )


def _per_hour(interval: dt.timedelta) -> float:
    return HOUR / interval
