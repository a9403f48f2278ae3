"""The daemon's loop over the review tasks whose work may be done."""

import datetime as dt
from collections.abc import Callable

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.cleanup.cleanup import Late, ReviewCleanup
from prwatch.app.cleanup.report import CleanupReport
from prwatch.app.daemon.loop_outcome import LoopOutcome
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.told_failures import ToldFailures
from prwatch.app.daemon.turns import pause
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.review_cleanup import CYCLE
from prwatch.errors import StoreError

_log = structlog.get_logger()


class CleanupLoop:
    """Sweeps every five minutes, first when it starts, until it is cancelled."""

    name = "review_cleanup"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(self, runtime: Runtime, registry: LoopRegistry) -> None:
        self.cleanup = ReviewCleanup(runtime, is_lasting=True)
        self._runtime = runtime
        self._registry = registry
        self._told = ToldFailures()
        self._outcome = LoopOutcome(registry, self.name)

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Sweep at each turn until cancelled; a turn that fails waits for the next."""
        async with anyio.create_task_group() as group:
            task_status.started()
            await self._sweep_forever(beat, Stragglers(group, on_end=lambda: None))

    async def _sweep_forever(self, beat: Callable[[], None], late: Late) -> None:
        late_by = dt.timedelta(0)
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            try:
                report = await self.cleanup.run_once(beat=beat, stragglers=late)
            except StoreError as error:
                self._outcome.fail(error)
            else:
                self._tell(report)
                if report.error is None:
                    self._outcome.succeed()
                else:
                    self._outcome.fail(report.error)
            late_by = await pause(self._runtime.clock, CYCLE, beat)

    def _tell(self, report: CleanupReport) -> None:
        """Log what went, and a failure once as long as it stays, and when it ended."""
        begun, ended = self._told.take(report)
        self._told.keep_workspaces(
            {each.name for each in self._runtime.wired.workspaces.values()}
        )
        for failure in begun:
            _log.warning(_name(failure, "unread", "stopped"), **failure.as_json())
        for failure in ended:
            _log.info(_name(failure, "recovered", "recovered"), **failure.as_json())
        for each in report.findings:
            if each.verdict == "deleted":
                _log.info("review_task.deleted", **each.as_json())


def _name(failure: Failure, of_task: str, of_all: str) -> str:
    """Return how it is logged: a failure is of one task, or ends a whole sweep."""
    if failure.reference:
        return f"review_task.{of_task}"
    return f"review_cleanup.{of_all}"
