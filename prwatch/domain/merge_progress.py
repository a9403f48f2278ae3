"""
How far a pull request is on its way to a merge that somebody has ordered.

GitHub says what is, and not since when: an armed auto-merge that never happens and a
merge queue that threw somebody out look like any other open pull request.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from prwatch.domain.announce import has_head_moved
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    Mergeable,
    Observation,
    ReviewDecision,
)

STUCK_AFTER: Final = dt.timedelta(minutes=60)
"""How long nothing may stand in the way of an armed merge before it is stuck."""

_REFUSING: Final = (ReviewDecision.CHANGES_REQUESTED, ReviewDecision.REVIEW_REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeProgress:
    """
    What only the sequence of observations tells.

    `ready_since` is since when auto-merge is armed with nothing in its way.
    `queue_left_at` is when it left the merge queue without a merge; a new head, a new
    place in the queue and the end of the pull request take it away. None is never.
    """

    ready_since: dt.datetime | None = None
    queue_left_at: dt.datetime | None = None


NO_PROGRESS: Final = MergeProgress()


def is_ready(seen: Observation) -> bool:
    """
    Return whether an armed auto-merge has nothing in its way, as far as was read.

    In the merge queue it is being merged. What is unobserved proves nothing, but for
    the review decision, which REST does not tell.
    """
    return (
        not seen.is_final
        and not seen.is_draft
        and seen.auto_merge is True
        and seen.merge_queue is False
        and seen.checks is ChecksState.SUCCESS
        and seen.mergeable is Mergeable.MERGEABLE
        and seen.review_decision not in _REFUSING
    )


def follow_merge(
    progress: MergeProgress, before: Observation | None, after: Observation
) -> MergeProgress:
    """Return the progress after one more observation, completed with what is known."""
    ready_since = progress.ready_since or after.observed_at
    return MergeProgress(
        ready_since=ready_since if is_ready(after) else None,
        queue_left_at=_follow_queue(progress, before, after),
    )


def _follow_queue(
    progress: MergeProgress, before: Observation | None, after: Observation
) -> dt.datetime | None:
    if before is None or after.is_final or after.merge_queue is UNOBSERVED:
        return None
    if after.merge_queue or has_head_moved(before.head_ref_oid, after.head_ref_oid):
        return None
    if before.merge_queue is True:
        return after.observed_at
    return progress.queue_left_at
