"""
Rows of review tasks that their review watches left: of those whose watch is removed.

Nobody searches for them any more. They are swept under the policy that they were left
with, until their task is gone or a person decides about them.
"""

from prwatch.domain.review_watch import CleanupPolicy, ReviewAudit, ReviewTask
from prwatch.store.columns import to_microseconds
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries
from prwatch.store.review_audit import read_entries

_QUERIES = load_queries("review_left")


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
