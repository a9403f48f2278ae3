"""
Stored limits: who pays for an account, and until when nothing may be asked.

A restart does not call while a limit forbids it. A block is kept under who pays, or
under the connection as long as nobody knows; no token is asked for to find it.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final

import anyio

from prwatch.app.walk.cycle import Account
from prwatch.clock import Clock
from prwatch.domain.connection import Connection
from prwatch.domain.rate_limit import StoredLimits
from prwatch.store import connections, rate_limit
from prwatch.store.database import Database, Transaction
from prwatch.store.rate_limit import RateLimitBlock

_EVER: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
STORE_SECONDS: Final = 5.0
"""How long a stopped cycle may take to store what it has just learnt."""


def name_payer(host: str, payer: str) -> str:
    """Return what the blocks of an account that pays are stored under."""
    return f"{host}/{payer}"


def name_connection(connection: Connection) -> str:
    """Return what blocks are stored under while nobody knows who pays."""
    return f"connection/{connection.id}/{connection.generation}"


async def list_blocks(database: Database) -> list[RateLimitBlock]:
    """Return all blocks, of whatever account, and those that have ended too."""

    async def read(tx: Transaction) -> list[RateLimitBlock]:
        return await rate_limit.list_blocks(tx, _EVER)

    return await database.read(read)


def choose_blocks(
    blocks: Iterable[RateLimitBlock], owned: Sequence[Connection], payer: str
) -> list[tuple[str, dt.datetime]]:
    """Return bucket and end of those blocks that bind an account's connections."""
    names = {name_connection(connection) for connection in owned}
    if payer:
        names |= {name_payer(connection.host, payer) for connection in owned}
    return [
        (block.bucket, block.blocked_until)
        for block in blocks
        if block.account in names
    ]


async def store_limits(database: Database, clock: Clock, account: Account) -> None:
    """
    Store who pays and what forbids calls, where either is news. Else nothing is done.

    Blocks that have ended are removed. A caller that is cancelled still stores: who
    stops in the middle must not forget that it was refused.
    """
    limits = account.github.limits
    known = StoredLimits(limits.payer, frozenset(limits.blocks.items()))
    if known == account.stored_limits:
        return
    with anyio.move_on_after(STORE_SECONDS, shield=True):
        await _store(database, clock.now(), account, known)
        account.stored_limits = known


async def _store(
    database: Database, now: dt.datetime, account: Account, known: StoredLimits
) -> None:
    workspace_ids = [workspace.id for workspace in account.workspaces]

    async def write(tx: Transaction) -> None:
        await rate_limit.remove_ended_blocks(tx, now)
        for workspace_id in workspace_ids:
            connection = await connections.find_connection(tx, workspace_id)
            if connection is None:
                continue
            name = name_connection(connection)
            if known.payer:
                await connections.put_account(tx, connection, known.payer)
                await rate_limit.remove_blocks(tx, name)
                name = name_payer(account.host, known.payer)
            for bucket, until in sorted(known.blocks):
                await rate_limit.put_block(tx, name, bucket, until)

    await database.transact(write)
