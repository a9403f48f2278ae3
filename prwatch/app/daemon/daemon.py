"""
The running product: its services, and what a reload exchanges of them.

The lock, the control socket and the watchdog live as long as the process. The watch
loop, the relays and the retention belong to one configuration; a reload opens the
new one first, so that a configuration that does not work changes nothing.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.abc import TaskStatus

from prwatch.app.daemon.cleanup_loop import CleanupLoop
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.reload import Reloader
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.daemon.service import Service
from prwatch.app.daemon.signals import receive_signals
from prwatch.app.daemon.supervisor import Supervisor
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.health.canary import Canary
from prwatch.app.health.report import gather_facts
from prwatch.app.health.status_line import build_status_line
from prwatch.app.meter.gauges import Gauges
from prwatch.app.meter.metering import (
    count_report,
    follow_cleanup,
    follow_loops,
    follow_reviews,
    follow_totals,
)
from prwatch.app.meter.sync_metering import follow_sync
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.polling import build_retention
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.app.sync.sync_loop import SyncLoop
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.config.loader import LoadedConfig
from prwatch.domain.health import judge
from prwatch.errors import ConfigError, StoreError
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Labels, Meter, RunningTotals
from prwatch.telemetry.systemd import SystemdNotifier

RELAY_DEADLINE: Final = dt.timedelta(minutes=5)
CLOSE_SECONDS: Final = 5.0


class RelayService:
    """One sink's relay as a service: it finishes what is under way when stopped."""

    is_critical = False
    deadline: dt.timedelta | None = RELAY_DEADLINE

    def __init__(self, relay: OutboxRelay) -> None:
        self._relay = relay
        self.name = f"relay {relay.name}"

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Deliver until stopped or cancelled."""
        task_status.started()
        await self._relay.run(beat)

    def stop(self) -> None:
        """Take nothing more."""
        self._relay.stop()


@dataclass(frozen=True, slots=True)
class Shift:
    """One configuration at work: its runtime, its services, and how it is closed."""

    runtime: Runtime
    loop: WatchLoop
    reviews: ReviewLoop
    cleanup: CleanupLoop
    gauges: Gauges
    canary: Canary
    totals: RunningTotals
    services: tuple[Service, ...]
    stack: contextlib.AsyncExitStack


async def open_shift(
    loaded: LoadedConfig,
    surroundings: Surroundings,
    registry: LoopRegistry,
    meter: Meter,
) -> Shift:
    """
    Open a configuration and build its services; nothing runs yet.

    Raises:
        ConfigError, StoreError: It cannot be used; nothing stays open.
    """
    stack = contextlib.AsyncExitStack()
    try:
        runtime = await stack.enter_async_context(open_runtime(loaded, surroundings))
    except BaseException:
        await stack.aclose()
        raise

    def count(report: CycleReport) -> None:
        count_report(meter, report, ended_at=runtime.clock.now())

    reviews = ReviewLoop(runtime, registry)
    loop = WatchLoop(runtime, registry, on_report=count, on_start=reviews.notify)
    cleanup = CleanupLoop(runtime, registry)
    gauges = Gauges(runtime, registry)
    canary = Canary(runtime, registry, loop)
    services: tuple[Service, ...] = (
        gauges,
        *(RelayService(relay) for relay in runtime.relays),
        build_retention(runtime, registry),
        canary,
        reviews,
        cleanup,
        loop,
        *_build_sync(runtime, registry, loop),
    )
    return Shift(
        runtime=runtime,
        loop=loop,
        reviews=reviews,
        cleanup=cleanup,
        gauges=gauges,
        canary=canary,
        totals=RunningTotals(meter),
        services=services,
        stack=stack,
    )


def _build_sync(
    runtime: Runtime, registry: LoopRegistry, loop: WatchLoop
) -> tuple[SyncLoop, ...]:
    """Return the loop of watch files, if any are followed."""
    if not any(workspace.syncs for workspace in runtime.config.workspaces):
        return ()
    return (SyncLoop(runtime, registry, on_change=loop.notify),)


class Daemon:
    """The process's standing parts around the configuration that is at work."""

    def __init__(
        self,
        shift: Shift,
        load: Callable[[], LoadedConfig],
        *,
        registry: LoopRegistry,
        meter: Meter,
        notifier: SystemdNotifier,
    ) -> None:
        self.shift = shift
        self.registry = registry
        self.meter = meter
        self.has_started = False
        """Whether each service was started: what systemd was told as ready."""
        self.started_at = shift.runtime.clock.now()
        self.reloader = Reloader(
            self._exchange, notifier=notifier, clock=shift.runtime.clock
        )
        self._load = load
        self._notifier = notifier
        self._supervisor: Supervisor | None = None
        self._loop_totals = RunningTotals(meter)
        meter.put(metrics.STARTED, self.started_at.timestamp())

    def request_stop(self) -> None:
        """End soon, with what is under way finished."""
        if self._supervisor is not None:
            self._supervisor.request_stop()

    def describe(self) -> str:
        """Return the line that `systemctl status` shows."""
        facts = gather_facts(self)
        return build_status_line(
            self.shift.loop.last_report, judge(facts), paused=facts.paused_workspaces
        )

    def take_totals(self) -> None:
        """Let the meter count what the parts have counted since the last time."""
        follow_totals(self.shift.totals, self.shift.runtime)
        follow_reviews(self.shift.totals, self.shift.reviews.queue)
        follow_cleanup(self.shift.totals, self.shift.cleanup.cleanup)
        follow_sync(self.shift.totals, self.shift.runtime.sync_memory)
        follow_loops(self._loop_totals, self.registry.list_facts())
        reloads: dict[Labels, float] = {
            ("applied",): float(self.reloader.applied),
            ("refused",): float(self.reloader.refused),
        }
        self._loop_totals.follow(metrics.RELOADS, reloads)

    async def run(self, standing: Sequence[Service]) -> None:
        """
        Run the standing services and the shift's until a stop is requested.

        Raises:
            Exception: What a critical service failed with.
        """
        surroundings = self.shift.runtime.surroundings
        self._supervisor = Supervisor(
            (*standing, self.reloader, *self.shift.services),
            registry=self.registry,
            clock=surroundings.clock,
            chance=surroundings.chance,
            notifier=self._notifier,
            grace=self.shift.runtime.config.daemon.grace,
        )
        try:
            async with anyio.create_task_group() as group:
                await group.start(self._receive_signals)
                await self._supervisor.run(on_ready=self._note_start)
                group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self.shift.stack.aclose()

    def _note_start(self) -> None:
        self.has_started = True

    async def _receive_signals(self, *, task_status: TaskStatus[None]) -> None:
        await receive_signals(
            on_stop=self.request_stop,
            on_reload=self.reloader.request,
            task_status=task_status,
        )

    async def _exchange(self) -> None:
        """Open the new configuration first: one that does not work changes nothing."""
        loaded = self._load()
        before = self.shift.runtime.config
        _refuse_change("state_dir", loaded.config.state_dir, before.state_dir)
        _refuse_change(
            "daemon.metrics_listen",
            loaded.config.daemon.metrics_listen,
            before.daemon.metrics_listen,
        )
        surroundings = self.shift.runtime.surroundings
        try:
            new = await open_shift(loaded, surroundings, self.registry, self.meter)
        except StoreError as error:
            raise ConfigError(f"the store cannot be opened: {error}") from error
        old, self.shift = self.shift, new
        assert self._supervisor is not None  # noqa: S101 - a reload runs inside `run`
        for service in reversed(old.services):
            await self._supervisor.remove(service.name)
        follow_totals(old.totals, old.runtime)
        await old.stack.aclose()
        for service in new.services:
            await self._supervisor.add(service)


def _refuse_change(key: str, new: object, old: object) -> None:
    """
    Refuse a reload that would change what belongs to the whole process.

    Raises:
        ConfigError: It would.
    """
    if new != old:
        raise ConfigError(
            f"{key} cannot change while the daemon runs",
            hint="restart prwatch for that",
        )
