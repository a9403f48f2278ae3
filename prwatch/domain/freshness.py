"""How old the last good observation of a watch may become before something is wrong."""

import datetime as dt
import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

SLACK: Final = 3
"""Turns after which a watch should have been seen: one may fail and be repeated."""
SHORTEST_BOUND: Final = dt.timedelta(minutes=5)
"""A cycle may take a while, and one that gets nowhere is given up in two minutes."""


class StaleReason(enum.StrEnum):
    """Why a watch was not seen for longer than its bound."""

    CIRCUIT = "circuit"
    LIMIT = "limit"
    UNEXPLAINED = "unexplained"
    """Nothing stands in the way that we know of: that is our fault."""


@dataclass(frozen=True, slots=True)
class Seen:
    """When a watch was last seen well, how often it is asked, what is in its way."""

    good_at: dt.datetime
    interval: dt.timedelta
    obstacle: StaleReason = StaleReason.UNEXPLAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeReport:
    """
    How long ago the watches were seen well, at `measured_at`.

    `oldest_at` is when the one was that waits longest, None without any watch.
    `overdue` counts those beyond their bound by reason.
    """

    measured_at: dt.datetime
    oldest_at: dt.datetime | None = None
    watches: int = 0
    overdue: Mapping[StaleReason, int] = field(default_factory=dict)


def get_bound(interval: dt.timedelta) -> dt.timedelta:
    """Return how old the last good observation may be of what is asked that often."""
    return max(interval * SLACK, SHORTEST_BOUND)


def measure_ages(seen: Iterable[Seen], *, now: dt.datetime) -> AgeReport:
    """Return the oldest of them, and how many are beyond their bounds."""
    oldest: dt.datetime | None = None
    overdue: Counter[StaleReason] = Counter()
    watches = 0
    for one in seen:
        watches += 1
        if oldest is None or one.good_at < oldest:
            oldest = one.good_at
        if now - one.good_at > get_bound(one.interval):
            overdue[one.obstacle] += 1
    return AgeReport(
        measured_at=now, oldest_at=oldest, watches=watches, overdue=dict(overdue)
    )
