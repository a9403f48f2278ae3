"""One cycle: reconcile each workspace, then walk each account's references."""

from collections import defaultdict
from collections.abc import Sequence

import anyio

from prwatch.app.guard.admission import (
    name_list,
    name_repository,
)
from prwatch.app.guard.circuits import close_abandoned
from prwatch.app.guard.notices import tell_transitions
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.spending.stretching import (
    is_guessed,
    plan_stretches,
)
from prwatch.app.token_change import follow_token
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.app.walk.finished_walk import build_memory_key
from prwatch.app.walk.host_round import HostRound
from prwatch.app.walk.reconciliation import Worktrees
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.reconcile import list_finished_links

ACCOUNTS_AT_ONCE = 8


async def run_cycle(
    cycle: Cycle,
    accounts: Sequence[Account],
    worktrees: Worktrees,
    stragglers: Stragglers[CycleReport] | None = None,
) -> None:
    """
    Poll every account once. With `stragglers`, wait for none that is slow.

    A failure of one account is reported and leaves the others alone. What was
    committed before it stays. Connections are looked at first, and whatever circuit
    is open is left out before a token is asked for.
    """
    started = cycle.clock.monotonic()
    late = stragglers.accounts if stragglers else ()
    walking = {account.key for account in late}
    present = [account for account in accounts if account.key not in walking]
    async with anyio.create_task_group() as group:
        for account in present:
            group.start_soon(follow_token, cycle, account)
    await cycle.mirror.refresh()
    cycle.circuits.begin_cycle(
        await _read_fingerprints(cycle, accounts), busy=_list_busy(late)
    )
    if not cycle.is_forced:
        await plan_stretches(cycle, accounts)
    limiter = anyio.CapacityLimiter(ACCOUNTS_AT_ONCE)
    hosts: defaultdict[str, list[Account]] = defaultdict(list)
    for account in present:
        hosts[account.host].append(account)
    # One account alone keeps nobody waiting.
    beside = stragglers if len(accounts) > 1 else None
    async with anyio.create_task_group() as group:
        for host, residents in hosts.items():
            host_round = HostRound(
                cycle,
                host,
                worktrees,
                limiter,
                is_alone=sum(account.host == host for account in accounts) == 1,
                stragglers=beside,
            )
            group.start_soon(host_round.poll, residents)
    for report in stragglers.take_reports() if stragglers else ():
        cycle.report.absorb(report)
    await _count_watches(cycle, accounts)
    if not cycle.is_forced:
        await plan_stretches(cycle, [each for each in accounts if is_guessed(each)])
    cycle.circuits.keep_only(CircuitKind.HOST, {each.host for each in accounts})
    close_abandoned(cycle.circuits, cycle.now())
    for failure in cycle.circuits.list_shown():
        cycle.report.add_failure(failure)
    await tell_transitions(cycle, accounts, cycle.circuits.news.take())
    cycle.report.references.close()
    cycle.report.duration_ms = round((cycle.clock.monotonic() - started) * 1000)


def _list_busy(late: Sequence[Account]) -> set[str]:
    """List the workspaces and hosts whose probes are still on their way."""
    workspaces = {each.id for account in late for each in account.workspaces}
    return workspaces | {account.host for account in late}


async def _read_fingerprints(
    cycle: Cycle, accounts: Sequence[Account]
) -> dict[str, str]:
    """Return what each present workspace's connection is now."""
    found = {}
    for account in accounts:
        for workspace in account.workspaces:
            view = await cycle.mirror.view(workspace)
            connection = view.snapshot.connection
            found[workspace.id] = connection.fingerprint if connection else ""
    return found


async def _count_watches(cycle: Cycle, accounts: Sequence[Account]) -> None:
    await cycle.mirror.refresh()
    views = [
        await cycle.mirror.view(workspace)
        for account in accounts
        for workspace in account.workspaces
    ]
    for view in views:
        cycle.report.watches_searching += len(view.searching)
        cycle.report.watches_discovered += len(view.discovered)
    if all(view.is_counted for view in views):
        return  # nothing was written since: what is remembered is what is watched
    kept: list[str] = []
    for view in views:
        view.is_counted = True
        kept.extend(watch.id for watch in view.snapshot.watches)
        kept.extend(map(build_memory_key, list_finished_links(view.snapshot)))
        kept.extend(map(name_list, view.snapshot.repository_watches))
        kept.extend(name_repository(row.id) for row in view.snapshot.repositories)
    cycle.memory.keep_only(kept)
    if len(cycle.circuits):
        cycle.circuits.keep_only(CircuitKind.RECORD, set(kept))
