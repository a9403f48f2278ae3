"""When the next reference of each kind is due, over all accounts."""

import datetime as dt
from collections.abc import AsyncIterator

from prwatch.app.guard.admission import host_key, wait_until, workspace_key
from prwatch.app.runtime import Runtime
from prwatch.app.spending.stretching import adapt_settings
from prwatch.app.walk.account_walk import lists_due_at
from prwatch.app.walk.cycle import Account, find_pause
from prwatch.app.walk.turns import build_turn
from prwatch.domain.schedule import next_due


async def list_due_times(runtime: Runtime) -> list[dt.datetime]:
    """
    List when references are due next; empty when nothing is to be asked.

    An account that a limit forbids to call is due when the limit ends.
    """
    now = runtime.clock.now()
    await runtime.mirror.refresh()
    times: list[dt.datetime] = []
    for account in runtime.wired.accounts:
        if runtime.stragglers and runtime.stragglers.is_walking(account):
            continue  # it is asked already, and says when it has ended
        own = [time async for time in _iter_times(runtime, account, now)]
        if not own:
            continue
        blocked_until = find_pause(account, runtime.settings.read_path)
        first = min(own)
        times.append(max(first, blocked_until) if blocked_until else first)
    return times


async def _iter_times(
    runtime: Runtime, account: Account, now: dt.datetime
) -> AsyncIterator[dt.datetime]:
    host = runtime.circuits.find(host_key(account.host))
    settings = adapt_settings(runtime.settings, account)
    for workspace in account.workspaces:
        circuit = host or runtime.circuits.find(workspace_key(workspace))
        if circuit is not None:
            # Nothing of it is asked before, whatever is due.
            yield circuit.open_until
            continue
        view = await runtime.mirror.view(workspace)
        if view.snapshot.repository_watches:
            yield lists_due_at(account, settings, now)
        for watch in view.snapshot.watches:
            turn = build_turn(runtime.memory, view, watch, now=now)
            due_at = next_due(turn, now=now, intervals=settings.intervals)
            if due_at is not None:
                yield max(due_at, wait_until(runtime.circuits, view, watch) or due_at)
