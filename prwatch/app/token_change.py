"""What follows when the source of a token holds another one than before."""

import contextlib
from dataclasses import replace

from prwatch.app.walk.cycle import Account, Cycle
from prwatch.errors import ConfigError, ProviderError
from prwatch.store import connections
from prwatch.store.database import Transaction


async def follow_token(cycle: Cycle, account: Account) -> None:
    """
    Look whether the token was replaced, and forget what belonged to the old one.

    That is whose it was, what it could not read, and the entity tags of its answers.
    What its limits forbid stays behind with the account that pays for it. A token that
    was replaced after a refusal, in the middle of a cycle, is noticed here too.
    """
    credential = account.github.credential
    # What is wrong with the source shows in use.
    with contextlib.suppress(ProviderError, ConfigError):
        await credential.reload()
    if credential.generation == account.generation:
        return
    account.generation = credential.generation
    account.viewer = None
    account.github.limits.forget()
    account.github.capabilities.forget_token()
    cycle.memory.forget_tags()
    await _renew_connections(cycle, account)


async def _renew_connections(cycle: Cycle, account: Account) -> None:
    workspace_ids = [workspace.id for workspace in account.workspaces]
    payer = account.github.limits.payer

    async def write(tx: Transaction) -> None:
        for workspace_id in workspace_ids:
            stored = await connections.find_connection(tx, workspace_id)
            if stored is not None:
                await connections.put_connection(
                    tx,
                    replace(stored, generation=stored.generation + 1, account=payer),
                )

    await cycle.database.transact(write)
