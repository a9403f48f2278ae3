"""
The shapes of GitHub's GraphQL answers, lenient where old servers leave things out.

They are decoded one reference at a time, so that a strange one touches no other.
A field that the server left out is UNSET; null is GitHub's own null.
"""

import datetime as dt
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from prwatch.github.plausible import Count, FullName, NodeId, Number, ObjectId, Timed
from prwatch.github.text import repair_json

S = TypeVar("S")


class Node(Timed, rename="camel"):
    """The base of everything in a GraphQL answer."""


class IdNode(Node):
    """Something of which only the node id was asked."""

    id: NodeId


class Actor(Node):
    """Whoever did something. The whole is null when the account was deleted."""

    login: str


class RepositoryNode(Node):
    """A repository, inside a pull request or by itself."""

    id: NodeId
    name_with_owner: FullName
    is_archived: bool | UnsetType = UNSET


class NameNode(Node):
    """Something of which only the name was asked."""

    name: str


class RepositoryFactsNode(RepositoryNode):
    """A repository with what a search for pull requests needs to know."""

    default_branch_ref: NameNode | None = None
    parent: RepositoryNode | None = None


class Commit(Node):
    """A commit, by its object id."""

    oid: ObjectId


class AutoMerge(Node):
    """An armed auto-merge."""

    enabled_at: str | None = None


class StateCount(Node):
    """How many contexts are in one state."""

    state: str
    count: Count


class PageInfo(Node):
    """Whether a connection goes on, and from where."""

    has_next_page: bool = False
    end_cursor: str | None = None


class App(Node):
    """A GitHub App, by its name in URLs."""

    slug: str = ""


class Workflow(Node):
    """A workflow of Actions."""

    name: str = ""


class WorkflowRun(Node):
    """One run of a workflow, and the event that began it."""

    event: str = ""
    workflow: Workflow | None = None


class CheckSuite(Node):
    """The runs that one app made for one push."""

    id: str = ""
    app: App | None = None
    workflow_run: WorkflowRun | None = None


class ContextNode(Node):
    """A `CheckRun` or a `StatusContext`: `typename` says which half is filled."""

    typename: str = msgspec.field(default="", name="__typename")
    name: str = ""
    status: str | None = None
    conclusion: str | None = None
    started_at: dt.datetime | None = None
    completed_at: dt.datetime | None = None
    check_suite: CheckSuite | None = None
    context: str = ""
    state: str = ""
    created_at: dt.datetime | None = None
    details_url: str | None = None
    target_url: str | None = None
    is_required: bool | None = None


class Contexts(Node):
    """One page of contexts, or only their counts."""

    check_run_counts_by_state: list[StateCount] | None = None
    status_context_counts_by_state: list[StateCount] | None = None
    nodes: list[ContextNode | None] | None = None
    page_info: PageInfo | None = None


class Rollup(Node):
    """The head's check rollup, and the commit that it belongs to."""

    state: str = ""
    commit: Commit | None = None
    contexts: Contexts | None = None


class ReviewNode(Node):
    """One review. An unsent one has no time."""

    id: NodeId
    state: str
    submitted_at: dt.datetime | None = None
    author: Actor | None = None


class Reviews(Node):
    """One page of reviews."""

    nodes: list[ReviewNode | None] | None = None
    page_info: PageInfo | None = None


class ThreadNode(Node):
    """One review thread."""

    is_resolved: bool


class Threads(Node):
    """One page of review threads."""

    nodes: list[ThreadNode | None] | None = None
    page_info: PageInfo | None = None


class Total(Node):
    """A connection of which only the size was asked."""

    total_count: Count


class CommentNode(Node):
    """One comment."""

    id: NodeId
    created_at: dt.datetime


class Comments(Node):
    """The newest comments, oldest first."""

    nodes: list[CommentNode | None] | None = None


class PullRequestNode(Node, kw_only=True):
    """A pull request as the probe asks for it."""

    id: NodeId
    number: Number
    repository: RepositoryNode
    state: str
    updated_at: dt.datetime
    is_draft: bool = False
    head_ref_oid: ObjectId = ""
    head_ref_name: str = ""
    head_repository: IdNode | None = None
    author: Actor | None = None
    mergeable: str | UnsetType = UNSET
    review_decision: str | UnsetType | None = UNSET
    total_comments_count: Count | UnsetType | None = UNSET
    is_in_merge_queue: bool | UnsetType = UNSET
    auto_merge_request: AutoMerge | UnsetType | None = UNSET
    status_check_rollup: Rollup | UnsetType | None = UNSET


class DetailNode(PullRequestNode, kw_only=True):
    """A pull request as it is read in full."""

    title: str = ""
    url: str = ""
    created_at: dt.datetime
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    merged_by: Actor | UnsetType | None = UNSET
    base_ref_name: str = ""
    base_ref: IdNode | UnsetType | None = UNSET
    reviews: Reviews | UnsetType | None = UNSET
    review_requests: Total | UnsetType | None = UNSET
    review_threads: Threads | UnsetType | None = UNSET
    comments: Comments | UnsetType | None = UNSET


PROBE: Final = msgspec.json.Decoder(PullRequestNode)
DETAIL: Final = msgspec.json.Decoder(DetailNode)


def decode(decoder: "msgspec.json.Decoder[S]", raw: Any) -> S | None:
    """
    Decode one raw value; None when it is not what was asked for.

    A value that only the slow decoder reads is cleaned first.
    """
    try:
        return decoder.decode(raw)
    except (msgspec.ValidationError, RecursionError):
        return None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return decoder.decode(repair_json(bytes(raw)))
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None
