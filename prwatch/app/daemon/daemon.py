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

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.reload import Reloader
from prwatch.app.daemon.service import Service
from prwatch.app.daemon.signals import receive_signals
from prwatch.app.daemon.supervisor import Supervisor
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.polling import build_retention
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import LoadedConfig
from prwatch.errors import ConfigError, StoreError
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
    services: tuple[Service, ...]
    stack: contextlib.AsyncExitStack


async def open_shift(
    loaded: LoadedConfig, surroundings: Surroundings, registry: LoopRegistry
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
    loop = WatchLoop(runtime, registry)
    services: tuple[Service, ...] = (
        *(RelayService(relay) for relay in runtime.relays),
        build_retention(runtime, registry),
        loop,
    )
    return Shift(runtime, loop, services, stack)


class Daemon:
    """The process's standing parts around the configuration that is at work."""

    def __init__(
        self,
        shift: Shift,
        load: Callable[[], LoadedConfig],
        *,
        registry: LoopRegistry,
        notifier: SystemdNotifier,
    ) -> None:
        self.shift = shift
        self.registry = registry
        self.started_at = shift.runtime.clock.now()
        self.reloader = Reloader(
            self._exchange, notifier=notifier, clock=shift.runtime.clock
        )
        self._load = load
        self._notifier = notifier
        self._supervisor: Supervisor | None = None

    def request_stop(self) -> None:
        """End soon, with what is under way finished."""
        if self._supervisor is not None:
            self._supervisor.request_stop()

    def describe(self) -> str:
        """Return the line that `systemctl status` shows."""
        report = self.shift.loop.last_report
        if report is None:
            return "starting"
        failed = len(report.failures)
        return (
            f"{report.watches_discovered} pull requests and "
            f"{report.watches_searching} branches watched, {failed} failures"
        )

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
                await self._supervisor.run()
                group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self.shift.stack.aclose()

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
        if loaded.config.state_dir != before.state_dir:
            raise ConfigError(
                "state_dir cannot change while the daemon runs",
                hint="restart prwatch for that",
            )
        surroundings = self.shift.runtime.surroundings
        try:
            new = await open_shift(loaded, surroundings, self.registry)
        except StoreError as error:
            raise ConfigError(f"the store cannot be opened: {error}") from error
        old, self.shift = self.shift, new
        assert self._supervisor is not None  # noqa: S101 - a reload runs inside `run`
        for service in reversed(old.services):
            await self._supervisor.remove(service.name)
        await old.stack.aclose()
        for service in new.services:
            await self._supervisor.add(service)
