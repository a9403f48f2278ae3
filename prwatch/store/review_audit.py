"""Rows that say what became of review tasks, why, and what would restore them."""

import datetime as dt
from collections.abc import Sequence

from prwatch.domain.review_watch import (
    AuditAction,
    AuditActor,
    ReviewAudit,
    ReviewedPullRequest,
)
from prwatch.store.columns import (
    from_json,
    from_microseconds,
    from_optional_microseconds,
    to_json,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("review_audit")


async def add_audit(tx: Transaction, entry: ReviewAudit) -> None:
    """Add an entry; one with that id is left as it is."""
    pull_request = entry.pull_request
    await tx.execute(
        _QUERIES["add_audit"],
        id=entry.id,
        workspace_id=entry.workspace_id,
        review_watch_id=entry.review_watch_id,
        owner=pull_request.owner,
        name=pull_request.name,
        pr_number=pull_request.number,
        pr_node_id=pull_request.node_id,
        external_id=entry.external_id,
        action=entry.action,
        reason=entry.reason,
        evidence=to_json(dict(entry.evidence)),
        acted_at=to_microseconds(entry.acted_at),
        acted_by=entry.acted_by,
        snapshot=to_json(dict(entry.snapshot)),
        undo_until=to_optional_microseconds(entry.undo_until),
    )


async def list_audit_of_watch(
    tx: Transaction, workspace_id: str, review_watch_id: str, *, limit: int
) -> list[ReviewAudit]:
    """
    Return up to `limit` entries of a review watch, newest first.

    One that cannot be understood is left out.
    """
    rows = await tx.fetch(
        _QUERIES["list_audit_of_watch"],
        workspace_id=workspace_id,
        review_watch_id=review_watch_id,
        limit=limit,
    )
    return read_entries(rows)


async def list_audit_of_task(
    tx: Transaction, workspace_id: str, name: str
) -> list[ReviewAudit]:
    """
    Return the entries about a task, or the one entry of that id, newest first.

    One that cannot be understood is left out.
    """
    rows = await tx.fetch(
        _QUERIES["list_audit_of_task"], workspace_id=workspace_id, name=name
    )
    return read_entries(rows)


async def find_last_audit(
    tx: Transaction, workspace_id: str, review_watch_id: str, pr_node_id: str
) -> ReviewAudit | None:
    """
    Return the newest entry of a watch about a pull request, or None.

    One that cannot be understood says nothing.
    """
    rows = await tx.fetch(
        _QUERIES["find_last_audit"],
        workspace_id=workspace_id,
        review_watch_id=review_watch_id,
        pr_node_id=pr_node_id,
    )
    return _try(rows[0]) if rows else None


async def forget_snapshots(tx: Transaction, now: dt.datetime, *, limit: int) -> int:
    """
    Forget up to `limit` of what would restore tasks whose time to undo is over.

    Returns how many that were.
    """
    query = _QUERIES["forget_snapshots"]
    return await tx.execute(query, now=to_microseconds(now), limit=limit)


async def prune_audit(
    tx: Transaction, *, before: dt.datetime, now: dt.datetime, limit: int
) -> int:
    """
    Remove up to `limit` entries that are older than `before`; return how many.

    What can be undone still at `now` stays, and so does the last word of a watch that
    is there on a pull request that was approved.
    """
    return await tx.execute(
        _QUERIES["prune"],
        before=to_microseconds(before),
        now=to_microseconds(now),
        limit=limit,
    )


def read_entries(rows: Sequence[Row]) -> list[ReviewAudit]:
    """Return what rows say; one that cannot be understood is left out."""
    return [entry for row in rows if (entry := _try(row)) is not None]


def _try(row: Row) -> ReviewAudit | None:
    try:
        entry = _to_audit(row)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    parts = entry.evidence, entry.snapshot
    return entry if all(isinstance(each, dict) for each in parts) else None


def _to_audit(row: Row) -> ReviewAudit:
    return ReviewAudit(
        id=row["id"],
        workspace_id=row["workspace_id"],
        review_watch_id=row["review_watch_id"],
        pull_request=ReviewedPullRequest(
            owner=row["owner"],
            name=row["name"],
            number=row["pr_number"],
            node_id=row["pr_node_id"],
        ),
        external_id=row["external_id"],
        action=AuditAction(row["action"]),
        reason=row["reason"],
        evidence=from_json(row["evidence"]),
        acted_at=from_microseconds(row["acted_at"]),
        acted_by=AuditActor(row["acted_by"]),
        snapshot=from_json(row["snapshot"]),
        undo_until=from_optional_microseconds(row["undo_until"]),
    )
