"""The daemon's loop over the review tasks whose work may be done."""

import datetime as dt
from collections.abc import Callable

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.turns import pause
from prwatch.app.review.cleanup import Late, ReviewCleanup
from prwatch.app.review.cleanup_report import CleanupReport
from prwatch.app.runtime import Runtime
from prwatch.app.walk.stragglers import Stragglers
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_cleanup import CYCLE
from prwatch.errors import StoreError

_log = structlog.get_logger()


class CleanupLoop:
    """Sweeps every five minutes, first when it starts, until it is cancelled."""

    name = "review_cleanup"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(self, runtime: Runtime, registry: LoopRegistry) -> None:
        self.cleanup = ReviewCleanup(runtime)
        self._runtime = runtime
        self._registry = registry
        self._told: set[tuple[str, str, str]] = set()

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
                self._fail(error)
            else:
                self._tell(report)
                if report.error is None:
                    self._registry.succeed(self.name)
                else:
                    self._fail(report.error)
            late_by = await pause(self._runtime.clock, CYCLE, beat)

    def _fail(self, error: StoreError) -> None:
        self._registry.fail(self.name, error)
        _log.warning("review_cleanup.failed", code=error.code, message=str(error))

    def _tell(self, report: CleanupReport) -> None:
        """Log what went, and a failure once as long as it stays."""
        failures = {
            (each.workspace, each.reference, each.code): each
            for each in report.failures
            if each.failure_class is not FailureClass.LIMIT
        }
        for key in failures.keys() - self._told:
            _log.warning("review_task.unread", **failures[key].as_json())
        self._told = set(failures)
        for each in report.findings:
            if each.verdict == "deleted":
                _log.info("review_task.deleted", **each.as_json())
