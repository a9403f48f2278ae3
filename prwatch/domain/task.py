"""Pieces of work and what they point at: the rows that say what to watch."""

import datetime as dt
import enum
from dataclasses import dataclass
from typing import Final

from prwatch.domain.merge_progress import NO_PROGRESS, MergeProgress
from prwatch.domain.pull_request import Observation

REVIEW_PREFIX: Final = "review:"
"""What the ids of review tasks begin with, and no others: a task of that name that
somebody else made would stand in the way of the review."""


class Origin(enum.StrEnum):
    """Who made a task or a repository watch. Some origins can vanish by themselves."""

    CONFIG = "config"
    COMMAND = "command"
    API = "api"
    WORKTREE = "worktree"
    WATCH_FILE = "watch_file"
    ADOPTED = "adopted"
    REVIEW = "review"
    IMPORT = "import"

    @property
    def can_vanish(self) -> bool:
        """Return whether an entry that is gone archives what it made."""
        return self in _VANISHING


_VANISHING = frozenset(
    {Origin.CONFIG, Origin.WORKTREE, Origin.WATCH_FILE, Origin.ADOPTED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A tenant. Nothing crosses workspaces."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository of one workspace, under the name that GitHub spells now."""

    id: str
    workspace_id: str
    host: str
    owner: str
    name: str
    node_id: str = ""
    default_branch: str = ""
    parent_node_id: str = ""
    parent_name_with_owner: str = ""
    is_archived: bool = False

    @property
    def name_with_owner(self) -> str:
        """Return `owner/name`."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    A piece of work. `archived_at` is None while it is active.

    `person_wrote_at` is when a person last wrote in it, None for never; `waits_for`
    is what it waits for, such as an answer, '' for nothing.
    """

    id: str
    workspace_id: str
    external_id: str
    origin: Origin
    title: str = ""
    archived_at: dt.datetime | None = None
    person_wrote_at: dt.datetime | None = None
    waits_for: str = ""
    created_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRepository:
    """A repository that a task works in, with its branch ('' when none is named)."""

    task_id: str
    repository_id: str
    position: int = 0
    branch: str = ""
    head_repository: str = ""
    """`owner/name` of the fork that holds the branch; '' is the repository itself."""
    written_as: str = ""
    """`owner/name` as a standing entry wrote it; '' when none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestLink:
    """A pull request that an entry or a person named: its watch begins discovered."""

    task_id: str
    repository_id: str
    pr_number: int
    written_as: str = ""
    """`owner/name` as a standing entry wrote it; '' when none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One run of work on a task. `ended_at` is None while it runs."""

    id: str
    task_id: str
    external_id: str
    state: str = "running"
    started_at: dt.datetime
    ended_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The branch that a session has checked out in one repository."""

    session_id: str
    repository_id: str
    branch: str = ""
    worktree_path: str = ""
    head_repository: str = ""
    written_as: str = ""
    """`owner/name` as a standing entry wrote it; '' when none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryWatch:
    """
    A standing adoption of open pull requests.

    `repository_id` is '' for every repository; `author` is '' for everybody.
    """

    workspace_id: str
    repository_id: str
    author: str
    origin: Origin
    written_as: str = ""
    """`owner/name` as a standing entry wrote it; '' when none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPullRequest:
    """
    The association of a pull request with a task, with its last known state.

    `observation` holds for each field what was last really read. `is_past` says
    that the task was archived since: the next association starts afresh. `progress`
    is what the sequence of its observations tells.
    """

    task_id: str
    repository_id: str
    pr_number: int
    observation: Observation
    observed_at: dt.datetime
    detached_at: dt.datetime | None = None
    is_past: bool = False
    progress: MergeProgress = NO_PROGRESS
