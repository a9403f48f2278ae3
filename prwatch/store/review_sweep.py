"""
The rows that cleaning up looks at, read so that one that is broken harms no other.

A row that cannot be understood makes its own task unreadable; one of a review watch
makes each task unreadable of which a row of that watch speaks.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from prwatch.domain.review_cleanup import SweptRow, SweptTask
from prwatch.domain.review_watch import CleanupPolicy, ReviewWatch
from prwatch.domain.task import Task
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries
from prwatch.store.review_tasks import to_review_task
from prwatch.store.review_watches import to_review_watch
from prwatch.store.tasks import to_task

_QUERIES = load_queries("review_sweep")

T = TypeVar("T")


async def list_swept(tx: Transaction, workspace_id: str) -> list[SweptTask]:
    """Return the review tasks of a workspace, by the id of their first row."""
    rows = await tx.fetch(_QUERIES["list_rows"], workspace_id=workspace_id)
    found = await tx.fetch(_QUERIES["list_tasks_of_rows"], workspace_id=workspace_id)
    return _group(workspace_id, rows, found, await _read_watches(tx, workspace_id))


async def find_swept(
    tx: Transaction, workspace_id: str, task_id: str
) -> SweptTask | None:
    """Return one review task as it is now; None when no row speaks of it."""
    rows = await tx.fetch(
        _QUERIES["list_rows_of"], workspace_id=workspace_id, task_id=task_id
    )
    found = await tx.fetch(_QUERIES["list_task"], task_id=task_id)
    watches = await _read_watches(tx, workspace_id)
    return next(iter(_group(workspace_id, rows, found, watches)), None)


async def hold_watches(tx: Transaction, workspace_id: str) -> None:
    """Keep the review watches of a workspace as they are until this ends."""
    await tx.fetch(_QUERIES["hold_watches"], workspace_id=workspace_id)


async def hold_task(
    tx: Transaction, workspace_id: str, task_id: str, policy: CleanupPolicy
) -> bool:
    """
    Keep a review task with its rows, and the review watches, until this ends.

    Nobody changes, removes or joins them meanwhile, on an engine with many writers
    too; what is read of them afterwards stays true. Returns False when it is no review
    task, or is what `policy` keeps, by now.
    """
    # In the order in which removing a watch comes by: else the two would deadlock.
    await hold_watches(tx, workspace_id)
    is_always = policy is CleanupPolicy.ALWAYS
    held = await tx.fetch(_QUERIES["hold_task"], id=task_id, is_always=is_always)
    await tx.fetch(_QUERIES["hold_rows"], workspace_id=workspace_id, task_id=task_id)
    return bool(held)


async def hold_rows(tx: Transaction, workspace_id: str, task_id: str) -> None:
    """Keep what is known of a task that is gone, and the watches, until this ends."""
    await hold_watches(tx, workspace_id)
    await tx.fetch(_QUERIES["hold_rows"], workspace_id=workspace_id, task_id=task_id)


async def _read_watches(
    tx: Transaction, workspace_id: str
) -> dict[str, ReviewWatch | None]:
    """Return the review watches by id, None for one that cannot be understood."""
    rows = await tx.fetch(_QUERIES["list_watches"], workspace_id=workspace_id)
    return {row["id"]: _try(to_review_watch, row) for row in rows}


def _group(
    workspace_id: str,
    rows: Sequence[Row],
    found: Sequence[Row],
    watches: dict[str, ReviewWatch | None],
) -> list[SweptTask]:
    by_task: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        # What only reserves a pull request has no task that it could share.
        by_task[row["task_id"] or f"row {row['id']}"].append(row)
    tasks = {row["id"]: _try(to_task, row) for row in found}
    return [_build(workspace_id, own, tasks, watches) for own in by_task.values()]


def _build(
    workspace_id: str,
    rows: Sequence[Row],
    tasks: dict[str, Task | None],
    watches: dict[str, ReviewWatch | None],
) -> SweptTask:
    task_id = rows[0]["task_id"]
    swept = [_build_row(row, watches) for row in rows]
    is_readable = None not in swept and tasks.get(task_id, True) is not None
    return SweptTask(
        workspace_id=workspace_id,
        task_id=task_id,
        task=tasks.get(task_id),
        rows=tuple(each for each in swept if each is not None),
        is_readable=is_readable,
    )


def _build_row(row: Row, watches: dict[str, ReviewWatch | None]) -> SweptRow | None:
    read = _try(to_review_task, row)
    watch = watches.get(row["review_watch_id"])
    if read is None or (watch is None and row["review_watch_id"] in watches):
        return None
    return SweptRow(row=read, watch=watch)


def _try(read: Callable[[Row], T], row: Row) -> T | None:
    try:
        return read(row)
    except (ValueError, TypeError, OverflowError):  # the last is of a time too far off
        return None
