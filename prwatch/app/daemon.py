"""
The running product: its services, and what a reload exchanges of them.

The lock, the control socket and the watchdog live as long as the process. The watch
loop, the relays and the retention belong to one configuration; a reload opens the
new one first, so that a configuration that does not work changes nothing.
"""

import contextlib
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.loop_registry import LoopRegistry
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.retention import RetentionService
from prwatch.app.runtime import Runtime, Surroundings, open_runtime
from prwatch.app.service import Service
from prwatch.app.supervisor import Supervisor
from prwatch.app.watch_loop import WatchLoop
from prwatch.config.loader import LoadedConfig
from prwatch.errors import PrwatchError
from prwatch.telemetry.systemd import SystemdNotifier

RELAY_DEADLINE: Final = dt.timedelta(minutes=5)

_log = structlog.get_logger()


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


@dataclass(slots=True)
class Shift:
    """One configuration at work: its runtime, its services, and how it is closed."""

    runtime: Runtime
    loop: WatchLoop
    services: tuple[Service, ...]
    stack: contextlib.AsyncExitStack


async def open_shift(loaded: LoadedConfig, surroundings: Surroundings) -> Shift:
    """
    Open a configuration and build its services; nothing runs yet.

    Raises:
        ConfigError, StoreError: It cannot be used; nothing stays open.
    """
    async with contextlib.AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(loaded, surroundings))
        loop = WatchLoop(runtime)
        services: tuple[Service, ...] = (
            *(RelayService(relay) for relay in runtime.relays),
            RetentionService(
                runtime.database,
                clock=runtime.clock,
                delivered_retention=loaded.config.events.delivered_retention,
                dead_retention=loaded.config.events.dead_retention,
            ),
            loop,
        )
        return Shift(runtime, loop, services, stack.pop_all())
    raise AssertionError  # pragma: no cover - the stack swallows nothing


class Reloader:
    """Exchanges the configuration of a running daemon, one reload at a time."""

    name = "reload"
    is_critical = False
    deadline: dt.timedelta | None = None

    def __init__(
        self,
        shift: Shift,
        load: Callable[[], LoadedConfig],
        surroundings: Surroundings,
        notifier: SystemdNotifier,
    ) -> None:
        self.shift = shift
        self.supervisor: Supervisor | None = None
        self._load = load
        self._surroundings = surroundings
        self._notifier = notifier
        self._wanted = anyio.Event()
        self._lock = anyio.Lock()

    def request(self) -> None:
        """Reload soon; called by a signal."""
        self._wanted.set()

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Reload whenever it is requested, until cancelled."""
        task_status.started()
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            with contextlib.suppress(PrwatchError):
                await self.reload()
            beat()

    async def reload(self) -> None:
        """
        Read the configuration again and work by it.

        Raises:
            PrwatchError: It is refused; the daemon goes on as before.
        """
        async with self._lock:
            self._notifier.send_reloading(self._surroundings.clock.monotonic())
            try:
                await self._exchange()
                _log.info("config.reloaded")
            except PrwatchError as error:
                problems = getattr(error, "problems", ())
                _log.warning("config.refused", reason=str(error), problems=problems)
                raise
            finally:
                self._notifier.send_ready()

    async def _exchange(self) -> None:
        new = await open_shift(self._load(), self._surroundings)
        if self.supervisor is None:
            raise RuntimeError("a reload needs a running supervisor")
        old, self.shift = self.shift, new
        for service in reversed(old.services):
            await self.supervisor.remove(service.name)
        await old.stack.aclose()
        for service in new.services:
            await self.supervisor.add(service)


async def run_daemon(
    shift: Shift,
    reloader: Reloader,
    standing: tuple[Service, ...],
    *,
    registry: LoopRegistry,
    notifier: SystemdNotifier,
    grace: dt.timedelta,
    on_supervisor: Callable[[Supervisor], None] = lambda _: None,
) -> None:
    """
    Run a configuration and the standing services until a stop is requested.

    Raises:
        Exception: What a critical service failed with.
    """
    surroundings = shift.runtime.surroundings
    supervisor = Supervisor(
        (*standing, reloader, *shift.services),
        registry=registry,
        clock=surroundings.clock,
        chance=surroundings.chance,
        notifier=notifier,
        grace=grace,
    )
    reloader.supervisor = supervisor
    on_supervisor(supervisor)
    try:
        await supervisor.run()
    finally:
        with anyio.CancelScope(shield=True):
            await reloader.shift.stack.aclose()
