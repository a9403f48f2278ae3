"""
One normalised reading of a pull request, whichever way it was read.

A field that was not read is `UNOBSERVED`, which is not the same as empty, false
or 0: it never overwrites what is known and never makes a change.
"""

import datetime as dt
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from prwatch.domain.checks_summary import ChecksSummary

T = TypeVar("T")


class Unobserved(enum.Enum):
    """The type of the one value that stands for «was not read»."""

    UNOBSERVED = "unobserved"

    def __repr__(self) -> str:
        return "UNOBSERVED"


UNOBSERVED: Final = Unobserved.UNOBSERVED
Observed: TypeAlias = T | Literal[Unobserved.UNOBSERVED]


class PullRequestState(enum.StrEnum):
    """GitHub's `PullRequestState`. Merged is final."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    MERGED = "MERGED"


class ChecksState(enum.StrEnum):
    """Our verdict on all check runs and status contexts of the head commit."""

    NONE = "none"
    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"


class ReviewState(enum.StrEnum):
    """Our verdict on all reviews, from the last opinion of each reviewer."""

    NONE = "none"
    PENDING = "pending"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"


class ReviewDecision(enum.StrEnum):
    """GitHub's `PullRequestReviewDecision`. None means that no review is required."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    REVIEW_REQUIRED = "REVIEW_REQUIRED"


class Mergeable(enum.StrEnum):
    """GitHub's `MergeableState` without UNKNOWN, which is unobserved here."""

    MERGEABLE = "MERGEABLE"
    CONFLICTING = "CONFLICTING"


@dataclass(frozen=True, slots=True)
class RepositoryName:
    """A repository as GitHub spells it now. `node_id` is '' until it is known."""

    owner: str
    name: str
    node_id: str = ""

    @property
    def name_with_owner(self) -> str:
        """Return `owner/name`."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class CommentItem:
    """One comment or commenting review: when it was made, and GitHub's id."""

    created_at: dt.datetime
    node_id: str


@dataclass(frozen=True, slots=True)
class CommentMark:
    """
    How far comments were seen: the newest items, oldest first.

    It holds the newest item and those made in the two minutes before it, at most
    twenty. No items means that the comments were read and there were none.
    """

    items: tuple[CommentItem, ...] = ()

    @property
    def newest_at(self) -> dt.datetime | None:
        """Return when the newest item was made, or None without items."""
        return self.items[-1].created_at if self.items else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """
    What one reading of a pull request said.

    `observed_at` is GitHub's own time (its `Date` header). `settles_at` is the
    time at which a checks verdict that is only held back by the settle window
    can be decided, or None. `checks_notes` are the words behind the verdict, and
    `checks_summary` its numbers, None where nobody counted: it explains a reading and
    is no part of what is compared. Nothing but these four differs between two readings
    of one unchanged pull request.
    """

    repository: RepositoryName
    number: int
    node_id: str
    observed_at: dt.datetime
    settles_at: dt.datetime | None = None
    checks_notes: tuple[str, ...] = ()
    checks_summary: "ChecksSummary | None" = field(default=None, compare=False)

    state: PullRequestState
    updated_at: dt.datetime
    created_at: dt.datetime
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    title: str = ""
    url: str = ""
    head_ref_oid: str = ""
    head_ref_name: str = ""
    base_ref_name: str = ""
    head_repository_id: str | None = None
    """Node id of the head's repository; None when that fork was deleted."""
    author: str | None = None
    """The login without `[bot]`; None when the account was deleted."""
    is_draft: bool = False

    merged_by: Observed[str | None] = UNOBSERVED
    is_archived: Observed[bool] = UNOBSERVED
    is_base_deleted: Observed[bool] = UNOBSERVED
    checks: Observed[ChecksState] = UNOBSERVED
    review: Observed[ReviewState] = UNOBSERVED
    review_decision: Observed[ReviewDecision | None] = UNOBSERVED
    mergeable: Observed[Mergeable] = UNOBSERVED
    merge_queue: Observed[bool] = UNOBSERVED
    auto_merge: Observed[bool] = UNOBSERVED
    unresolved_threads: Observed[int] = UNOBSERVED
    requested_reviewers: Observed[int] = UNOBSERVED
    approvals: Observed[int] = UNOBSERVED
    comment_mark: Observed[CommentMark] = UNOBSERVED

    @property
    def is_final(self) -> bool:
        """Return whether the pull request is closed or merged."""
        return self.state is not PullRequestState.OPEN
