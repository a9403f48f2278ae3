"""The shapes of GitHub's REST answers, as far as an observation needs them."""

import datetime as dt
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from prwatch.github.plausible import Count, FullName, NodeId, Number, ObjectId, Timed


class User(msgspec.Struct):
    """An account. `ghost` stands for a deleted one."""

    login: str


class Team(msgspec.Struct):
    """A team, by its name inside its organisation."""

    slug: str


class HeadRepository(msgspec.Struct):
    """The repository of a head."""

    node_id: NodeId


class BaseRepository(HeadRepository):
    """The repository that the pull request was made to."""

    full_name: FullName
    archived: bool | UnsetType = UNSET


class Head(msgspec.Struct):
    """The branch that is to be merged. `repo` is null when the fork was deleted."""

    ref: str
    sha: ObjectId
    repo: HeadRepository | None = None


class Base(msgspec.Struct):
    """The branch that is merged into."""

    ref: str
    repo: BaseRepository


class AutoMerge(msgspec.Struct):
    """An armed auto-merge; that it is there is all that counts."""


class PullRequest(Timed):
    """`GET /repos/{owner}/{repo}/pulls/{pull_number}`."""

    number: Number
    node_id: NodeId
    state: str
    title: str
    html_url: str
    created_at: dt.datetime
    updated_at: dt.datetime
    head: Head
    base: Base
    user: User | None = None
    draft: bool = False
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    merged_by: User | UnsetType | None = UNSET
    mergeable: bool | UnsetType | None = UNSET
    auto_merge: AutoMerge | UnsetType | None = UNSET
    requested_reviewers: list[msgspec.Raw] | UnsetType = UNSET
    requested_teams: list[msgspec.Raw] | UnsetType = UNSET
    comments: Count = 0


class Review(Timed):
    """One of `GET …/pulls/{pull_number}/reviews`."""

    node_id: NodeId
    state: str
    user: User | None = None
    submitted_at: dt.datetime | None = None


class Comment(Timed):
    """One of `GET …/issues/{issue_number}/comments`."""

    node_id: NodeId
    created_at: dt.datetime


class App(msgspec.Struct):
    """The app that made a check run."""

    slug: str = ""


class Suite(msgspec.Struct):
    """The check suite of a run."""

    id: int | None = None


class CheckRun(Timed):
    """One of `GET …/commits/{ref}/check-runs`."""

    name: str
    status: str = ""
    conclusion: str | None = None
    started_at: dt.datetime | None = None
    completed_at: dt.datetime | None = None
    app: App | None = None
    check_suite: Suite | None = None
    details_url: str | None = None


class CheckRuns(msgspec.Struct):
    """A page of check runs."""

    check_runs: list[CheckRun]


class Status(Timed):
    """One of the newest statuses of a commit."""

    context: str
    state: str
    created_at: dt.datetime | None = None
    target_url: str | None = None


class CombinedStatus(msgspec.Struct):
    """
    `GET …/commits/{ref}/status`.

    Its own `state` is not read: it is "pending" when there are no statuses at all.
    """

    statuses: list[Status]


class Message(msgspec.Struct):
    """What GitHub says instead of an answer."""

    message: str = ""


USER: Final = msgspec.json.Decoder(User)
TEAM: Final = msgspec.json.Decoder(Team)
PULL_REQUEST: Final = msgspec.json.Decoder(PullRequest)
REVIEWS: Final = msgspec.json.Decoder(list[Review])
COMMENTS: Final = msgspec.json.Decoder(list[Comment])
CHECK_RUNS: Final = msgspec.json.Decoder(CheckRuns)
STATUSES: Final = msgspec.json.Decoder(CombinedStatus)
MESSAGE: Final = msgspec.json.Decoder(Message)
