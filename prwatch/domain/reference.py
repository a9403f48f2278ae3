"""What is asked of GitHub, and the small answers that are no full observation."""

import datetime as dt
import sys
from dataclasses import dataclass, field
from typing import NamedTuple

from prwatch.domain.pull_request import Observation, PullRequestState, RepositoryName


class PullRequestReference(NamedTuple):
    """
    A pull request to ask for: by `node_id` when it is known, else by number.

    A tuple, because thousands are made and looked up in each cycle, and none is kept.
    """

    owner: str
    name: str
    number: int
    node_id: str = ""

    @property
    def place(self) -> str:
        """Return the repository as `owner/name`, '' where only a node id is known."""
        return f"{self.owner}/{self.name}" if self.name else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchReference:
    """
    A branch to search pull requests for, in the base repository that is asked.

    `head_owner` is who owns the repository that holds the branch, or '' when nobody
    knows: other owners' branches of that name are none of ours.
    """

    owner: str
    name: str
    branch: str
    head_owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """
    The cheap reading that decides whether a pull request must be read in full.

    `fingerprint` is a digest over the values that matter: equal fingerprints mean
    that a full read would show nothing new, as far as a probe can see.
    """

    node_id: str
    number: int
    repository: RepositoryName
    fingerprint: str
    state: PullRequestState
    updated_at: dt.datetime
    head_ref_name: str
    head_repository_id: str | None
    author: str | None
    is_busy: bool
    """Whether checks run or a merge is queued: asked more often."""
    is_mergeable_known: bool = False
    """Whether GitHub says if it can be merged. It works that out when it is asked."""

    def __post_init__(self) -> None:
        # The row of its watch holds an equal text: of thousands each is kept once. Not
        # so the fingerprint: there is one for each change, and early releases of
        # Python 3.12 keep whatever is interned: https://github.com/python/cpython/issues/113993
        object.__setattr__(self, "node_id", sys.intern(self.node_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """What GitHub says about a repository itself."""

    repository: RepositoryName
    default_branch: str
    is_archived: bool
    parent: RepositoryName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchPullRequest:
    """One pull request with the branch's name as head, whoever's branch it is."""

    node_id: str
    number: int
    state: PullRequestState
    head_repository_id: str | None
    head_ref_oid: str
    closed_at: dt.datetime | None
    created_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchAnswer:
    """
    Every pull request that GitHub has for a branch: the open and the newest closed.

    `is_complete` says that all pages were read: only then does the lack of a pull
    request prove that there is none. `head_ref_oid` is the branch's own head, ''
    when the branch is not in that repository.
    """

    repository: RepositoryFacts
    pull_requests: tuple[BranchPullRequest, ...]
    is_complete: bool
    head_ref_oid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPullRequests:
    """
    A listing of a repository's open pull requests, newest update first.

    `is_complete` says that the walk reached the end of the list.
    """

    repository: RepositoryFacts
    probes: tuple[Probe, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    A full reading, with the fingerprint that a probe of it would have.

    `has_null_auto_merge` is REST's null: auto-merge is not armed, or is armed and
    this path does not show it. Its field is unobserved then.
    """

    observation: Observation
    fingerprint: str = ""
    has_null_auto_merge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """
    The account behind a credential. `scopes` is None when GitHub names none.

    `token_expires_at` is None for a token without an end. `answered_at` is GitHub's
    time of the answer, and no part of who it is.
    """

    login: str
    database_id: int
    scopes: tuple[str, ...] | None = None
    token_expires_at: dt.datetime | None = None
    answered_at: dt.datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What asking has cost so far: requests, points and decoded body bytes."""

    graphql: int = 0
    rest: int = 0
    not_modified: int = 0
    points: int = 0
    body_bytes: int = 0
    equal_bytes: int = 0
    """Probes that were not decoded, because their bytes were those of the last."""
