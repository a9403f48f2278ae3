"""
Saved searches for pull requests that ask for review, and what they found.

A review watch belongs to one workspace. What it found stands in `ReviewTask` rows, one
a pull request, which outlive the watch; what became of them stands in `ReviewAudit`.
"""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.task import REVIEW_PREFIX, Origin

BACKLOG_FOR: Final = dt.timedelta(days=1)
"""How long what a watch finds may count as what waited when it was made."""
DEFAULT_INTERVAL: Final = dt.timedelta(minutes=5)
SHORTEST_INTERVAL: Final = dt.timedelta(minutes=1)
LONGEST_INTERVAL: Final = dt.timedelta(days=1)
RESERVED_FOR: Final = dt.timedelta(minutes=10)
"""How long a reservation holds; one that is older was left by a crash."""

NOBODY: Final = "ghost"
"""Whose opinion is asked for where nobody's counts: GitHub's stand-in for the gone."""


class ReviewScope(enum.StrEnum):
    """Whose requests count: those to the person, or those to their teams too."""

    USER = "user"
    USER_AND_TEAMS = "user_and_teams"


class IncompleteReason(enum.StrEnum):
    """Why a search did not show all; the first of these that holds."""

    FAILED = "failed"
    """GitHub did not answer for a part of it; the error says more."""
    OVER_CAP = "over_cap"
    """More match than GitHub shows of a search."""
    LEFT_OUT = "left_out"
    """GitHub's answer had gaps, such as hits that the token may not see."""
    UNREAD = "unread"
    """Hits were shown that could not be read directly, or got no task."""


class CleanupPolicy(enum.StrEnum):
    """When a review task whose work is done goes by itself."""

    AUTO = "auto"
    """When no person wrote in it, and it waits for nothing."""
    ALWAYS = "always"
    NEVER = "never"

    @property
    def caution(self) -> int:
        """Return how much of it keeps a task: the greatest of several counts."""
        return _BY_CAUTION.index(self)


_BY_CAUTION: Final = (CleanupPolicy.ALWAYS, CleanupPolicy.AUTO, CleanupPolicy.NEVER)


class AuditAction(enum.StrEnum):
    """What became of a review task."""

    DELETED = "deleted"
    RESTORED = "restored"
    RELEASED = "released"
    """The row went: the task is a person's own now, or was gone before."""


class AuditActor(enum.StrEnum):
    """Who acted."""

    SCHEDULE = "schedule"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSettings:
    """
    What a person chooses of a review watch.

    At most one of `repositories` and `organisations` is given; `query` replaces the
    search that follows from `scope`. `target_login` is '' for the token's own account.
    """

    scope: ReviewScope = ReviewScope.USER
    repositories: tuple[str, ...] = ()
    organisations: tuple[str, ...] = ()
    query: str = ""
    target_login: str = ""
    interval: dt.timedelta = DEFAULT_INTERVAL
    policy: CleanupPolicy = CleanupPolicy.AUTO
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewWatch:
    """
    A saved search of one workspace, by its name.

    `revision` grows by one whenever its settings change. `last_error`,
    `incomplete_since` with its reason and `backlog_done_at` are written by polling
    alone; the last is since when what it finds is no backlog. `last_error` is also what
    could not be read of the hits.
    """

    id: str
    workspace_id: str
    name: str
    settings: ReviewSettings = ReviewSettings()
    origin: Origin
    written_as: str = ""
    """The watch file whose entry declares it; '' when none does."""
    revision: int = 1
    last_error: str = ""
    incomplete_since: dt.datetime | None = None
    incomplete_reason: IncompleteReason | None = None
    backlog_done_at: dt.datetime | None = None
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class UnreadableReviewWatch:
    """
    A row of a review watch that cannot be understood, and why.

    It is not searched, what it found stays, and the others go on without it.
    """

    id: str
    workspace_id: str
    name: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedPullRequest:
    """A pull request that a review watch found, by its identity."""

    owner: str
    name: str
    number: int
    node_id: str
    repository_node_id: str = ""

    @property
    def external_id(self) -> str:
        """Return the name of its review task: `review:octo/hello#12`."""
        return f"{REVIEW_PREFIX}{self.owner}/{self.name}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTask:
    """
    That a review watch knows a pull request. One row for each of the two.

    `task_id` is '' while the row only reserves the pull request. `review_watch_id` is
    '' once the watch is removed; `policy`, `target_login` and `scope` are then those
    that it had, and before the watch's present ones count.
    `terminal_seen_at` is when the work was first seen to be done, with its evidence;
    None without.
    """

    id: str
    workspace_id: str
    review_watch_id: str
    policy: CleanupPolicy
    target_login: str = ""
    scope: ReviewScope = ReviewScope.USER
    pull_request: ReviewedPullRequest
    task_id: str = ""
    reserved_at: dt.datetime
    reserved_by: str
    terminal_seen_at: dt.datetime | None = None
    terminal_evidence: Mapping[str, object] = field(default_factory=dict)
    created_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAudit:
    """
    What became of a review task, why, and what restores it until `undo_until`.

    `snapshot` is empty, and `undo_until` None, when nothing can be restored.
    """

    id: str
    workspace_id: str
    review_watch_id: str
    pull_request: ReviewedPullRequest
    external_id: str
    action: AuditAction
    reason: str
    evidence: Mapping[str, object] = field(default_factory=dict)
    acted_at: dt.datetime
    acted_by: AuditActor
    snapshot: Mapping[str, object] = field(default_factory=dict)
    undo_until: dt.datetime | None = None


def ends_backlog(
    watch: ReviewWatch,
    reason: IncompleteReason | None,
    *,
    earlier: int,
    has_left: bool,
    now: dt.datetime,
) -> bool:
    """
    Return whether what a watch finds after this search is no backlog any more.

    The first complete search ends it, also with hits that could not be read, unless
    some were left to somebody else. So does, however incomplete, any search but the
    first of a process once the watch is a day old: `earlier` is how many were answered
    before. Whoever passes over backlog must not be deaf for good.
    """
    if watch.backlog_done_at is not None:
        return False
    if reason in {None, IncompleteReason.UNREAD} and not has_left:
        return True
    return earlier > 0 and now - watch.created_at >= BACKLOG_FOR
