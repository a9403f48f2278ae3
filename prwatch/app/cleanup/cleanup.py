"""
Cleaning up: review tasks whose work is done go by themselves, and nothing else does.

What the rows themselves tell comes first and asks nobody. Then limits and circuits
are looked at, before a token is asked for; then what is left is read, a hundred pull
requests a request. A failure of a whole request ends a workspace's turn, and its next
turn begins behind what it failed with.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import anyio

from prwatch.app.cleanup.circuits import Blow, CleanupCircuit, CleanupCircuits
from prwatch.app.cleanup.removal import forget_old_records
from prwatch.app.cleanup.report import CleanupReport
from prwatch.app.cleanup.sights import Sights
from prwatch.app.cleanup.sweep_order import SCHEDULED, SweepOrder
from prwatch.app.cleanup.turn import Sweep, Turn
from prwatch.app.cleanup.workspace_sweep import read_and_remove, settle_locally
from prwatch.app.guard.stragglers import Stragglers, run_beside
from prwatch.app.review.logins import Logins
from prwatch.app.runtime import Runtime
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.walk.cycle import Account, is_read_by_rest
from prwatch.app.walk.watch_cycle import ACCOUNTS_AT_ONCE
from prwatch.domain.connection import Connection
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_cleanup import SweptTask
from prwatch.domain.task import Workspace
from prwatch.errors import RateLimited, StoreError
from prwatch.github.reserve import keep_reserve
from prwatch.store import connections
from prwatch.store.database import Transaction
from prwatch.store.review_sweep import list_swept

BUCKETS: Final = ("core", "graphql")
"""The shared budget, and the one that a reading costs."""


Late: TypeAlias = Stragglers[CleanupReport]


class ReviewCleanup:
    """
    Sweeps the review tasks of an open product, and remembers what it met.

    One that `is_lasting` sweeps again and again: it trusts no other's clock.
    """

    def __init__(self, runtime: Runtime, *, is_lasting: bool = False) -> None:
        self.circuits = CleanupCircuits(runtime.clock, runtime.surroundings.chance)
        self.deleted = 0
        """Tasks that went since the start."""
        self._runtime = runtime
        self._logins = Logins()
        self._sights = Sights(runtime.clock, is_lasting=is_lasting)
        self._stopped: dict[str, tuple[tuple[str, ...], str]] = {}
        """Behind which task the next turn of a workspace begins."""

    async def run_once(
        self,
        order: SweepOrder = SCHEDULED,
        *,
        beat: Callable[[], None] = lambda: None,
        stragglers: Late | None = None,
    ) -> CleanupReport:
        """
        Sweep all workspaces once, account beside account.

        A failure of one leaves the others alone; what the store could not do for one
        is told in the report. With `stragglers` no account is waited for that is slow:
        what it did stands in a later report.

        Raises:
            StoreError: The store cannot be read at all.
        """
        runtime = self._runtime
        circuits = self._spare() if order.is_dry else self.circuits
        await self._begin(circuits)
        accounts = [
            account
            for account in runtime.wired.accounts
            if not (stragglers and stragglers.is_walking(account))
        ]
        # One account alone keeps nobody waiting.
        beside = stragglers if len(runtime.wired.accounts) > 1 else None
        own = {account.key: CleanupReport() for account in accounts}
        limiter = anyio.CapacityLimiter(ACCOUNTS_AT_ONCE)
        is_over = False

        async def sweep_one(account: Account) -> None:
            async with limiter:
                sweep = self._build_sweep(order, circuits, own[account.key], beat)
                await self._sweep_account(account, sweep, order)
            if is_over and beside is not None:
                beside.hand_in(own.pop(account.key))

        await run_beside(accounts, sweep_one, beside)
        is_over = True
        report = CleanupReport()
        for account in accounts:
            if not (beside and beside.is_walking(account)):
                report.absorb(own[account.key])
        for late in stragglers.take_reports() if stragglers else ():
            report.absorb(late)
        if not order.is_dry:
            try:
                await forget_old_records(runtime, runtime.clock.now())
            except StoreError as error:
                # What the sweep itself came to is told all the same.
                report.fail_record(error)
        return report

    def _build_sweep(
        self,
        order: SweepOrder,
        circuits: CleanupCircuits,
        report: CleanupReport,
        beat: Callable[[], None],
    ) -> Sweep:
        return Sweep(
            runtime=self._runtime,
            circuits=circuits,
            report=report,
            logins=self._logins,
            sights=self._sights,
            by=order.by,
            is_dry=order.is_dry,
            beat=beat,
        )

    def _spare(self) -> CleanupCircuits:
        """Return circuits that nobody keeps: a dry run opens and closes none."""
        return CleanupCircuits(self._runtime.clock, self._runtime.surroundings.chance)

    async def _sweep_account(
        self, account: Account, sweep: Sweep, order: SweepOrder
    ) -> None:
        runtime, report = self._runtime, sweep.report
        for workspace in account.workspaces:
            if order.workspace not in ("", workspace.name):
                continue
            try:
                await self._sweep(sweep, account, workspace, order)
            except StoreError as error:
                report.fail_store(workspace, error)
        if order.is_dry:
            return
        try:
            await store_limits(runtime.database, runtime.clock, account)
        except StoreError as error:
            report.fail_store(account.workspaces[0], error)
        self.deleted += report.deleted

    async def _begin(self, circuits: CleanupCircuits) -> None:
        """Look at the connections of all workspaces; no token is asked for."""
        present = [
            connection
            for account in self._runtime.wired.accounts
            for workspace in account.workspaces
            if (connection := await self.find_connection(workspace)) is not None
        ]
        circuits.begin_sweep({each.id: each.fingerprint for each in present})

    async def find_connection(self, workspace: Workspace) -> Connection | None:
        """Return a workspace's connection, by whose id its circuit is kept."""

        async def read(tx: Transaction) -> Connection | None:
            return await connections.find_connection(tx, workspace.id)

        return await self._runtime.database.read(read)

    async def _sweep(
        self, sweep: Sweep, account: Account, workspace: Workspace, order: SweepOrder
    ) -> None:
        async def read(tx: Transaction) -> list[SweptTask]:
            return await list_swept(tx, workspace.id)

        found = await self._runtime.database.read(read)
        connection = await self.find_connection(workspace)
        if connection is None:
            return
        row_ids = [each.row.id for swept in found for each in swept.rows]
        sweep.circuits.keep_records(connection.id, row_ids)
        self._sights.keep_rows(workspace.id, row_ids)
        sweep.report.swept.add(workspace.name)
        turn = Turn(
            sweep=sweep,
            account=account,
            workspace=workspace,
            connection_id=connection.id,
            is_asked=order.is_asked,
        )
        left = await settle_locally(turn, [each for each in found if order.takes(each)])
        if not left or not self._admits(turn, left):
            return
        await self._read_rest(turn, left)

    def _admits(self, turn: Turn, left: list[SweptTask]) -> bool:
        """Return whether a workspace may be asked at all; what it skips is told."""
        account, circuits = turn.account, turn.sweep.circuits
        if is_read_by_rest(account, self._runtime.settings.read_path):
            turn.skip(left, "review tasks are read through GraphQL alone")
            return False
        if turn.is_asked:
            return True
        ends = [account.github.limits.blocked_until(bucket) for bucket in BUCKETS]
        blocked = [end for end in ends if end is not None]
        if blocked:
            circuits.count_skips(CleanupCircuit.SHARED, FailureClass.LIMIT, len(left))
            blow = Blow(
                failure_class=FailureClass.LIMIT,
                code=RateLimited.code,
                message="a rate limit forbids it",
            )
            turn.fail("", blow)
            turn.skip(left, blow.message, max(blocked))
            return False
        standing = circuits.find(turn.connection_id)
        if standing is not None:
            failure_class = standing.blow.failure_class
            circuits.count_skips(CleanupCircuit.SHARED, failure_class, len(left))
            turn.skip(left, standing.blow.message, standing.open_until)
            return False
        return True

    async def _read_rest(self, turn: Turn, left: list[SweptTask]) -> None:
        key, is_dry = turn.workspace.id, turn.sweep.is_dry
        ordered = sorted(left, key=_place)
        stopped = self._stopped.get(key)
        if not is_dry:
            self._stopped.pop(key, None)
        if stopped is not None:
            behind = [each for each in ordered if _place(each) > stopped]
            ordered = behind + [each for each in ordered if _place(each) <= stopped]
        if turn.is_asked:
            at = await read_and_remove(turn, ordered)
        else:
            with keep_reserve():
                at = await read_and_remove(turn, ordered)
        if at is not None and not is_dry:
            self._stopped[key] = _place(at)


def _place(swept: SweptTask) -> tuple[tuple[str, ...], str]:
    """Tasks of the same logins stand together: they share requests."""
    return swept.logins, swept.rows[0].row.id
