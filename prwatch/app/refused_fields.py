"""
Stored refusals: what a workspace's token or server was found not to let us read.

A restart does not try again what was found out less than a day ago.
"""

from collections.abc import Sequence
from typing import Final

import anyio

from prwatch.app.walk.cycle import Account
from prwatch.domain.capability import Capability, RefusedField, tell
from prwatch.domain.connection import Connection
from prwatch.domain.task import Workspace
from prwatch.store import connections, refused_fields
from prwatch.store.database import Database, Transaction

STORE_SECONDS: Final = 5.0
"""How long a stopped cycle may take to store what it has just learnt."""
MOST_ROWS: Final = 100
"""What is stored of one connection: a transaction has an end, and is found anew."""


async def restore_refused(
    database: Database, owned: Sequence[Connection]
) -> tuple[RefusedField, ...]:
    """Return what was stored for an account's connections as they are now."""

    async def read(tx: Transaction) -> tuple[RefusedField, ...]:
        found: dict[tuple[str, str], RefusedField] = {}
        for connection in owned:
            for each in await refused_fields.list_refused(tx, connection):
                found[each.field, each.repository] = each
        return tuple(found.values())

    return await database.read(read)


async def store_refused(database: Database, account: Account) -> None:
    """
    Store what an account cannot read, where that is news. Else nothing is done.

    A caller that is cancelled still stores.
    """
    capabilities = account.github.capabilities
    if not capabilities.take_news():
        return
    refused = capabilities.refused[:MOST_ROWS]
    workspace_ids = [workspace.id for workspace in account.workspaces]

    async def write(tx: Transaction) -> None:
        for workspace_id in workspace_ids:
            connection = await connections.find_connection(tx, workspace_id)
            if connection is not None:
                await refused_fields.replace_refused(tx, connection, refused)

    with anyio.move_on_after(STORE_SECONDS, shield=True):
        await database.transact(write)


async def read_refused(
    database: Database, workspace: Workspace
) -> tuple[RefusedField, ...]:
    """Return what is stored that a workspace cannot read now."""

    async def read(tx: Transaction) -> tuple[RefusedField, ...]:
        connection = await connections.find_connection(tx, workspace.id)
        if connection is None:
            return ()
        return await refused_fields.list_refused(tx, connection)

    return await database.read(read)


def list_capabilities(account: Account) -> tuple[Capability, ...]:
    """List what a running account cannot read, for people, by its words."""
    return tell(account.github.capabilities.refused)
