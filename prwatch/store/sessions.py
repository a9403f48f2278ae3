"""Rows of the runs of work on tasks, and of what they have checked out."""

import datetime as dt

from prwatch.domain.task import Checkout, Session
from prwatch.store.columns import (
    from_microseconds,
    from_optional_microseconds,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("sessions")


async def list_sessions(
    tx: Transaction, workspace_id: str, *, include_archived: bool = False
) -> list[Session]:
    """Return the sessions of the workspace's tasks, ended ones too, by id."""
    rows = await tx.fetch(
        _QUERIES["list_sessions"],
        workspace_id=workspace_id,
        include_archived=include_archived,
    )
    return [
        Session(
            id=row["id"],
            task_id=row["task_id"],
            external_id=row["external_id"],
            state=row["state"],
            started_at=from_microseconds(row["started_at"]),
            ended_at=from_optional_microseconds(row["ended_at"]),
        )
        for row in rows
    ]


async def put_session(tx: Transaction, session: Session) -> bool:
    """
    Insert or replace by the task and the external id; a stored id stays.

    Returns False, and writes nothing, when the stored one is equal.
    """
    written = await tx.execute(
        _QUERIES["put_session"],
        id=session.id,
        task_id=session.task_id,
        external_id=session.external_id,
        state=session.state,
        started_at=to_microseconds(session.started_at),
        ended_at=to_optional_microseconds(session.ended_at),
    )
    return written == 1


async def end_session(tx: Transaction, session_id: str, now: dt.datetime) -> bool:
    """End a running session; return False when it does not run."""
    query = _QUERIES["end_session"]
    return await tx.execute(query, id=session_id, now=to_microseconds(now)) == 1


async def list_checkouts(
    tx: Transaction, workspace_id: str, *, include_archived: bool = False
) -> list[Checkout]:
    """Return what the workspace's sessions have checked out, by session."""
    rows = await tx.fetch(
        _QUERIES["list_checkouts"],
        workspace_id=workspace_id,
        include_archived=include_archived,
    )
    return [
        Checkout(
            session_id=row["session_id"],
            repository_id=row["repository_id"],
            branch=row["branch"],
            worktree_path=row["worktree_path"],
            head_repository=row["head_repository"],
            written_as=row["written_as"],
        )
        for row in rows
    ]


async def put_checkout(tx: Transaction, checkout: Checkout) -> bool:
    """Insert or replace; return False, and write nothing, when it is equal."""
    written = await tx.execute(
        _QUERIES["put_checkout"],
        session_id=checkout.session_id,
        repository_id=checkout.repository_id,
        branch=checkout.branch,
        worktree_path=checkout.worktree_path,
        head_repository=checkout.head_repository,
        written_as=checkout.written_as,
    )
    return written == 1


async def remove_checkout(tx: Transaction, checkout: Checkout) -> bool:
    """Remove it, whatever its branch; return whether it was there."""
    removed = await tx.execute(
        _QUERIES["remove_checkout"],
        session_id=checkout.session_id,
        repository_id=checkout.repository_id,
        worktree_path=checkout.worktree_path,
    )
    return removed == 1


async def find_current_session(
    tx: Transaction, *, task_id: str, repository_id: str, branch: str
) -> str:
    """
    Return the external id of the session that works on that branch now, or ''.

    It is the newest session of the task that has not ended and has that branch of
    that repository checked out.
    """
    rows = await tx.fetch(
        _QUERIES["find_current_session"],
        task_id=task_id,
        repository_id=repository_id,
        branch=branch,
    )
    return str(rows[0]["external_id"]) if rows else ""
