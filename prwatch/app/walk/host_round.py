"""One cycle over the accounts of one host, behind its circuits."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import anyio

from prwatch.app.guard.admission import host_key, workspace_key
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.walk.account_outcome import (
    AccountOutcome,
    record_outcomes,
    report_outcome,
)
from prwatch.app.walk.account_walk import walk_account
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.app.walk.reconciliation import Worktrees, reconcile
from prwatch.domain.circuit import CircuitState
from prwatch.domain.task import Workspace


class HostRound:
    """
    One cycle over the accounts of one host.

    While the host's circuit waits for its probe one account goes first, and the
    others follow when that got through. With `stragglers` nobody waits long for an
    account that is slow.
    """

    def __init__(
        self,
        cycle: Cycle,
        host: str,
        worktrees: Worktrees,
        limiter: anyio.CapacityLimiter,
        *,
        is_alone: bool,
        stragglers: Stragglers[CycleReport] | None = None,
    ) -> None:
        """Poll a host; an account that `is_alone` has no other on it, late or not."""
        self._is_alone = is_alone
        self._cycle = cycle
        self._host = host
        self._worktrees = worktrees
        self._limiter = limiter
        self._stragglers = stragglers

    async def poll(self, accounts: Sequence[Account]) -> None:
        """Poll those accounts that are not left out."""
        circuits, key = self._cycle.circuits, host_key(self._host)
        failed = circuits.failed_accounts[self._host]
        # Whoever did not fail yet is the better probe: it may have been the token.
        waiting = sorted(accounts, key=lambda account: account.key in failed)
        if circuits.find(key) is not None:
            is_admitted = circuits.admit(key)
            while is_admitted and waiting and circuits.find(key) is not None:
                has_ended = await self._walk([waiting.pop(0)], is_probe=True)
                probe = circuits.find(key)
                is_admitted = has_ended and (
                    probe is not None and probe.state is CircuitState.HALF_OPEN
                )
            if circuits.find(key) is not None:
                for account in waiting:
                    await self._leave_out(account.workspaces)
                return
        await self._walk(waiting)

    async def _walk(
        self, accounts: Sequence[Account], *, is_probe: bool = False
    ) -> bool:
        """
        Walk accounts side by side and record what that came to.

        Returns whether all have ended. One that is late records its own end.
        """
        outcomes: list[AccountOutcome] = []
        is_over = False

        async def walk_one(account: Account) -> None:
            outcome, report = await self._poll_account(account)
            if not is_over:
                outcomes.append(outcome)
                self._cycle.report.absorb(report)
                return
            assert self._stragglers is not None  # noqa: S101 - else nobody is late
            self._stragglers.hand_in(report)
            late = replace(self._cycle, report=report)
            self._record(late, [outcome], is_probe=is_probe)

        await self._run(accounts, walk_one)
        is_over = True
        self._record(self._cycle, outcomes, is_probe=is_probe)
        return len(outcomes) == len(accounts)

    def _record(
        self, cycle: Cycle, outcomes: Sequence[AccountOutcome], *, is_probe: bool
    ) -> None:
        record_outcomes(
            cycle,
            self._host,
            outcomes,
            is_probe=is_probe,
            is_alone=self._is_alone,
        )

    async def _run(
        self,
        accounts: Sequence[Account],
        walk: Callable[[Account], Coroutine[Any, Any, None]],
    ) -> None:
        if self._stragglers is not None:
            await self._stragglers.walk(accounts, walk)
            return
        async with anyio.create_task_group() as group:
            for account in accounts:
                group.start_soon(walk, account)

    async def _poll_account(
        self, account: Account
    ) -> tuple[AccountOutcome, CycleReport]:
        """Return what became of an account, and what was done for it."""
        report = CycleReport(
            cycle_id=self._cycle.report.cycle_id,
            started_at=self._cycle.report.started_at,
        )
        async with self._limiter:
            circuits = self._cycle.circuits
            admitted = tuple(
                workspace
                for workspace in account.workspaces
                if circuits.admit(workspace_key(workspace))
            )
            left = [each for each in account.workspaces if each not in admitted]
            await self._leave_out(left)
            outcome = AccountOutcome(account=account, workspaces=(), is_answered=False)
            if admitted:
                cycle = replace(self._cycle, report=report)
                outcome = await walk_account(cycle, account, admitted, self._worktrees)
                report_outcome(cycle, outcome)
        return outcome, report

    async def _leave_out(self, workspaces: Sequence[Workspace]) -> None:
        """Keep the rows in line with the tasks, and count what is not asked."""
        cycle = self._cycle
        for workspace in workspaces:
            view = await cycle.mirror.view(workspace)
            view = await reconcile(cycle, view, self._worktrees)
            cycle.report.skipped["circuit"] += len(view.snapshot.watches)
