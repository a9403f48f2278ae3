"""The daemon's loop over the review queue."""

import datetime as dt
from collections.abc import Callable
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.review.queue import QueueReport, ReviewQueue
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.errors import StoreError

SHORTEST_PAUSE: Final = dt.timedelta(seconds=1)
LONGEST_PAUSE: Final = dt.timedelta(seconds=30)
"""A watch that somebody adds is searched after this time at the latest."""

_log = structlog.get_logger()


class ReviewLoop:
    """Searches each review watch when it is due, until it is cancelled."""

    name = "review_queue"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(self, runtime: Runtime, registry: LoopRegistry) -> None:
        self.queue = ReviewQueue(runtime)
        self._runtime = runtime
        self._registry = registry
        self._wake = anyio.Event()
        self._failures: dict[tuple[str, str], Failure] = {}

    def notify(self) -> None:
        """Look sooner: somebody changed what is searched for."""
        self._wake.set()

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Search at each turn until cancelled; a turn that fails waits for the next."""
        task_status.started()
        late_by = dt.timedelta(0)
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            self._wake = anyio.Event()
            rest = LONGEST_PAUSE
            try:
                self._tell(await self.queue.run_once(beat=beat))
                rest = await self._find_rest()
            except StoreError as error:
                self._registry.fail(self.name, error)
                _log.warning("review_queue.failed", code=error.code, message=str(error))
            else:
                self._registry.succeed(self.name)
            late_by = await self._pause(rest, beat)

    async def _find_rest(self) -> dt.timedelta:
        due_at = await self.queue.next_due_at()
        if due_at is None:
            return LONGEST_PAUSE
        rest = due_at - self._runtime.clock.now()
        return min(max(rest, SHORTEST_PAUSE), LONGEST_PAUSE)

    async def _pause(
        self, rest: dt.timedelta, beat: Callable[[], None]
    ) -> dt.timedelta:
        """Wait for the next turn, or for somebody; return how late it comes."""
        clock = self._runtime.clock
        due = clock.monotonic() + rest.total_seconds()
        with anyio.move_on_after(rest.total_seconds()):
            await self._wake.wait()
        beat()
        return dt.timedelta(seconds=max(0.0, clock.monotonic() - due))

    def _tell(self, report: QueueReport) -> None:
        """Log what is news: a failure once, its end, and each task that was made."""
        failures = {
            (each.workspace, each.reference): each
            for each in report.failures
            if each.failure_class is not FailureClass.LIMIT
        }
        for key, failure in failures.items():
            if self._failures.get(key) != failure:
                _log.warning("review_watch.failed", **failure.as_json())
        for key in report.outcomes.keys() - failures.keys():
            if (ended := self._failures.pop(key, None)) is not None:
                _log.info("review_watch.recovered", **ended.as_json())
        self._failures |= failures
        if report.created:
            _log.info("review_queue.completed", created=report.created)
