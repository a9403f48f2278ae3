"""
When each reference is to be asked for again, and who fills a request's free places.

Everything follows from stored times and from when it was last asked, so that a
restart or a forced cycle changes nothing but the next turn.
"""

import datetime as dt
import enum
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

K = TypeVar("K", bound=Hashable)

HOT_AGE: Final = dt.timedelta(hours=1)
"""How long after a sign of life a searching branch is asked often."""

COOL_AGE: Final = dt.timedelta(days=1)
"""How long after a sign of life it is asked now and then; later seldom."""


class ReferenceKind(enum.StrEnum):
    """What a reference is, as far as its turns go."""

    DISCOVERED = "discovered"
    SEARCHING = "searching"
    FINISHED = "finished"
    """A closed pull request that somebody named: it may be opened again."""


class Activity(enum.StrEnum):
    """How much happens on a discovered pull request."""

    HOT = "hot"
    """Checks run, a merge is queued or a verdict settles."""
    FRESH = "fresh"
    """It moved within the last hour."""
    IDLE = "idle"
    """It did not."""
    RESTING = "resting"
    """It did not move for a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """How often each kind of reference is asked for."""

    base: dt.timedelta = dt.timedelta(seconds=60)
    hot: dt.timedelta = dt.timedelta(seconds=15)
    """While checks run, a merge is queued or a verdict settles."""
    idle: dt.timedelta = dt.timedelta(0)
    """From an hour after a pull request last moved, if that is longer than `base`."""
    idle_rest: dt.timedelta = dt.timedelta(0)
    """From a day after it, if that is longer."""
    search: dt.timedelta = dt.timedelta(seconds=60)
    search_idle: dt.timedelta = dt.timedelta(minutes=5)
    """From an hour after the last sign of life."""
    search_rest: dt.timedelta = dt.timedelta(minutes=15)
    """From a day after it."""
    search_for: dt.timedelta = dt.timedelta(days=30)
    """How long after it a searching row is asked for at all."""
    archived: dt.timedelta = dt.timedelta(days=1)
    """For rows of an archived repository, so that it can wake up."""
    finished: dt.timedelta = dt.timedelta(minutes=15)
    finished_for: dt.timedelta = dt.timedelta(days=30)
    """How long after it was closed a finished reference is asked for."""
    full_read: dt.timedelta = dt.timedelta(minutes=15)
    """How old what a probe cannot see may become."""


def allow_for_jitter(
    intervals: Intervals, *, jitter: float, longest: dt.timedelta
) -> Intervals:
    """
    Return the intervals after which a reference is due for a loop that woke early.

    The loop moves each wake-up by up to `jitter` of its wait, which is `longest` at
    most. Without this, what it woke for would not be due yet, and wait for the next.
    """

    def shorten(interval: dt.timedelta) -> dt.timedelta:
        return interval - min(interval, longest) * jitter

    return replace(
        intervals,
        base=shorten(intervals.base),
        hot=shorten(intervals.hot),
        idle=shorten(intervals.idle),
        idle_rest=shorten(intervals.idle_rest),
        search=shorten(intervals.search),
        search_idle=shorten(intervals.search_idle),
        search_rest=shorten(intervals.search_rest),
        archived=shorten(intervals.archived),
        finished=shorten(intervals.finished),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    What decides a reference's next turn.

    `last_asked_at` is None while it was not asked by this process. `look_at` is
    when a verdict settles or a flap may be told, or None. `last_sign_at` is the
    last sign of life of a branch, or when a pull request last moved, as far as is
    stored; `closed_at` belongs to finished rows. A row that an entry named by its
    branch does not rest.
    """

    kind: ReferenceKind
    last_asked_at: dt.datetime | None = None
    is_busy: bool = False
    look_at: dt.datetime | None = None
    is_archived: bool = False
    last_sign_at: dt.datetime | None = None
    can_rest: bool = True
    closed_at: dt.datetime | None = None


def is_resting(turn: Turn, *, now: dt.datetime, intervals: Intervals) -> bool:
    """Return whether it is not asked for at all until something wakes it."""
    if turn.kind is ReferenceKind.DISCOVERED:
        return False
    if turn.kind is ReferenceKind.SEARCHING:
        since = turn.last_sign_at if turn.can_rest else None
        span = intervals.search_for
    else:
        since, span = turn.closed_at, intervals.finished_for
    return since is not None and now - since >= span


def next_due(
    turn: Turn, *, now: dt.datetime, intervals: Intervals
) -> dt.datetime | None:
    """
    Return when to ask for it next; None while it rests.

    What was never asked for is due at `now`, and so is what was asked for at a time
    that is still to come: the clock was set back. What waits for settling is due at
    that very moment, if its interval does not end before.
    """
    if is_resting(turn, now=now, intervals=intervals):
        return None
    asked_at = turn.last_asked_at
    if asked_at is None or asked_at > now:
        return now
    due_at = asked_at + choose_interval(turn, intervals)
    if turn.look_at is not None and turn.look_at > asked_at:
        return min(due_at, turn.look_at)
    return due_at


def choose_interval(turn: Turn, intervals: Intervals) -> dt.timedelta:
    """Return how long after it was asked for it is due again."""
    if turn.is_archived:
        return intervals.archived
    if turn.kind is ReferenceKind.SEARCHING:
        return get_search_interval(judge_activity(turn), intervals)
    if turn.kind is ReferenceKind.FINISHED:
        return intervals.finished
    return get_interval(judge_activity(turn), intervals)


def judge_activity(turn: Turn) -> Activity:
    """
    Return how active a pull request or a branch is, by stored times.

    Its age is that of its last turn, so that its next one does not move while it
    waits.
    """
    if turn.is_busy or turn.look_at is not None:
        return Activity.HOT
    if turn.last_sign_at is None or turn.last_asked_at is None:
        return Activity.FRESH
    return judge_age(turn.last_asked_at - turn.last_sign_at)


def judge_age(age: dt.timedelta) -> Activity:
    """Return how active that is whose last sign of life is so old."""
    if age < HOT_AGE:
        return Activity.FRESH
    return Activity.IDLE if age < COOL_AGE else Activity.RESTING


def get_interval(activity: Activity, intervals: Intervals) -> dt.timedelta:
    """Return how often pull requests of that activity are asked about."""
    match activity:
        case Activity.HOT:
            return intervals.hot
        case Activity.FRESH:
            return intervals.base
        case Activity.IDLE:
            return max(intervals.base, intervals.idle)
        case _:
            return max(intervals.base, intervals.idle, intervals.idle_rest)


def get_search_interval(activity: Activity, intervals: Intervals) -> dt.timedelta:
    """Return how often branches of that activity are looked up."""
    match activity:
        case Activity.IDLE:
            return intervals.search_idle
        case Activity.RESTING:
            return intervals.search_rest
        case _:
            return intervals.search


def get_full_read_interval(activity: Activity, intervals: Intervals) -> dt.timedelta:
    """Return how often pull requests of that activity are read in full."""
    return max(intervals.full_read, get_interval(activity, intervals))


def has_passed(
    since: dt.datetime | None, interval: dt.timedelta, *, now: dt.datetime
) -> bool:
    """
    Return whether so long has passed, or nobody can tell.

    Nobody can when it never was, or is still to come because the clock was set back.
    """
    return since is None or since > now or now - since >= interval


def fill(
    due: Sequence[K],
    candidates: Sequence[tuple[dt.datetime, K]],
    size: int,
) -> tuple[K, ...]:
    """
    Return what is due, and who takes the free places of its last request.

    Places go to the candidates that are due next, each once. `size` is how many a
    request holds. Nothing due asks for nothing.
    """
    free = -len(due) % size
    taken = set(due)
    places = list(due)
    for _, key in sorted(candidates, key=lambda candidate: candidate[0]):
        if free == 0:
            break
        if key not in taken:
            taken.add(key)
            places.append(key)
            free -= 1
    return tuple(places)


def next_wake(
    due_times: Collection[dt.datetime],
    *,
    woke_at: dt.datetime,
    tick: dt.timedelta,
    longest: dt.timedelta,
    jitter: float,
) -> dt.datetime:
    """
    Return when the loop wakes next: at the earliest due time, `tick` apart.

    `longest` bounds the wait when nothing is due before. `jitter` is the part of
    the wait by which it is moved, such as -0.1.
    """
    wait = min(due_times, default=woke_at + longest) - woke_at
    return woke_at + min(max(wait, tick), max(longest, tick)) * (1 + jitter)
