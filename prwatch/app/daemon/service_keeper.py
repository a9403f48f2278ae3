"""Keeping one service alive: run it, watch its beat, start it again with backoff."""

import datetime as dt
import math
import random
from collections.abc import Callable
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.failure import LoopFailure, describe_failure
from prwatch.app.daemon.loop_registry import STEADY, LoopRegistry
from prwatch.app.daemon.service import Service, Stoppable
from prwatch.clock import Clock
from prwatch.domain.backoff import Backoff
from prwatch.errors import PrwatchError
from prwatch.telemetry.redaction import redact

RESTART: Final = Backoff(
    base=dt.timedelta(seconds=1), factor=2.0, cap=STEADY, jitter=0.25
)
"""
The wait before a service is started again, by its crashes in a row.

A run ends the row when it has lasted as long as the cap, so that no pattern of
crashes starts a service more often than these waits allow.
"""
START_LIMIT: Final = dt.timedelta(minutes=1)
"""How long a service without a deadline may take until it is ready."""

_log = structlog.get_logger()


class ServiceStuck(RuntimeError):
    """A service gave no beat within its deadline."""


class ServiceKeeper:
    """
    Runs one service until it is asked to stop.

    `settled` is set when the service is ready, or when it has crashed for the first
    time: nobody who starts other services needs to wait longer. `ended` is set when
    it will not run again. `failure` is the error of a critical service.
    """

    def __init__(
        self,
        service: Service,
        *,
        registry: LoopRegistry,
        clock: Clock,
        chance: random.Random,
        on_failure: Callable[[], None],
    ) -> None:
        self.service = service
        self.settled = anyio.Event()
        self.ended = anyio.Event()
        self.failure: Exception | None = None
        self._registry = registry
        self._clock = clock
        self._chance = chance
        self._on_failure = on_failure
        self._is_stopping = False
        self._scope: anyio.CancelScope | None = None
        self._is_running = False
        self._told: LoopFailure | None = None

    @property
    def name(self) -> str:
        """Return the service's name."""
        return self.service.name

    @property
    def is_graceful(self) -> bool:
        """Return whether the service finishes its work when it is stopped."""
        return isinstance(self.service, Stoppable)

    def stop(self) -> None:
        """Ask the service to end: gracefully where it can, else by cancellation."""
        self._is_stopping = True
        if isinstance(self.service, Stoppable) and self._is_running:
            self.service.stop()
        else:
            self.cancel()

    def cancel(self) -> None:
        """End the service by cancellation, and do not start it again."""
        self._is_stopping = True
        if self._scope is not None:
            self._scope.cancel()

    async def run(self) -> None:
        """Run the service again and again; return when it was stopped or failed."""
        try:
            while self._is_wanted():
                error = await self._run_service()
                if error is None:
                    return
                is_stuck = isinstance(error, ServiceStuck)
                row = self._registry.crash(self.name, error, is_stuck=is_stuck)
                if not self._is_wanted():
                    self._tell("service.failed_at_stop", error)
                    return
                if self.service.is_critical and not is_stuck:
                    self.failure = error
                    self._on_failure()
                    return
                await self._wait(error, row)
        finally:
            self._registry.end(self.name)
            self.settled.set()
            self.ended.set()

    def _is_wanted(self) -> bool:
        return not self._is_stopping

    async def _run_service(self) -> Exception | None:
        """Run the service once; return its error, or None when it ended as asked."""
        self._registry.begin_run(self.name, self.service.deadline)
        patience = self.service.deadline or START_LIMIT
        scope = self._scope = anyio.CancelScope(
            deadline=anyio.current_time() + patience.total_seconds()
        )
        self._is_running = True
        try:
            # The scope stands inside: an error that comes out beside a cancellation
            # leaves the scope as that error alone.
            with scope:
                await self.service.run(
                    self._build_beat(scope), task_status=self._build_status(scope)
                )
        # Whatever a service raises ends that service and no other: the one place
        # where everything is caught.
        except Exception as error:  # noqa: BLE001
            return error
        finally:
            self._is_running = False
        if not self._is_wanted():
            return None
        if scope.cancel_called:
            return ServiceStuck(f"no progress for {patience.total_seconds():g} s")
        return RuntimeError("it ended although nobody asked")

    def _build_beat(self, scope: anyio.CancelScope) -> Callable[[], None]:
        limit = self.service.deadline
        seconds = math.inf if limit is None else limit.total_seconds()

        def beat() -> None:
            self._registry.beat(self.name)
            if limit is not None:
                scope.deadline = anyio.current_time() + seconds

        return beat

    def _build_status(self, scope: anyio.CancelScope) -> TaskStatus[None]:
        def mark_ready() -> None:
            self._registry.mark_ready(self.name)
            limit = self.service.deadline
            scope.deadline = (
                math.inf
                if limit is None
                else anyio.current_time() + limit.total_seconds()
            )
            self.settled.set()

        return _Readiness(mark_ready)

    async def _wait(self, error: Exception, row: int) -> None:
        delay = RESTART.delay(row, self._chance.random())
        self._registry.wait_for_restart(self.name, delay)
        seconds = round(delay.total_seconds(), 3)
        self._tell("service.crashed", error, restart_seconds=seconds)
        self.settled.set()
        with anyio.CancelScope() as self._scope:
            await self._clock.sleep(delay.total_seconds())

    def _tell(self, event: str, error: Exception, **fields: object) -> None:
        """
        Log a crash: with its traceback once, without it while it repeats itself.

        What may go away by itself (the store is busy) is a warning.
        """
        failure = describe_failure(error, redact)
        is_new, self._told = failure != self._told, failure
        is_passing = isinstance(error, PrwatchError) and error.retryable
        (_log.warning if is_passing else _log.error)(
            event,
            service=self.name,
            **failure.as_json(),
            **fields,
            **({"exc_info": error} if is_new else {}),
        )


class _Readiness:
    """Takes the one `started()` of a run."""

    def __init__(self, mark_ready: Callable[[], None]) -> None:
        self._mark_ready: Callable[[], None] | None = mark_ready

    def started(self, value: None = None) -> None:
        del value
        if self._mark_ready is None:
            raise RuntimeError("a service says only once that it has started")
        mark_ready, self._mark_ready = self._mark_ready, None
        mark_ready()
