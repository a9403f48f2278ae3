"""
What one full reading of a pull request does to its watch: a plan, or nothing.

The plan says what the row becomes, which changes are told and how the watch ends.
It is made from values alone; the store carries it out in one transaction.
"""

import datetime as dt
import enum
from dataclasses import dataclass, replace

from prwatch.domain.compare import (
    advance,
    compare,
    flap_due_at,
    restore_watermark,
)
from prwatch.domain.events import Change
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import Reading
from prwatch.domain.task import Task, TaskPullRequest
from prwatch.domain.watch import Watch, Watermark


class Ending(enum.StrEnum):
    """What becomes of a watch in the transaction of its observation."""

    STAY = "stay"
    SEARCH_AGAIN = "search_again"
    """The pull request is final, and its branch is still somebody's work. The row
    goes when another open pull request stands for that branch at that moment."""
    REMOVE = "remove"
    """The pull request is final, and nothing else points at the watch."""
    ARCHIVE = "archive"
    """An adopted pull request was merged: its task has no more to do."""


class Arrival(enum.StrEnum):
    """Where the row comes from that the observation is committed to."""

    STORED = "stored"
    DISCOVERED = "discovered"
    """A searching row becomes the discovered one."""
    ADDED = "added"
    """A new row is put beside what the task has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    What stands around a watch when its reading arrives.

    `is_adopted` says that the task is there for this pull request alone and nobody
    named it. `search_in` is our id of the repository in which its branch is still
    somebody's work; '' is nowhere. `covered_by` are the ids of the other watches
    that stand for that branch: while one of them is open, nobody searches.
    """

    is_adopted: bool = False
    search_in: str = ""
    covered_by: tuple[str, ...] = ()
    stored: TaskPullRequest | None = None
    arrival: Arrival = Arrival.STORED
    base_id: str = ""
    """Our id of the pull request's base repository; '' is the watch's own."""
    new_task: Task | None = None
    takes_over: Watch | None = None
    """The adopted watch of the same pull request, whose watermark passes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationCommit:
    """
    What one transaction does with one reading.

    `before` is the row as it was compared with. A commit without changes tells
    nothing: a watermark passes on to a new row, or a field was read for the first
    time.
    """

    before: Watch
    after: Watch
    reading: Reading
    changes: tuple[Change, ...]
    ending: Ending
    standing: Standing
    due_at: dt.datetime | None
    """When the verdict settles or a flap may be told: read again then."""


def decide_commit(
    watch: Watch,
    reading: Reading,
    standing: Standing,
    *,
    settle: dt.timedelta,
    is_believed: bool = False,
) -> ObservationCommit | None:
    """
    Decide what a reading does to a watch; None when it leaves the row as it is.

    The row of a watch that was never read takes the watermark of the adopted
    watch that it takes over, or of the task pull request that it continues, and
    only without either makes a new association.
    """
    known = _known_watermark(watch, standing)
    reading = _believe_null_auto_merge(reading, known)
    observation = reading.observation
    changes = compare(
        known, observation, settle=settle, is_reading_believed=is_believed
    )
    watermark = advance(known, observation, changes)
    if not changes and watermark == watch.watermark:
        return None
    due_at = due_after(watermark, reading, settle=settle)
    after = replace(
        watch,
        repository_id=standing.base_id or watch.repository_id,
        pr_number=observation.number,
        node_id=observation.node_id,
        watermark=watermark,
        revision=watch.revision + (1 if changes else 0),
        fingerprint="" if due_at else reading.fingerprint,
    )
    return ObservationCommit(
        before=watch,
        after=after,
        reading=reading,
        changes=changes,
        ending=_decide_ending(observation.state, standing),
        standing=standing,
        due_at=due_at,
    )


def due_after(
    watermark: Watermark | None, reading: Reading, *, settle: dt.timedelta
) -> dt.datetime | None:
    """Return when this reading must be looked at again before its turn, or None."""
    times = [reading.observation.settles_at]
    if watermark is not None:
        times.append(flap_due_at(watermark, settle=settle))
    return min((time for time in times if time is not None), default=None)


def _believe_null_auto_merge(reading: Reading, known: Watermark | None) -> Reading:
    """Take REST's null for false, unless auto-merge is known to be armed."""
    is_armed = known is not None and known.auto_merge is True
    if is_armed or not reading.has_null_auto_merge:
        return reading
    observation = replace(reading.observation, auto_merge=False)
    return replace(reading, observation=observation)


def _known_watermark(watch: Watch, standing: Standing) -> Watermark | None:
    if watch.watermark is not None:
        return watch.watermark
    if standing.takes_over is not None and standing.takes_over.watermark is not None:
        return standing.takes_over.watermark
    stored = standing.stored
    if stored is not None and not stored.is_past:
        return restore_watermark(stored)
    return None


def _decide_ending(state: PullRequestState, standing: Standing) -> Ending:
    if state is PullRequestState.OPEN:
        return Ending.STAY
    if standing.is_adopted:
        merged = state is PullRequestState.MERGED
        return Ending.ARCHIVE if merged else Ending.REMOVE
    return Ending.SEARCH_AGAIN if standing.search_in else Ending.REMOVE
