"""
The events that a commit's changes make, and which sinks want them.

Each revision of a watch has exactly one `GitHubTaskPRUpdated`; a change that
people should look at makes a `GitHubPRFeedback` before it, with equal changes.
"""

import datetime as dt
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from prwatch.domain.events import (
    Change,
    ChangeField,
    Event,
    EventType,
    Interest,
    Narrowing,
)
from prwatch.domain.pull_request import UNOBSERVED, Observation, Observed
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.watch import Watch

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventNames:
    """
    The names that an event shows in place of our keys.

    `task_id` is the task's external id, `session_id` '' when no session is known,
    `source` the CloudEvents source, `prwatch:` and the instance.
    """

    workspace: str
    task_id: str
    session_id: str
    source: str


def build_events(
    changes: Sequence[Change],
    *,
    watch: Watch,
    observation: Observation,
    names: EventNames,
    ids: tuple[str, str],
    now: dt.datetime,
    feedback_on_activity: bool = False,
) -> tuple[Event, ...]:
    """
    Return the events of one commit, feedback first; () without changes.

    `watch` is the row after the commit, `observation` the task's pull request as
    it is stored then, `ids` the id of a feedback event and that of the update.
    With `feedback_on_activity` an update time that moved alone is feedback too.
    """
    if not changes:
        return ()
    feedback_id, updated_id = ids
    data = _build_data(changes, watch, observation, names)
    updated = Event(
        id=updated_id,
        type=EventType.TASK_PR_UPDATED,
        source=names.source,
        subject=_build_subject(observation, names),
        time=now,
        workspace_id=watch.workspace_id,
        task_id=watch.task_id,
        repository_id=watch.repository_id,
        pr_number=observation.number,
        watch_id=watch.id,
        revision=watch.revision,
        head_ref_oid=observation.head_ref_oid,
        is_terminal=observation.is_final,
        data={**data, "task_pull_request": build_task_pull_request(observation)},
    )
    if not any(_is_feedback(change, feedback_on_activity) for change in changes):
        return (updated,)
    feedback = replace(updated, id=feedback_id, type=EventType.PR_FEEDBACK, data=data)
    return (feedback, updated)


def build_task_pull_request(observation: Observation) -> dict[str, object]:
    """
    Return the columns of a task's pull request as JSON; null is unobserved too.

    Of the comment mark the time of its newest comment stands there.
    """
    mark = observation.comment_mark
    return {
        "number": observation.number,
        "node_id": observation.node_id,
        "state": observation.state.value,
        "title": observation.title,
        "url": observation.url,
        "author": observation.author,
        "is_draft": observation.is_draft,
        "head_ref_oid": observation.head_ref_oid,
        "head_ref_name": observation.head_ref_name,
        "base_ref_name": observation.base_ref_name,
        **_build_verdicts(observation),
        "is_archived": _or_null(observation.is_archived),
        "merged_by": _or_null(observation.merged_by),
        "unresolved_threads": _or_null(observation.unresolved_threads),
        "requested_reviewers": _or_null(observation.requested_reviewers),
        "approvals": _or_null(observation.approvals),
        "created_at": format_time(observation.created_at),
        "updated_at": format_time(observation.updated_at),
        "closed_at": format_optional_time(observation.closed_at),
        "merged_at": format_optional_time(observation.merged_at),
        "comment_mark": None
        if mark is UNOBSERVED
        else format_optional_time(mark.newest_at),
    }


def wants(interest: Interest, event: Event) -> bool:
    """Return whether a sink wants an event: every filter that it has must match."""
    workspace = event.data.get("workspace")
    if interest.workspaces and workspace not in interest.workspaces:
        return False
    return _lets_pass(interest, event) and all(
        _lets_pass(each, event)
        for each in interest.narrowings
        if each.workspace == workspace
    )


def _lets_pass(wish: Interest | Narrowing, event: Event) -> bool:
    if wish.events and event.type.value not in wish.events:
        return False
    if wish.repositories:
        name = _read_name_with_owner(event.data.get("repository"))
        if name not in wish.repositories:
            return False
    if not wish.fields:
        return True
    return not wish.fields.isdisjoint(_read_fields(event.data.get("changes")))


def _is_feedback(change: Change, feedback_on_activity: bool) -> bool:
    if change.field is ChangeField.ACTIVITY:
        return feedback_on_activity
    return change.is_feedback


def _build_data(
    changes: Sequence[Change],
    watch: Watch,
    observation: Observation,
    names: EventNames,
) -> dict[str, object]:
    repository = observation.repository
    return {
        "workspace": names.workspace,
        "task_id": names.task_id,
        "session_id": names.session_id,
        "watch_id": watch.id,
        "revision": watch.revision,
        "repository": {
            "owner": repository.owner,
            "name": repository.name,
            "node_id": repository.node_id,
        },
        "pull_request": {
            "number": observation.number,
            "url": observation.url,
            "title": observation.title,
            "head_ref_oid": observation.head_ref_oid,
            "state": observation.state.value,
            "is_draft": observation.is_draft,
            **_build_verdicts(observation),
        },
        "changes": [_build_change(change) for change in changes],
        "observed_at": format_time(observation.observed_at),
    }


def _build_verdicts(observation: Observation) -> dict[str, object]:
    return {
        "checks": _or_null(observation.checks),
        "review": _or_null(observation.review),
        "review_decision": _or_null(observation.review_decision),
        "mergeable": _or_null(observation.mergeable),
        "merge_queue": _or_null(observation.merge_queue),
        "auto_merge": _or_null(observation.auto_merge),
    }


def _build_change(change: Change) -> dict[str, object]:
    data: dict[str, object] = {
        "field": change.field.value,
        "previous": change.previous,
        "current": change.current,
    }
    if change.reason:
        data["reason"] = change.reason
    return data


def _build_subject(observation: Observation, names: EventNames) -> str:
    name = observation.repository.name_with_owner
    return f"{names.workspace}/{names.task_id}/{name}#{observation.number}"


def _or_null(value: Observed[T]) -> object:
    if value is UNOBSERVED:
        return None
    return value.value if isinstance(value, enum.StrEnum) else value


def _read_name_with_owner(repository: object) -> str:
    if not isinstance(repository, Mapping):
        return ""
    return f"{repository.get('owner')}/{repository.get('name')}".lower()


def _read_fields(changes: object) -> Iterable[str]:
    if not isinstance(changes, Sequence):
        return ()
    return [str(change["field"]) for change in changes]
