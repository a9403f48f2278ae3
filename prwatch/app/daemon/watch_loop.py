"""The daemon's main loop: poll, say what changed, sleep until something is due."""

import datetime as dt
from collections.abc import Callable
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.polling import poll, start
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import find_pause
from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.app.walk.due_times import list_due_times
from prwatch.domain.outcome import FailureClass
from prwatch.domain.schedule import next_wake
from prwatch.domain.timestamp import format_time

LONGEST_PAUSE: Final = dt.timedelta(seconds=15)
"""The loop shows that it lives at least this often, also when nothing is due."""

_log = structlog.get_logger()


class WatchLoop:
    """Polls all workspaces at their due times until it is cancelled."""

    name = "watch_cycle"
    is_critical = False

    def __init__(
        self,
        runtime: Runtime,
        registry: LoopRegistry,
        *,
        on_report: Callable[[CycleReport], None] = lambda _: None,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Poll; `on_report` hears what each cycle did.

        `on_start` is called when what the configuration declares is stored.
        """
        self._runtime = runtime
        self._registry = registry
        self._on_report = on_report
        self._on_start = on_start
        self._wake = anyio.Event()
        self._is_forced = False
        self._failures: frozenset[Failure] = frozenset()
        self._paused: frozenset[str] = frozenset()
        self.deadline: dt.timedelta | None = (
            runtime.settings.progress_deadline + LONGEST_PAUSE * 2
        )
        self.is_polling = False
        """Whether a cycle is under way."""
        self.last_report: CycleReport | None = None
        self.last_finished_at: dt.datetime | None = None

    def notify(self, *, is_forced: bool = False) -> None:
        """Look sooner: somebody changed what is to be watched, or asks."""
        self._is_forced = self._is_forced or is_forced
        self._wake.set()

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Poll until cancelled. A failing cycle is reported, not raised."""
        runtime = self._runtime
        runtime.on_progress = beat
        await start(runtime)
        self._on_start()
        async with anyio.create_task_group() as group:
            runtime.stragglers = Stragglers(group, on_end=self.notify)
            try:
                task_status.started()
                await self._poll_forever(beat)
            finally:
                runtime.stragglers = None

    async def _poll_forever(self, beat: Callable[[], None]) -> None:
        runtime = self._runtime
        late_by = dt.timedelta(0)
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            self._wake = anyio.Event()
            is_forced, self._is_forced = self._is_forced, False
            woke_at = runtime.clock.now()
            self.is_polling = True
            try:
                report = await poll(runtime, is_forced=is_forced)
            finally:
                self.is_polling = False
            self.last_report = report
            self.last_finished_at = runtime.clock.now()
            self._tell(report)
            self._on_report(report)
            self._registry.succeed(self.name)
            late_by = await self._pause(woke_at, beat)

    async def _pause(
        self, woke_at: dt.datetime, beat: Callable[[], None]
    ) -> dt.timedelta:
        """Wait for the next turn; return how late it comes, whatever the clock does."""
        runtime = self._runtime
        poll_section = runtime.config.poll
        jitter = poll_section.jitter * (runtime.surroundings.chance.random() * 2 - 1)
        wake_at = next_wake(
            await list_due_times(runtime),
            woke_at=woke_at,
            tick=poll_section.tick,
            longest=poll_section.interval,
            jitter=jitter,
        )
        due = (wake_at - runtime.clock.now()).total_seconds()
        due += runtime.clock.monotonic()
        while not self._wake.is_set():
            rest = wake_at - runtime.clock.now()
            if rest <= dt.timedelta(0):
                return dt.timedelta(seconds=runtime.clock.monotonic() - due)
            with anyio.move_on_after(min(rest, LONGEST_PAUSE).total_seconds()):
                await self._wake.wait()
            beat()
        return dt.timedelta(0)

    def _tell_pauses(self) -> None:
        """Log which workspaces wait for a limit or a reserve now, and no longer."""
        paused: dict[str, dt.datetime] = {}
        for account in self._runtime.wired.accounts:
            end = find_pause(account, self._runtime.settings.read_path)
            if end is not None:
                paused |= dict.fromkeys((w.name for w in account.workspaces), end)
        for name in sorted(paused.keys() - self._paused):
            until = format_time(paused[name])
            _log.warning("workspace.paused", workspace=name, until=until)
        for name in sorted(self._paused - paused.keys()):
            _log.info("workspace.resumed", workspace=name)
        self._paused = frozenset(paused)

    def _tell(self, report: CycleReport) -> None:
        """Log what is news: a quiet cycle like the last one is for debugging."""
        self._tell_pauses()
        # A cycle in which nothing is due meets no limit; it still holds.
        failures = frozenset(
            each
            for each in report.failures
            if each.failure_class is not FailureClass.LIMIT
        )
        for failure in sorted(failures - self._failures, key=str):
            _log.warning("reference.failed", **failure.as_json())
        for failure in find_recovered(self._failures, failures):
            _log.info("reference.recovered", **failure.as_json())
        self._failures = failures
        events = sum(report.events_by_type.values())
        log = _log.info if events else _log.debug
        log(
            "cycle.completed",
            cycle_id=report.cycle_id,
            duration_ms=report.duration_ms,
            references=len(report.references),
            graphql=report.usage.graphql,
            rest=report.usage.rest,
            points=report.usage.points,
            events=events,
            failures=len(report.failures),
        )


def find_recovered(
    before: frozenset[Failure], after: frozenset[Failure]
) -> list[Failure]:
    """
    Find the failures that are over, in a fixed order.

    What fails for another reason now has not recovered, and neither has anything in a
    workspace of which nothing can be polled.
    """
    failing = {(each.workspace, each.reference) for each in after}
    dark = {each.workspace for each in after if each.is_whole_workspace}
    over = (
        each
        for each in before - after
        if each.workspace not in dark
        and (each.workspace, each.reference) not in failing
    )
    return sorted(over, key=str)
