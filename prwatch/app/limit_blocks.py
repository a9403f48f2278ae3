"""Stored rate-limit blocks: a restart does not call while a limit forbids it."""

import datetime as dt
from collections.abc import Mapping

from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.store import connections, rate_limit
from prwatch.store.database import Transaction
from prwatch.store.rate_limit import RateLimitBlock


async def restore_blocks(runtime: Runtime) -> None:
    """Let each account know the blocks that were stored for its connections."""
    now = runtime.clock.now()

    async def read(tx: Transaction) -> list[RateLimitBlock]:
        return await rate_limit.list_blocks(tx, now)

    blocks = await runtime.database.read(read)
    if not blocks:
        return
    for account in runtime.wired.accounts:
        names = await _list_names(runtime, account)
        account.github.limits.add_blocks(
            (block.bucket, block.blocked_until)
            for block in blocks
            if block.account in names
        )


async def store_blocks(runtime: Runtime) -> None:
    """Store the blocks that hold now. Without any, nothing is read or written."""
    for account in runtime.wired.accounts:
        blocks = dict(account.github.limits.blocks)
        if blocks:
            names = await _list_names(runtime, account)
            await _store(runtime, names, blocks)


async def _store(
    runtime: Runtime, names: set[str], blocks: Mapping[str, dt.datetime]
) -> None:
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        await rate_limit.remove_ended_blocks(tx, now)
        for name in sorted(names):
            for bucket, until in blocks.items():
                await rate_limit.put_block(tx, name, bucket, until)

    await runtime.database.transact(write)


async def _list_names(runtime: Runtime, account: Account) -> set[str]:
    """Return what blocks of this account are stored under: its connections."""

    async def read(tx: Transaction) -> set[str]:
        names = set()
        for workspace in account.workspaces:
            connection = await connections.find_connection(tx, workspace.id)
            if connection is not None:
                names.add(f"connection/{connection.id}/{connection.generation}")
        return names

    return await runtime.database.read(read)
