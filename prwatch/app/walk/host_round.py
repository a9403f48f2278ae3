"""One cycle over the accounts of one host, behind its circuits."""

from collections.abc import Sequence

import anyio

from prwatch.app.walk.account_outcome import (
    AccountOutcome,
    record_outcomes,
    report_outcome,
)
from prwatch.app.walk.account_walk import walk_account
from prwatch.app.walk.admission import (
    host_key,
    workspace_key,
)
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.app.walk.reconciliation import Worktrees, reconcile
from prwatch.domain.circuit import CircuitState
from prwatch.domain.task import Workspace


class HostRound:
    """
    One cycle over the accounts of one host.

    While the host's circuit waits for its probe one account goes first, and the
    others follow when that got through.
    """

    def __init__(
        self,
        cycle: Cycle,
        host: str,
        worktrees: Worktrees,
        limiter: anyio.CapacityLimiter,
    ) -> None:
        self._cycle = cycle
        self._host = host
        self._worktrees = worktrees
        self._limiter = limiter

    async def poll(self, accounts: Sequence[Account]) -> None:
        """Poll those accounts that are not left out."""
        circuits, key = self._cycle.circuits, host_key(self._host)
        waiting = list(accounts)
        if circuits.find(key) is not None:
            is_admitted = circuits.admit(key)
            while is_admitted and waiting and circuits.find(key) is not None:
                outcome = await self._poll_account(waiting.pop(0))
                record_outcomes(self._cycle, self._host, [outcome], is_probe=True)
                probe = circuits.find(key)
                is_admitted = probe is not None and (
                    probe.state is CircuitState.HALF_OPEN
                )
            if circuits.find(key) is not None:
                for account in waiting:
                    await self._leave_out(account.workspaces)
                return
        outcomes: list[AccountOutcome] = []

        async def poll_one(account: Account) -> None:
            outcomes.append(await self._poll_account(account))

        async with anyio.create_task_group() as group:
            for account in waiting:
                group.start_soon(poll_one, account)
        record_outcomes(self._cycle, self._host, outcomes)

    async def _poll_account(self, account: Account) -> AccountOutcome:
        async with self._limiter:
            circuits = self._cycle.circuits
            admitted = tuple(
                workspace
                for workspace in account.workspaces
                if circuits.admit(workspace_key(workspace))
            )
            left = [each for each in account.workspaces if each not in admitted]
            await self._leave_out(left)
            if not admitted:
                return AccountOutcome(account=account, workspaces=(), is_answered=False)
            outcome = await walk_account(
                self._cycle, account, admitted, self._worktrees
            )
            report_outcome(self._cycle, outcome)
            return outcome

    async def _leave_out(self, workspaces: Sequence[Workspace]) -> None:
        """Keep the rows in line with the tasks, and count what is not asked."""
        cycle = self._cycle
        for workspace in workspaces:
            view = await cycle.mirror.view(workspace)
            view = await reconcile(cycle, view, self._worktrees)
            cycle.report.skipped["circuit"] += len(view.snapshot.watches)
