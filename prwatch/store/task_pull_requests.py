"""Rows of the associations of pull requests with tasks."""

import datetime as dt

from prwatch.domain.task import TaskPullRequest
from prwatch.store.columns import to_microseconds
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries
from prwatch.store.task_pull_request_rows import (
    from_task_pull_request,
    to_task_pull_request,
)

_QUERIES = load_queries("task_pull_requests")


async def put_task_pull_request(tx: Transaction, row: TaskPullRequest) -> bool:
    """
    Insert or replace an association.

    Returns False, and writes nothing, when the stored one differs in nothing but the
    time of its observation and the notes to it. `settles_at` is not kept.
    """
    values = from_task_pull_request(row)
    return await tx.execute(_QUERIES["put_task_pull_request"], **values) == 1


async def find_task_pull_request(
    tx: Transaction, task_id: str, repository_id: str, pr_number: int
) -> TaskPullRequest | None:
    """Return one association, or None. The repository's name is the present one."""
    rows = await tx.fetch(
        _QUERIES["find_task_pull_request"],
        task_id=task_id,
        repository_id=repository_id,
        pr_number=pr_number,
    )
    return to_task_pull_request(rows[0]) if rows else None


async def list_task_pull_requests(
    tx: Transaction,
    *,
    workspace_id: str = "",
    task_id: str = "",
    include_archived: bool = False,
) -> list[TaskPullRequest]:
    """
    Return the associations of one task, or else of all tasks of a workspace.

    They are in order of their key. `include_archived` is about the workspace's tasks.
    """
    if task_id:
        query = _QUERIES["list_of_task"]
        return await tx.fetch_as(query, to_task_pull_request, task_id=task_id)
    return await tx.fetch_as(
        _QUERIES["list_of_workspace"],
        to_task_pull_request,
        workspace_id=workspace_id,
        include_archived=include_archived,
    )


async def list_polled_task_pull_requests(
    tx: Transaction, workspace_id: str
) -> list[TaskPullRequest]:
    """
    Return those of a workspace's active tasks that a cycle may have to look at.

    Left out are those that an adopted task, with nothing of its own to search for,
    watches and has read: what a cycle needs of them stands in their watch.
    """
    query = _QUERIES["list_polled"]
    return await tx.fetch_as(query, to_task_pull_request, workspace_id=workspace_id)


async def detach(
    tx: Transaction,
    task_id: str,
    repository_id: str,
    pr_number: int,
    now: dt.datetime,
) -> bool:
    """
    Take a pull request off a task and delete its watch.

    Returns False when it is not attached; a watch that is there goes all the same.
    """
    key = {"task_id": task_id, "repository_id": repository_id}
    detached = await tx.execute(
        _QUERIES["detach"], **key, pr_number=pr_number, now=to_microseconds(now)
    )
    await tx.execute(_QUERIES["remove_watch"], **key, pr_number=pr_number)
    return detached == 1


async def attach(
    tx: Transaction, task_id: str, repository_id: str, pr_number: int
) -> bool:
    """Let a detached pull request be the task's again; False when it is not one."""
    key = {"task_id": task_id, "repository_id": repository_id}
    return await tx.execute(_QUERIES["attach"], **key, pr_number=pr_number) == 1


async def merge_into_repository(tx: Transaction, *, survivor: str, loser: str) -> None:
    """Move the associations of one repository's row to another's; newer ones win."""
    query = _QUERIES["merge_into_repository"]
    await tx.execute(query, survivor=survivor, loser=loser)
    await tx.execute(_QUERIES["remove_of_repository"], loser=loser)
