"""The event that a review is asked for."""

import datetime as dt
from dataclasses import dataclass

from prwatch.domain.events import Event, EventType
from prwatch.domain.review_hit import ReviewFacts
from prwatch.domain.review_watch import ReviewedPullRequest, ReviewWatch
from prwatch.domain.task import Origin, Task, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """
    That a watch of a workspace found a pull request on which `login` is asked.

    `is_backlog` says that it had waited when the watch first searched.
    """

    facts: ReviewFacts
    watch: ReviewWatch
    workspace: Workspace
    login: str
    is_backlog: bool = False


def build_review_requested(
    request: ReviewRequest, task: Task, *, event_id: str, source: str
) -> Event:
    """
    Return the event that a review task was made, at the time of the task.

    It belongs to no watch of a pull request and has no revision; what is told of the
    same pull request later waits for it.
    """
    facts, workspace = request.facts, request.workspace
    pull_request = facts.pull_request
    return Event(
        id=event_id,
        type=EventType.PR_REVIEW_REQUESTED,
        source=source,
        subject=f"{workspace.name}/{task.external_id}",
        time=task.created_at,
        workspace_id=workspace.id,
        task_id=task.id,
        repository_id=pull_request.node_id,
        pr_number=pull_request.number,
        watch_id="",
        revision=0,
        head_ref_oid="",
        is_terminal=False,
        data={
            "workspace": workspace.name,
            "task_id": task.external_id,
            "review_watch": {"id": request.watch.id, "name": request.watch.name},
            "repository": describe_repository(pull_request),
            "pull_request": {
                "number": pull_request.number,
                "node_id": pull_request.node_id,
                "url": facts.url,
                "title": facts.title,
                "author": facts.author,
                "state": facts.state.value,
                "is_draft": facts.is_draft,
            },
            "requested": request.login,
            "backlog": request.is_backlog,
        },
    )


def build_review_task(
    request: ReviewRequest, *, task_id: str, name: str, now: dt.datetime
) -> Task:
    """Return the task of a review that is asked for, under the name that it gets."""
    facts = request.facts
    return Task(
        id=task_id,
        workspace_id=request.workspace.id,
        external_id=name,
        origin=Origin.REVIEW,
        title=facts.title,
        created_at=now,
    )


def describe_repository(pull_request: ReviewedPullRequest) -> dict[str, object]:
    """Return the repository of a pull request as events about reviews show it."""
    return {
        "owner": pull_request.owner,
        "name": pull_request.name,
        "node_id": pull_request.repository_node_id,
    }
