"""
Accounts whose walk takes longer than a cycle waits: the others do not wait for them.

A hanging host, or the first reading of thousands of pull requests, is nobody else's
matter. Such an account goes on beside the next cycles, is left out of them until it
has ended, and what it did is counted in the cycle after that.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from prwatch.app.walk.cycle import Account

PATIENCE_SECONDS: Final = 5.0
"""How long a cycle waits for the slowest of several accounts."""


Report = TypeVar("Report")


class Stragglers(Generic[Report]):
    """
    The walks that are under way, in a task group that outlives single cycles.

    `on_end` is called when one ends that was not waited for.
    """

    def __init__(self, group: TaskGroup, on_end: Callable[[], None]) -> None:
        self._group = group
        self._on_end = on_end
        self._walking: dict[str, Account] = {}
        self._reports: list[Report] = []

    @property
    def accounts(self) -> tuple[Account, ...]:
        """Return the accounts that are being walked now."""
        return tuple(self._walking.values())

    def is_walking(self, account: Account) -> bool:
        """Return whether an account is still being walked."""
        return account.key in self._walking

    async def walk(
        self,
        accounts: Sequence[Account],
        walk: Callable[[Account], Coroutine[Any, Any, None]],
    ) -> None:
        """Walk accounts side by side, and return when all ended or patience did."""
        left = {account.key for account in accounts}
        all_ended = anyio.Event()

        async def run(account: Account) -> None:
            try:
                await walk(account)
            finally:
                del self._walking[account.key]
                left.discard(account.key)
                if not left:
                    all_ended.set()
            if is_over:
                self._on_end()

        is_over = False
        for account in accounts:
            self._walking[account.key] = account
            self._group.start_soon(run, account)
        if accounts:
            with anyio.move_on_after(PATIENCE_SECONDS):
                await all_ended.wait()
        is_over = True

    def hand_in(self, report: Report) -> None:
        """Keep what a late walk did, to be counted in the next cycle."""
        self._reports.append(report)

    def take_reports(self) -> list[Report]:
        """Return what late walks have handed in since the last call."""
        reports, self._reports = self._reports, []
        return reports


async def run_beside(
    accounts: Sequence[Account],
    work: Callable[[Account], Coroutine[Any, Any, None]],
    stragglers: Stragglers[Report] | None,
) -> None:
    """Work through accounts side by side; with `stragglers` until patience ends."""
    if stragglers is not None:
        await stragglers.walk(accounts, work)
        return
    async with anyio.create_task_group() as group:
        for account in accounts:
            group.start_soon(work, account)
