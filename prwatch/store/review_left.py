"""
Rows of review tasks that their review watches left: of those whose watch is removed.

Nobody searches for them any more. They are swept under the policy that they were left
with, until their task is gone or a person decides about them.
"""

from typing import Final

from prwatch.domain.review_watch import (
    NOBODY,
    CleanupPolicy,
    ReviewAudit,
    ReviewScope,
    ReviewSettings,
    ReviewTask,
)
from prwatch.store.columns import to_microseconds
from prwatch.store.database import Row, Transaction, Value
from prwatch.store.query import load_queries
from prwatch.store.review_audit import read_entries
from prwatch.store.review_tasks import remove_review_task, to_review_task

MAX_LEFT: Final = 2**31 - 1
"""As many rows as no watch has."""

_QUERIES = load_queries("review_left")


async def hold_leaving(tx: Transaction, workspace_id: str) -> None:
    """Let no other review watch of a workspace leave anything until this ends."""
    await tx.fetch(_QUERIES["hold_leaving"], workspace_id=workspace_id)


async def leave_review_tasks(
    tx: Transaction,
    workspace_id: str,
    watch_id: str,
    settings: ReviewSettings,
    *,
    limit: int = MAX_LEFT,
) -> int:
    """
    Leave up to `limit` of what a watch knows without it; return how many that were.

    `hold_leaving` and then the watch are held by whoever calls this.
    Each row keeps the policy, the login and the scope of the `settings` that the watch
    has. Two watches that are gone leave one row of a pull request, the one whose task
    is there: with the more cautious policy, the wider scope, and of two people
    nobody's approval counts. Reservations go.
    """
    rows = await tx.fetch(
        _QUERIES["list_some_of_watch"],
        workspace_id=workspace_id,
        review_watch_id=watch_id,
        limit=limit,
    )
    for row in rows:
        if not row["task_id"] or await _join_left(tx, row, settings):
            await remove_review_task(tx, row["id"])
        else:
            await tx.execute(_QUERIES["leave"], id=row["id"], **_list_terms(settings))
    return len(rows)


async def _join_left(tx: Transaction, row: Row, settings: ReviewSettings) -> bool:
    """Return whether a row that was left before stands for this one too from now on."""
    found = await tx.fetch(
        _QUERIES["find_left"],
        workspace_id=row["workspace_id"],
        pr_node_id=row["pr_node_id"],
    )
    for left in found:
        if await _is_replaced(tx, left["task_id"], row["task_id"]):
            await remove_review_task(tx, left["id"])
            return False
        try:
            terms = _merge(to_review_task(left), settings)
        except ValueError:
            # One that cannot be understood keeps its task whatever it says.
            return True
        await tx.execute(_QUERIES["put_left"], id=left["id"], **terms)
    return bool(found)


async def _is_replaced(tx: Transaction, before: str, task_id: str) -> bool:
    """Return whether a task is gone and the other one is there."""
    present = await tx.fetch(_QUERIES["list_present"], one=before, other=task_id)
    return before != task_id and [each["id"] for each in present] == [task_id]


def _list_terms(settings: ReviewSettings) -> dict[str, Value]:
    return {
        "policy": settings.policy,
        "target_login": settings.target_login,
        "scope": settings.scope,
    }


def _merge(left: ReviewTask, settings: ReviewSettings) -> dict[str, Value]:
    is_same = left.target_login.lower() == settings.target_login.lower()
    return {
        "policy": max(left.policy, settings.policy, key=_read_caution),
        "target_login": left.target_login if is_same else NOBODY,
        "scope": max(left.scope, settings.scope, key=list(ReviewScope).index),
    }


def _read_caution(policy: CleanupPolicy) -> int:
    return policy.caution


async def put_left_policy(
    tx: Transaction, workspace_id: str, task_id: str, policy: CleanupPolicy
) -> bool:
    """Choose anew when a task that was left goes; False when it is so already."""
    written = await tx.execute(
        _QUERIES["put_left_policy"],
        workspace_id=workspace_id,
        task_id=task_id,
        policy=policy,
    )
    return written > 0


async def remove_left(tx: Transaction, workspace_id: str, task_id: str) -> int:
    """Forget the rows of a task without a watch; return how many there were."""
    query = _QUERIES["remove_left"]
    return await tx.execute(query, workspace_id=workspace_id, task_id=task_id)


async def list_audit_of_removed(
    tx: Transaction, workspace_id: str, *, limit: int
) -> list[ReviewAudit]:
    """
    Return up to `limit` entries of review watches that are gone, newest first.

    One that cannot be understood is left out.
    """
    query = _QUERIES["list_audit_of_removed"]
    rows = await tx.fetch(query, workspace_id=workspace_id, limit=limit)
    return read_entries(rows)


async def forget_reservation(tx: Transaction, row: ReviewTask) -> bool:
    """Forget a reservation; False when it is another one's by now, or has its task."""
    written = await tx.execute(
        _QUERIES["forget_reservation"],
        id=row.id,
        reserved_at=to_microseconds(row.reserved_at),
        reserved_by=row.reserved_by,
    )
    return written == 1
