"""Rows of workspaces, and of the one connection that each of them has."""

from prwatch.domain.connection import Connection
from prwatch.domain.task import Workspace
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("connections")


async def list_workspaces(tx: Transaction) -> list[Workspace]:
    """Return all workspaces, by name."""
    rows = await tx.fetch(_QUERIES["list_workspaces"])
    return [Workspace(id=row["id"], name=row["name"]) for row in rows]


async def find_workspace(tx: Transaction, name: str) -> Workspace | None:
    """Return the workspace of that name, or None."""
    rows = await tx.fetch(_QUERIES["find_workspace"], name=name)
    return Workspace(id=rows[0]["id"], name=rows[0]["name"]) if rows else None


async def add_workspace(tx: Transaction, workspace: Workspace) -> bool:
    """Add a workspace. Return False, and write nothing, when the name is taken."""
    query = _QUERIES["add_workspace"]
    return await tx.execute(query, id=workspace.id, name=workspace.name) == 1


async def find_connection(tx: Transaction, workspace_id: str) -> Connection | None:
    """Return the connection of a workspace, or None before it has one."""
    rows = await tx.fetch(_QUERIES["find_connection"], workspace_id=workspace_id)
    return _to_connection(rows[0]) if rows else None


async def put_connection(tx: Transaction, connection: Connection) -> bool:
    """
    Insert or replace the connection of its workspace; a stored id stays.

    Returns False, and writes nothing, when the stored one is equal.
    """
    written = await tx.execute(
        _QUERIES["put_connection"],
        id=connection.id,
        workspace_id=connection.workspace_id,
        source=connection.source,
        host=connection.host,
        account=connection.account,
        generation=connection.generation,
        status=connection.status,
    )
    return written == 1


async def put_account(tx: Transaction, connection: Connection, account: str) -> bool:
    """
    Note which account pays for a connection. That is no change of its generation.

    Returns False, and writes nothing, when that is stored, or when the connection is
    not of this generation any more.
    """
    written = await tx.execute(
        _QUERIES["put_account"],
        id=connection.id,
        generation=connection.generation,
        account=account,
    )
    return written == 1


def _to_connection(row: Row) -> Connection:
    return Connection(
        id=row["id"],
        workspace_id=row["workspace_id"],
        source=row["source"],
        host=row["host"],
        account=row["account"],
        generation=row["generation"],
        status=row["status"],
    )
