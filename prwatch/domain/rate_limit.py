"""
What a rate limit leaves: budgets, what is kept of them for people, and what is news.

Times of a `Budget` are GitHub's; all others are ours.
"""

import datetime as dt
import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

SECONDARY: Final = "secondary"
"""The name under which the secondary limit, which binds all buckets, is kept."""
BUCKETS: Final = frozenset({"core", "graphql", "search"})
SAME_WINDOW: Final = dt.timedelta(minutes=5)
"""Resets of one window differ a little between replies; a new window is an hour on."""
IN_FLIGHT: Final = dt.timedelta(minutes=1)
"""An answer is at most so late: requests take 30 s at most."""
_ROUNDING: Final = 1e-9


class BlockReason(enum.StrEnum):
    """Why a bucket is not used for now. A reserve binds background polling alone."""

    NONE = ""
    LIMIT = "limit"
    SECONDARY = "secondary"
    RESERVE = "reserve"


class LimitChange(enum.StrEnum):
    """What became of a limit: calls are forbidden, or allowed again."""

    EXHAUSTED = "exhausted"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Budget:
    """
    What is left in a bucket.

    `remaining` is the lowest that was told in this window. `reset_at` is on
    GitHub's clock.
    """

    bucket: str
    limit: int
    remaining: int
    reset_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketState:
    """
    One bucket of an account as it is now, on our clock.

    `limit`, `remaining` and `reset_at` are None where nothing is known: some servers
    have no limits, and none tells how far its secondary limit is. `reserve` is what
    background polling leaves. `blocked_until` is None where nothing forbids calls.
    """

    bucket: str
    limit: int | None = None
    remaining: int | None = None
    reset_at: dt.datetime | None = None
    reserve: int = 0
    blocked_until: dt.datetime | None = None
    reason: BlockReason = BlockReason.NONE


@dataclass(frozen=True, slots=True)
class LimitTransition:
    """
    A limit was reached, or calls are allowed again.

    `blocked_until` is None for the latter.
    """

    bucket: str
    change: LimitChange
    blocked_until: dt.datetime | None = None


def merge_budgets(known: Budget | None, told: Budget, *, now: dt.datetime) -> Budget:
    """
    Return what is left after a reply of GitHub's time `now` has told its count.

    Replies of one window come from several counters, so the lowest counts until the
    reset really moves. What a reply of the window before brings late is left out. Of
    a counter whose window ends much sooner the lower one counts, until its own reset.
    """
    if known is None or now >= known.reset_at:
        return told
    if told.reset_at >= known.reset_at + SAME_WINDOW:
        return told
    if told.reset_at <= known.reset_at - SAME_WINDOW:
        is_late = told.reset_at <= now + IN_FLIGHT
        return known if is_late or known.remaining < told.remaining else told
    return replace(
        told,
        remaining=min(known.remaining, told.remaining),
        reset_at=max(known.reset_at, told.reset_at),
    )


def get_reserve(limit: int, share: float) -> int:
    """Return how much of a bucket background polling leaves, rounded down."""
    return int(limit * share + _ROUNDING)


def list_transitions(
    told: Collection[str], standing: Mapping[str, dt.datetime]
) -> list[LimitTransition]:
    """
    List what is news, by bucket.

    `told` are the limits that were last told to be exhausted, `standing` those that
    are, until when. A later end of one that was told is no news.
    """
    ended = [
        LimitTransition(name, LimitChange.RECOVERED)
        for name in sorted(told)
        if name not in standing
    ]
    reached = [
        LimitTransition(name, LimitChange.EXHAUSTED, until)
        for name, until in sorted(standing.items())
        if name not in told
    ]
    return [*ended, *reached]


@dataclass(frozen=True, slots=True)
class StoredLimits:
    """What a store holds of one token's limits: who pays, and what forbids calls."""

    payer: str = ""
    blocks: frozenset[tuple[str, dt.datetime]] = frozenset()


NOTHING_STORED: Final = StoredLimits()
