"""What an account that pays may spend, and who else spends it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from prwatch.domain.rate_limit import SAME_WINDOW, BucketState
from prwatch.domain.stretch import KNOWN_SPAN, Bucket

if TYPE_CHECKING:
    from prwatch.app.walk.cycle import Account

GRAPHQL: Final = "graphql"
ASSUMED_LIMIT: Final = 5000
"""Points an hour of a user's token, and the least that an installation has."""


@dataclass(frozen=True, slots=True)
class Window:
    """
    What stood in a bucket when its window was seen first, to tell who uses it.

    `own_points` is what all our tokens of the account had used by then.
    `last_remaining` is what the last answer told. `others` is what others use in an
    hour, as far as this window tells: who used up the last one may have stopped, and
    holding that against us would keep us from ever finding out.
    """

    reset_at: dt.datetime | None
    seen_at: dt.datetime
    remaining: int
    own_points: int
    last_remaining: int
    others: float = 0.0


def read_bucket(group: "Sequence[Account]", now: dt.datetime) -> Bucket | None:
    """
    Return what the account may spend; None where its server has no limits.

    Before the first answer a usual bucket is assumed.
    """
    states = group[0].github.limits.describe()
    known = next((each for each in states if each.bucket == GRAPHQL), None)
    if known is None or known.limit is None or known.remaining is None:
        if any(account.github.usage.graphql for account in group):
            return None
        return Bucket(limit=ASSUMED_LIMIT, is_assumed=True)
    others = _measure_others(group, known, known.remaining, now)
    bucket = Bucket(limit=known.limit, others=others)
    if known.reset_at is None:  # the window is over, and nothing was asked since
        return bucket
    resets_in = known.reset_at - now
    return replace(bucket, remaining=known.remaining, resets_in=resets_in)


def _measure_others(
    group: "Sequence[Account]", known: BucketState, remaining: int, now: dt.datetime
) -> float:
    """Return what others use in an hour: what is gone and we did not use."""
    own = sum(account.github.usage.points for account in group)
    window = group[0].window
    if window is None or _is_over(window, known, remaining):
        window = Window(known.reset_at, now, remaining, own, remaining)
    elapsed = now - window.seen_at
    if elapsed >= KNOWN_SPAN and remaining != window.last_remaining:
        used = window.remaining - remaining - (own - window.own_points)
        others = max(0.0, used * (dt.timedelta(hours=1) / elapsed))
        window = replace(window, others=others, last_remaining=remaining)
    group[0].window = window
    return window.others


def _is_over(window: Window, known: BucketState, remaining: int) -> bool:
    if window.reset_at is None or known.reset_at is None:
        return remaining > window.remaining or window.reset_at != known.reset_at
    is_same = abs(known.reset_at - window.reset_at) < SAME_WINDOW
    return not is_same or remaining > window.remaining
