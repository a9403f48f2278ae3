"""Starting, keeping and stopping all services of the daemon, in that order."""

import datetime as dt
import random
from collections.abc import Callable, Sequence
from typing import Final

import anyio
import structlog
from anyio.abc import TaskGroup

from prwatch.app.daemon.failure import find_cause
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.service import Service
from prwatch.app.daemon.service_keeper import ServiceKeeper
from prwatch.clock import Clock
from prwatch.telemetry.systemd import SystemdNotifier

CANCEL_SECONDS: Final = 1.0
"""Within this time a cancelled service has to end."""
WEDGED_SECONDS: Final = 5.0
"""After this time it is named in the log; only a signal can end it."""

_log = structlog.get_logger()


class Supervisor:
    """
    Runs services side by side until it is asked to stop or a critical one fails.

    Services are started one after the other in the given order and stopped in the
    reverse one, so a service may rely on those before it. A crash of one leaves the
    others alone.
    """

    def __init__(
        self,
        services: Sequence[Service],
        *,
        registry: LoopRegistry,
        clock: Clock,
        chance: random.Random,
        notifier: SystemdNotifier,
        grace: dt.timedelta,
    ) -> None:
        self._services = tuple(services)
        self._registry = registry
        self._clock = clock
        self._chance = chance
        self._notifier = notifier
        self._grace = grace
        self._stop_wanted = anyio.Event()
        self._keepers: dict[str, ServiceKeeper] = {}
        self._group: TaskGroup | None = None

    def request_stop(self) -> None:
        """Let `run` stop all services and return. It may be called again."""
        self._stop_wanted.set()

    async def run(self, *, on_ready: Callable[[], None] = lambda: None) -> None:
        """
        Run all services; return when they have ended after `request_stop`.

        systemd hears that the daemon is ready, and `on_ready` is called, when each
        service has started or has crashed once and waits to be started again. A
        service that can finish its work has `grace` to do so.

        Raises:
            Exception: The error of a critical service, after all others were stopped.
        """
        async with anyio.create_task_group() as self._group:
            for service in self._services:
                await self._start(service)
            if not self._stop_wanted.is_set():
                self._notifier.send_ready()
                _log.info("daemon.ready", services=len(self._keepers))
                on_ready()
            await self._stop_wanted.wait()
            self._notifier.send_stopping()
            failed = [k.name for k in self._keepers.values() if k.failure is not None]
            _log.info("daemon.stopping", failed=failed)
            await self._halt(list(self._keepers.values()))
        self._group = None
        self._raise_failure()

    async def add(self, service: Service) -> None:
        """
        Start one more service while `run` runs; return when it has settled.

        Raises:
            ValueError: A service of that name runs already.
        """
        if self._group is None:
            raise RuntimeError("the supervisor does not run")
        await self._start(service)

    async def remove(self, name: str) -> None:
        """Stop a service of that name, if there is one, and wait until it has ended."""
        keeper = self._keepers.get(name)
        if keeper is not None:
            await self._halt([keeper])
            if keeper.failure is None:
                self._keepers.pop(name, None)

    async def _start(self, service: Service) -> None:
        if self._stop_wanted.is_set():
            return
        if service.name in self._keepers:
            raise ValueError(f"two services are named {service.name}")
        assert self._group is not None  # noqa: S101 - both callers are inside `run`
        keeper = ServiceKeeper(
            service,
            registry=self._registry,
            clock=self._clock,
            chance=self._chance,
            on_failure=self.request_stop,
        )
        self._keepers[service.name] = keeper
        self._group.start_soon(keeper.run, name=f"service {service.name}")
        await _wait_for_first(keeper.settled, self._stop_wanted)

    async def _halt(self, keepers: Sequence[ServiceKeeper]) -> None:
        """
        Stop services in reverse order under one deadline, then cancel what is left.

        Those that are cancelled at once are waited for, because they may make work
        for those that finish theirs; the latter finish side by side.
        """
        order = list(reversed(keepers))
        with anyio.move_on_after(self._grace.total_seconds()):
            for keeper in order:
                keeper.stop()
                if not keeper.is_graceful:
                    with anyio.move_on_after(CANCEL_SECONDS):
                        await keeper.ended.wait()
            await _wait_for_all(order)
        for keeper in order:
            keeper.cancel()
        with anyio.move_on_after(WEDGED_SECONDS):
            await _wait_for_all(order)
        wedged = [keeper.name for keeper in order if not keeper.ended.is_set()]
        if wedged:
            _log.error("service.not_stopping", services=wedged)
            await _wait_for_all(order)

    def _raise_failure(self) -> None:
        failures = [k.failure for k in self._keepers.values() if k.failure is not None]
        for failure in failures[:1]:
            cause = find_cause(failure)
            if cause is failure:
                raise failure
            raise cause from failure


async def _wait_for_all(keepers: Sequence[ServiceKeeper]) -> None:
    for keeper in keepers:
        await keeper.ended.wait()


async def _wait_for_first(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as group:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            group.cancel_scope.cancel()

        for event in events:
            group.start_soon(wait, event)
