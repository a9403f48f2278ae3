"""A workspace of plain rows for tests, with ids that are easy to read."""

import datetime as dt

from prwatch.domain.pull_request import (
    Observation,
    PullRequestState,
    RepositoryName,
)
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import (
    Checkout,
    Origin,
    PullRequestLink,
    Repository,
    RepositoryWatch,
    Session,
    Task,
    TaskPullRequest,
    TaskRepository,
    Workspace,
)
from prwatch.domain.watch import Watch, Watermark

NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
ARCHIVED_AT = NOW - dt.timedelta(days=1)


def make_repository(row_id="hello", **values) -> Repository:
    defaults = {
        "owner": "octo",
        "name": row_id,
        "node_id": f"R_{row_id}",
        "default_branch": "main",
    }
    return Repository(
        id=row_id, workspace_id="w", host="github.com", **{**defaults, **values}
    )


def make_task(row_id="t", **values) -> Task:
    defaults = {"external_id": row_id, "origin": Origin.COMMAND}
    return Task(id=row_id, workspace_id="w", created_at=NOW, **{**defaults, **values})


def make_session(row_id="s", **values) -> Session:
    defaults = {"task_id": "t", "external_id": row_id}
    return Session(id=row_id, started_at=NOW, **{**defaults, **values})


def make_watch(row_id="w1", **values) -> Watch:
    defaults = {"task_id": "t", "repository_id": "hello"}
    return Watch(
        id=row_id,
        workspace_id="w",
        last_sign_at=NOW,
        created_at=NOW,
        **{**defaults, **values},
    )


def make_watermark(state=PullRequestState.OPEN) -> Watermark:
    return Watermark(state=state, updated_at=NOW, head_ref_oid="a", observed_at=NOW)


def make_observation(**values) -> Observation:
    number = values.pop("number", 12)
    defaults = {
        "repository": RepositoryName("octo", "hello", "R_hello"),
        "node_id": f"PR_{number}",
        "state": PullRequestState.OPEN,
        "head_ref_name": "fix",
        "head_repository_id": "R_hello",
        "author": "mona",
    }
    return Observation(
        number=number,
        observed_at=NOW,
        updated_at=NOW,
        created_at=NOW,
        **{**defaults, **values},
    )


def make_task_pull_request(
    pr_number=12, *, task_id="t", repository_id="hello", **values
) -> TaskPullRequest:
    row = {key: values.pop(key) for key in ("detached_at", "is_past") if key in values}
    return TaskPullRequest(
        task_id=task_id,
        repository_id=repository_id,
        pr_number=pr_number,
        observation=make_observation(number=pr_number, **values),
        observed_at=NOW,
        **row,
    )


def make_checkout(session_id="s", **values) -> Checkout:
    return Checkout(session_id=session_id, **{"repository_id": "hello", **values})


def make_task_repository(branch="", **values) -> TaskRepository:
    defaults = {"task_id": "t", "repository_id": "hello"}
    return TaskRepository(branch=branch, **{**defaults, **values})


def make_link(pr_number=12, **values) -> PullRequestLink:
    defaults = {"task_id": "t", "repository_id": "hello"}
    return PullRequestLink(pr_number=pr_number, **{**defaults, **values})


def make_repository_watch(**values) -> RepositoryWatch:
    defaults = {"repository_id": "hello", "author": "", "origin": Origin.CONFIG}
    return RepositoryWatch(workspace_id="w", **{**defaults, **values})


def make_snapshot(**rows) -> Snapshot:
    """Build a workspace with repository `hello` and task `t` unless told otherwise."""
    defaults = {"repositories": (make_repository(),), "tasks": (make_task(),)}
    tuples = {name: tuple(values) for name, values in {**defaults, **rows}.items()}
    return Snapshot(workspace=Workspace(id="w", name="acme"), **tuples)
