"""The canonical watch of one target, and how far it has certainly seen."""

import datetime as dt
from dataclasses import dataclass

from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    CommentMark,
    Mergeable,
    Observed,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """
    The last observed values that an observation is compared with.

    `announced_checks` are the checks states that went out for this head, in the
    order of their announcement: the last one is what people were told last.
    `checks_since` is the time of the observation that brought the present
    checks state, so that a flap can be told from a state that stays.
    """

    state: PullRequestState
    updated_at: dt.datetime
    head_ref_oid: str
    observed_at: dt.datetime
    is_draft: bool = False
    checks: Observed[ChecksState] = UNOBSERVED
    review: Observed[ReviewState] = UNOBSERVED
    review_decision: Observed[ReviewDecision | None] = UNOBSERVED
    mergeable: Observed[Mergeable] = UNOBSERVED
    merge_queue: Observed[bool] = UNOBSERVED
    auto_merge: Observed[bool] = UNOBSERVED
    is_archived: Observed[bool] = UNOBSERVED
    comment_mark: Observed[CommentMark] = UNOBSERVED
    announced_checks: tuple[ChecksState, ...] = ()
    checks_since: dt.datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """
    The row that tracks one target: searching while `pr_number` is 0.

    Searching rows are unique on (task, repository, branch), discovered ones on
    (task, repository, number). `session_id` is provenance and no part of a key.
    `revision` grows by one with each commit that makes an event, never goes back
    and survives merges and the way through searching and back. A searching row
    that was never discovered has no watermark. `fingerprint` is '' when no probe
    was remembered with the last committed observation.
    """

    id: str
    workspace_id: str
    task_id: str
    repository_id: str
    branch: str = ""
    head_repository: str = ""
    pr_number: int = 0
    node_id: str = ""
    session_id: str = ""
    revision: int = 0
    fingerprint: str = ""
    watermark: Watermark | None = None
    searching_since: dt.datetime | None = None
    """Pull requests that closed after this time may still be ours."""
    branch_head_oid: str = ""
    """The head of a searching row's branch when it was last asked."""
    last_sign_at: dt.datetime
    """The last sign of life of a searching row: it rests 30 days after."""
    created_at: dt.datetime

    @property
    def moved_at(self) -> dt.datetime:
        """
        Return when something last moved here, as far as is stored.

        What was seen but once has not moved under our eyes: then only GitHub knows.
        """
        watermark = self.watermark
        if watermark is None or self.is_searching:
            return self.last_sign_at
        if self.revision <= 1:
            return watermark.updated_at
        return max(watermark.updated_at, watermark.observed_at)

    @property
    def is_searching(self) -> bool:
        """Return whether the pull request is not known yet."""
        return self.pr_number == 0
