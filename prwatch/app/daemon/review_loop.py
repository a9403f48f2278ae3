"""The daemon's loop over the review queue."""

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeVar

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_outcome import LoopOutcome
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.review.queue import Late, ReviewQueue
from prwatch.app.review.queue_report import QueueReport
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.errors import StoreError

T = TypeVar("T")
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
        self._unread: dict[tuple[str, str], str] = {}
        self._unreadable: frozenset[tuple[str, str]] = frozenset()
        self._outcome = LoopOutcome(registry, self.name)

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
        async with anyio.create_task_group() as group:
            task_status.started()
            await self._search_forever(beat, Stragglers(group, on_end=self.notify))

    async def _search_forever(self, beat: Callable[[], None], late: Late) -> None:
        late_by = dt.timedelta(0)
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            self._wake = anyio.Event()
            rest = LONGEST_PAUSE
            try:
                report = await self.queue.run_once(beat=beat, stragglers=late)
                self._tell(report)
                if report.error is not None:
                    raise report.error
                rest = await self._find_rest(late)
            except StoreError as error:
                self._outcome.fail(error)
            else:
                self._outcome.succeed()
            late_by = await self._pause(rest, beat)

    async def _find_rest(self, late: Late) -> dt.timedelta:
        due_at = await self.queue.next_due_at(late)
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
        """
        Log what is news: a failure once, its end, and each task that was made.

        What is searched no more is forgotten.
        """
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
        self._tell_unread(report)
        self._failures = _keep(self._failures, report.enabled)
        self._unread = _keep(self._unread, report.enabled)
        self._tell_unreadable(report)
        if report.created:
            _log.info("review_queue.completed", created=report.created)

    def _tell_unread(self, report: QueueReport) -> None:
        """Log which hits became no task, and why, once as long as it stays so."""
        for key, outcome in report.outcomes.items():
            text = outcome.told_problems
            if text and self._unread.get(key) != text:
                _log.warning(
                    "review_watch.unread",
                    workspace=key[0],
                    reference=key[1],
                    message=text,
                )
            self._unread[key] = text

    def _tell_unreadable(self, report: QueueReport) -> None:
        """Log a watch whose row cannot be read once, as long as it stays so."""
        names = {each.id: each.name for each in self._runtime.wired.workspaces.values()}
        now = {(each.id, each.problem): each for each in report.unreadable}
        for key in now.keys() - self._unreadable:
            _log.warning(
                "review_watch.unreadable",
                workspace=names.get(now[key].workspace_id, ""),
                name=now[key].name,
                message=now[key].problem,
            )
        self._unreadable = frozenset(now)


def _keep(
    told: Mapping[tuple[str, str], T], enabled: Collection[tuple[str, str]]
) -> dict[tuple[str, str], T]:
    return {key: each for key, each in told.items() if key in enabled}
