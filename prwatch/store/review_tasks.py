"""
Rows that say which pull requests a review watch knows: at most one for each of both.

A row is reserved first, then assigned its task or released. Of any number of callers
one reserves; what a crash left reserved may be taken over after a time.
"""

import datetime as dt
from collections.abc import Mapping

from prwatch.domain.review_watch import (
    CleanupPolicy,
    ReviewedPullRequest,
    ReviewScope,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Task
from prwatch.store.columns import (
    from_json,
    from_microseconds,
    from_optional_microseconds,
    to_json,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Transaction, Value
from prwatch.store.query import load_queries
from prwatch.store.tasks import to_task

_QUERIES = load_queries("review_tasks")


async def list_review_tasks(
    tx: Transaction, workspace_id: str, review_watch_id: str = ""
) -> list[ReviewTask]:
    """
    Return what a workspace's review watches know, or one of them, by id.

    A row that cannot be understood is left out.
    """
    return (await read_review_tasks(tx, workspace_id, review_watch_id))[0]


async def read_review_tasks(
    tx: Transaction, workspace_id: str, review_watch_id: str = ""
) -> tuple[list[ReviewTask], dict[str, str]]:
    """
    Return what a workspace's review watches know, or one of them, by id.

    Beside them stand the ids of the rows that cannot be understood, with the review
    watch of each.
    """
    found = await tx.fetch(
        _QUERIES["list_review_tasks"],
        workspace_id=workspace_id,
        review_watch_id=review_watch_id,
    )
    rows: list[ReviewTask] = []
    unreadable: dict[str, str] = {}
    for row in found:
        try:
            rows.append(to_review_task(row))
        except ValueError:
            unreadable[row["id"]] = row["review_watch_id"]
    return rows, unreadable


async def list_known(
    tx: Transaction, workspace_id: str, review_watch_id: str
) -> set[str]:
    """Return the node ids of the pull requests of which a watch has a task."""
    rows = await tx.fetch(
        _QUERIES["list_known"],
        workspace_id=workspace_id,
        review_watch_id=review_watch_id,
    )
    return {row["pr_node_id"] for row in rows}


async def find_task_of(
    tx: Transaction, workspace_id: str, pr_node_id: str
) -> Task | None:
    """Return the task that any review watch made of a pull request, or None."""
    rows = await tx.fetch(
        _QUERIES["list_of_pull_request"],
        workspace_id=workspace_id,
        pr_node_id=pr_node_id,
    )
    return to_task(rows[0]) if rows else None


async def is_of_another(tx: Transaction, task_id: str, pr_node_id: str) -> bool:
    """Return whether a task was made of another pull request than that."""
    query = _QUERIES["list_others_of_task"]
    return bool(await tx.fetch(query, task_id=task_id, pr_node_id=pr_node_id))


async def find_review_task(
    tx: Transaction, workspace_id: str, review_watch_id: str, pr_node_id: str
) -> ReviewTask | None:
    """Return what a watch knows of a pull request, or None."""
    rows = await tx.fetch(
        _QUERIES["find_review_task"],
        workspace_id=workspace_id,
        review_watch_id=review_watch_id,
        pr_node_id=pr_node_id,
    )
    return to_review_task(rows[0]) if rows else None


async def add_review_task(tx: Transaction, row: ReviewTask) -> bool:
    """Add a row as it is; return False, and write nothing, when there is one."""
    return await tx.execute(_QUERIES["add_review_task"], **_from_review_task(row)) == 1


async def reserve_review_task(
    tx: Transaction, row: ReviewTask, watch: ReviewWatch, *, stale_before: dt.datetime
) -> bool:
    """
    Reserve a pull request of a watch for the one who is `row.reserved_by`.

    Of any number of callers exactly one gets True. A reservation made at or before
    `stale_before` without a task is taken over, and so is one from as far in the
    future: the clock was set back. Nothing is reserved when the watch is gone,
    disabled, or edited since `watch` was read.
    """
    values = _from_review_task(row)
    of_watch = ("workspace_id", "policy", "target_login", "scope")
    unset = ("task_id", "terminal_seen_at", "terminal_evidence", "created_at")
    for each in (*of_watch, *unset):
        del values[each]
    # Held first: a removal that comes now waits, and takes the reservation with it.
    await tx.fetch(_QUERIES["hold_searched"], id=row.review_watch_id)
    reserved = await tx.execute(_QUERIES["reserve"], **values, revision=watch.revision)
    if reserved:
        return True
    taken = await tx.execute(
        _QUERIES["take_over"],
        **_key(row),
        revision=watch.revision,
        reserved_at=to_microseconds(row.reserved_at),
        reserved_by=row.reserved_by,
        stale_before=to_microseconds(stale_before),
        odd_after=to_microseconds(row.reserved_at + (row.reserved_at - stale_before)),
    )
    return taken == 1


async def hold_joined_task(tx: Transaction, task_id: str) -> bool:
    """Keep a task from being removed until this ends; False when it is gone by now."""
    return bool(await tx.fetch(_QUERIES["hold_joined"], task_id=task_id))


async def assign_review_task(tx: Transaction, row: ReviewTask, task_id: str) -> bool:
    """Give a reservation its task; False when it is not held any more."""
    written = await tx.execute(
        _QUERIES["assign"], **_key(row), reserved_by=row.reserved_by, task_id=task_id
    )
    return written == 1


async def release_review_task(tx: Transaction, row: ReviewTask) -> bool:
    """Give a reservation back; False when it is no longer held, or has its task."""
    query = _QUERIES["release"]
    return await tx.execute(query, **_key(row), reserved_by=row.reserved_by) == 1


async def put_terminal(
    tx: Transaction,
    row_id: str,
    seen_at: dt.datetime | None,
    evidence: Mapping[str, object],
) -> bool:
    """Note that the work was seen done, or with None not; False when it is noted."""
    written = await tx.execute(
        _QUERIES["put_terminal"],
        id=row_id,
        terminal_seen_at=to_optional_microseconds(seen_at),
        terminal_evidence=to_json(dict(evidence)),
    )
    return written == 1


async def remove_review_task(tx: Transaction, row_id: str) -> bool:
    """Forget a row; its task stays as it is. Returns False when it is gone."""
    return await tx.execute(_QUERIES["remove_review_task"], id=row_id) == 1


def _key(row: ReviewTask) -> dict[str, Value]:
    return {
        "workspace_id": row.workspace_id,
        "review_watch_id": row.review_watch_id,
        "pr_node_id": row.pull_request.node_id,
    }


def _from_review_task(row: ReviewTask) -> dict[str, Value]:
    pull_request = row.pull_request
    return {
        **_key(row),
        "id": row.id,
        "policy": row.policy,
        "target_login": row.target_login,
        "scope": row.scope,
        "owner": pull_request.owner,
        "name": pull_request.name,
        "repository_node_id": pull_request.repository_node_id,
        "pr_number": pull_request.number,
        "task_id": row.task_id,
        "reserved_at": to_microseconds(row.reserved_at),
        "reserved_by": row.reserved_by,
        "terminal_seen_at": to_optional_microseconds(row.terminal_seen_at),
        "terminal_evidence": to_json(dict(row.terminal_evidence)),
        "created_at": to_microseconds(row.created_at),
    }


def to_review_task(row: Row) -> ReviewTask:
    """
    Return what a row says.

    Raises:
        ValueError: It holds a word that we do not know, no JSON, or a time too far off.
    """
    try:
        return _read_row(row)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _read_row(row: Row) -> ReviewTask:
    evidence = from_json(row["terminal_evidence"])
    if not isinstance(evidence, dict):
        raise ValueError("the evidence is no object")  # noqa: TRY004 - a row's fault
    return ReviewTask(
        id=row["id"],
        workspace_id=row["workspace_id"],
        review_watch_id=row["review_watch_id"],
        policy=CleanupPolicy(row["policy"]),
        target_login=row["target_login"],
        scope=ReviewScope(row["scope"]),
        pull_request=ReviewedPullRequest(
            owner=row["owner"],
            name=row["name"],
            number=row["pr_number"],
            node_id=row["pr_node_id"],
            repository_node_id=row["repository_node_id"],
        ),
        task_id=row["task_id"],
        reserved_at=from_microseconds(row["reserved_at"]),
        reserved_by=row["reserved_by"],
        terminal_seen_at=from_optional_microseconds(row["terminal_seen_at"]),
        terminal_evidence=evidence,
        created_at=from_microseconds(row["created_at"]),
    )
