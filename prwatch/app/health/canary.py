"""
Notices when watches silently stop to be looked at, although every cycle succeeds.

It does not ask the walk how it went. It looks at the stored watches and at when each
was last seen well; what is too old for no reason that anybody knows is our fault.
"""

import datetime as dt
from collections.abc import Callable
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.turns import pause
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.polling import build_cycle
from prwatch.app.runtime import Runtime
from prwatch.app.walk.ages import scan_ages
from prwatch.domain.freshness import AgeReport, StaleReason
from prwatch.errors import StoreError
from prwatch.store.gauges import count_watches

INTERVAL: Final = dt.timedelta(minutes=1)

_log = structlog.get_logger()


class Canary:
    """
    A service that looks once a minute.

    Only what two looks running find counts. A look while one long cycle goes on says
    nothing: what that cycle has not come to yet is not forgotten. `unexplained` is
    how many watches are stale for no reason, 0 while all is well.
    """

    name = "canary"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(
        self, runtime: Runtime, registry: LoopRegistry, loop: WatchLoop
    ) -> None:
        self.ages: AgeReport | None = None
        self.unexplained = 0
        self._runtime = runtime
        self._registry = registry
        self._loop = loop
        self._suspected = 0
        self._seen_end: dt.datetime | None = None

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Look at each turn until cancelled; a store that fails is told, not raised."""
        task_status.started()
        late_by = dt.timedelta(0)
        while True:
            late_by = await pause(self._runtime.clock, INTERVAL, beat)
            self._registry.begin_turn(self.name, late_by=late_by)
            try:
                await self.look()
            except StoreError as error:
                self._registry.fail(self.name, error)
            else:
                self._registry.succeed(self.name)

    async def look(self) -> None:
        """
        Look once.

        Raises:
            StoreError: The stored watches cannot be read.
        """
        ended_at = self._loop.last_finished_at
        is_conclusive = not self._loop.is_polling or ended_at != self._seen_end
        self._seen_end = ended_at
        self.ages = await self._scan()
        if not is_conclusive:
            return
        found = self.ages.overdue.get(StaleReason.UNEXPLAINED, 0)
        found += await self._count_unknown()
        confirmed = found if self._suspected else 0
        self._suspected = found
        self._tell(confirmed)
        self.unexplained = confirmed

    async def _scan(self) -> AgeReport:
        """Return the ages: those of a cycle that just looked, else by a look."""
        runtime, now = self._runtime, self._runtime.clock.now()
        known = runtime.ages
        if known is not None and now - INTERVAL < known.measured_at <= now:
            return known
        return await scan_ages(build_cycle(runtime, now), runtime.wired.accounts)

    async def _count_unknown(self) -> int:
        """Count the stored watches that nobody holds in memory, and so nobody asks."""
        runtime = self._runtime
        stored = await runtime.database.read(count_watches)
        unknown = 0
        for account in runtime.wired.accounts:
            for workspace in account.workspaces:
                view = await runtime.mirror.view(workspace)
                known = len(view.snapshot.watches)
                unknown += max(0, stored.get(workspace.id, 0) - known)
        return unknown

    def _tell(self, unexplained: int) -> None:
        if unexplained and not self.unexplained:
            _log.error("watches.stale", watches=unexplained)
        elif self.unexplained and not unexplained:
            _log.info("watches.fresh")
