"""What is told to the world: changes, events and who wants them."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | bool | None


class EventType(enum.StrEnum):
    """The `type` of an event. Types are only ever added."""

    PR_FEEDBACK = "GitHubPRFeedback"
    TASK_PR_UPDATED = "GitHubTaskPRUpdated"
    PR_REVIEW_REQUESTED = "GitHubPRReviewRequested"
    PR_REVIEW_TASK_DELETED = "GitHubPRReviewTaskDeleted"
    PROVIDER_CIRCUIT_OPENED = "ProviderCircuitOpened"
    PROVIDER_CIRCUIT_CLOSED = "ProviderCircuitClosed"
    RATE_LIMIT_CHANGED = "GitHubRateLimitChanged"


REVIEW_TYPES: Final = frozenset(
    {EventType.PR_REVIEW_REQUESTED, EventType.PR_REVIEW_TASK_DELETED}
)
"""What is told of review tasks: that one was made, and that one went."""


class ChangeField(enum.StrEnum):
    """The `field` of a change."""

    ASSOCIATED = "associated"
    STATE = "state"
    IS_DRAFT = "is_draft"
    CHECKS = "checks"
    REVIEW = "review"
    REVIEW_DECISION = "review_decision"
    HEAD_REF_OID = "head_ref_oid"
    MERGEABLE = "mergeable"
    MERGE_QUEUE = "merge_queue"
    AUTO_MERGE = "auto_merge"
    COMMENTS = "comments"
    ACTIVITY = "activity"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Change:
    """
    One thing that really changed, with the value before and after.

    Values are the JSON scalars of the event; times are RFC 3339 text in UTC with
    microseconds. `reason` is '' or a word of its own, such as `base_deleted`.
    """

    field: ChangeField
    previous: Scalar
    current: Scalar
    is_feedback: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    The immutable record that something changed. Its id is its idempotency key.

    `data` is the JSON object of the envelope without `superseded`, which is
    computed at each delivery. One about the watching itself (`domain/notice`)
    belongs to no watch: its `watch_id`, `task_id` and `repository_id` are ''. One that
    a review is asked for (`domain/review_event`), or that its task went
    (`domain/review_ending`), has a `task_id`, and no watch either; GitHub's id of the
    pull request stands in place of a repository of ours.
    """

    id: str
    type: EventType
    source: str
    subject: str
    time: dt.datetime
    workspace_id: str
    task_id: str
    repository_id: str
    pr_number: int
    watch_id: str
    revision: int
    head_ref_oid: str
    is_terminal: bool
    data: Mapping[str, object]

    @property
    def order(self) -> tuple[str, str, int]:
        """
        Return what events share that reach a sink one at a time, in their order.

        That is a pull request of a task. Of reviews it is a pull request of a
        workspace: one that is asked for again has another task then.
        """
        owner = self.workspace_id if self.type in REVIEW_TYPES else self.task_id
        return owner, self.repository_id, self.pr_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """
    Which of the events of one workspace a sink still gets, of those that it wants.

    The sets are those of an `Interest`; an empty one lets all pass.
    """

    workspace: str
    sink: str
    events: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """
    Which events a sink wants. An empty set wants all.

    `workspaces` are names, `repositories` are lower-case `owner/name`, `fields`
    are change fields of which at least one must be in the event.
    """

    sink: str
    events: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    workspaces: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()
    narrowings: tuple[Narrowing, ...] = ()
    """What single workspaces take away from it; they add nothing."""
