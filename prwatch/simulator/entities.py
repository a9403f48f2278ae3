"""
The things a simulated GitHub holds, under GitHub's own names.

Attributes are GraphQL's fields in snake case, so that most fields need no code
to be answered. Collections are tuples that are replaced, never changed: a hundred
thousand pull requests share one empty tuple.
"""

import base64
import datetime as dt
import struct
from dataclasses import dataclass, field


def build_node_id(prefix: str, database_id: int) -> str:
    """Return the global id of the thing with that type prefix and number."""
    packed = base64.urlsafe_b64encode(struct.pack(">Q", database_id))
    return f"{prefix}_kwDO{packed.decode().rstrip('=')}"


def parse_node_id(node_id: str) -> tuple[str, int] | None:
    """Return the type prefix and the number of a global id, or None if it is none."""
    prefix, mark, packed = node_id.partition("_kwDO")
    try:
        raw = base64.urlsafe_b64decode(f"{packed}=")
    except ValueError:
        return None
    if not mark or len(raw) != 8:
        return None
    return prefix, int.from_bytes(raw)


@dataclass(slots=True, eq=False)
class Account:
    """A user, bot, organisation or team. `kind` is GraphQL's type name."""

    database_id: int
    login: str
    kind: str = "User"
    is_deleted: bool = False
    organization: str = ""
    members: frozenset[str] = frozenset()
    """Of a team: the logins of its people, in lower case."""

    @property
    def id(self) -> str:
        """Return the node id."""
        return build_node_id(self.kind[0], self.database_id)


@dataclass(slots=True, eq=False)
class App:
    """A GitHub App that reports check runs."""

    database_id: int
    slug: str
    name: str


@dataclass(slots=True, eq=False)
class CheckSuite:
    """All runs that one app, or one workflow for one event, made for one commit."""

    database_id: int
    app: App
    workflow: str
    event: str
    created_at: dt.datetime


@dataclass(slots=True, eq=False)
class CheckRun:
    """One run of one check. `conclusion` is None while it runs."""

    database_id: int
    check_suite: CheckSuite
    name: str
    status: str
    conclusion: str | None
    started_at: dt.datetime | None
    completed_at: dt.datetime | None
    is_required: bool = False


@dataclass(slots=True, eq=False)
class StatusContext:
    """One commit status. A newer one of the same context stands for the context."""

    database_id: int
    context: str
    state: str
    created_at: dt.datetime
    is_required: bool = False


@dataclass(slots=True, eq=False)
class Commit:
    """A commit with what was reported for it, oldest first."""

    database_id: int
    oid: str
    check_runs: tuple[CheckRun, ...] = ()
    statuses: tuple[StatusContext, ...] = ()


@dataclass(slots=True, eq=False)
class Repository:
    """A repository. `former_names` still lead to it after a rename."""

    database_id: int
    owner: Account
    name: str
    created_at: dt.datetime
    updated_at: dt.datetime
    parent: "Repository | None" = None
    default_branch: str = "main"
    is_private: bool = False
    is_archived: bool = False
    is_deleted: bool = False
    is_merge_queue_enabled: bool = False
    requires_reviews: bool = False
    branches: dict[str, Commit] = field(default_factory=dict)
    pull_requests: dict[int, "PullRequest"] = field(default_factory=dict)
    by_branch: dict[str, tuple["PullRequest", ...]] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """The content of files by path, by branch."""
    last_number: int = 0
    version: int = 0
    """Grows with every change that may reorder or filter its pull requests."""

    @property
    def id(self) -> str:
        """Return the node id, which renames do not change."""
        return build_node_id("R", self.database_id)

    @property
    def name_with_owner(self) -> str:
        """Return `owner/name` as it is spelled now."""
        return f"{self.owner.login}/{self.name}"

    @property
    def url(self) -> str:
        """Return the web address."""
        return f"https://github.com/{self.owner.login}/{self.name}"


@dataclass(slots=True, eq=False)
class Review:
    """One submitted review."""

    database_id: int
    author: Account | None
    state: str
    submitted_at: dt.datetime
    updated_at: dt.datetime
    commit: Commit
    body: str = ""


@dataclass(slots=True, eq=False)
class Comment:
    """A comment of the conversation, or of a review thread."""

    database_id: int
    author: Account | None
    created_at: dt.datetime
    updated_at: dt.datetime
    body: str = ""


@dataclass(slots=True, eq=False)
class ReviewThread:
    """A conversation on a line of the change."""

    database_id: int
    comments: tuple[Comment, ...]
    path: str = "README.md"
    is_resolved: bool = False
    is_outdated: bool = False
    resolved_by: Account | None = None


@dataclass(slots=True, eq=False)
class MergeQueueEntry:
    """A place in a merge queue."""

    database_id: int
    enqueued_at: dt.datetime
    position: int = 1
    state: str = "QUEUED"


@dataclass(slots=True, eq=False)
class AutoMergeRequest:
    """The promise to merge once all requirements are met."""

    enabled_at: dt.datetime
    enabled_by: Account | None
    merge_method: str = "MERGE"


@dataclass(slots=True, eq=False)
class ReviewRequestedEvent:
    """That somebody's review was asked for; it stays when the request does not."""

    database_id: int
    requested_reviewer: Account
    created_at: dt.datetime


@dataclass(slots=True, eq=False)
class PullRequest:
    """
    A pull request. `repository` is its base; `head_repository` may be a fork.

    `mergeable` is what GitHub will answer from `mergeable_known_at` on; before
    that it answers UNKNOWN, since it works it out after each push.
    """

    database_id: int
    repository: Repository
    number: int
    title: str
    head_ref_name: str
    base_ref_name: str
    head: Commit
    author: Account | None
    head_repository: Repository | None
    created_at: dt.datetime
    updated_at: dt.datetime
    state: str = "OPEN"
    is_draft: bool = False
    mergeable: str = "MERGEABLE"
    mergeable_known_at: dt.datetime | None = None
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    merged_by: Account | None = None
    auto_merge_request: AutoMergeRequest | None = None
    merge_queue_entry: MergeQueueEntry | None = None
    reviews: tuple[Review, ...] = ()
    requested_reviewers: tuple[Account, ...] = ()
    review_requested_events: tuple[ReviewRequestedEvent, ...] = ()
    comments: tuple[Comment, ...] = ()
    review_threads: tuple[ReviewThread, ...] = ()
    previous_head: Commit | None = None
    checks_lag_until: dt.datetime | None = None

    @property
    def id(self) -> str:
        """Return the node id."""
        return build_node_id("PR", self.database_id)

    @property
    def node_id(self) -> str:
        """Return the node id under the name that the domain uses."""
        return build_node_id("PR", self.database_id)

    @property
    def head_ref_oid(self) -> str:
        """Return the commit at the tip of the pull request."""
        return self.head.oid

    @property
    def url(self) -> str:
        """Return the web address."""
        return f"{self.repository.url}/pull/{self.number}"
