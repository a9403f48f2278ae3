"""Reloading the configuration of a running daemon, one reload at a time."""

import datetime as dt
from collections.abc import Awaitable, Callable

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.clock import Clock
from prwatch.errors import ConfigError
from prwatch.telemetry.systemd import SystemdNotifier

_log = structlog.get_logger()


class Reloader:
    """
    A service that reloads when asked, and tells systemd about it.

    `apply` reads the configuration and puts it into effect; it raises ConfigError
    before it has changed anything.
    """

    name = "reload"
    is_critical = False
    deadline: dt.timedelta | None = None

    def __init__(
        self,
        apply: Callable[[], Awaitable[None]],
        *,
        notifier: SystemdNotifier,
        clock: Clock,
    ) -> None:
        self._apply = apply
        self._notifier = notifier
        self._clock = clock
        self._wanted = anyio.Event()
        self._lock = anyio.Lock()
        self.applied = self.refused = 0
        """Reloads since the start, by how they ended."""
        self.is_refused = False
        """Whether the last one was: the file says something else than what runs."""

    def request(self) -> None:
        """Reload soon. Requests that come before it has begun are one reload."""
        self._wanted.set()

    async def reload(self) -> None:
        """
        Reload now, after a reload that is under way.

        Raises:
            ConfigError: The file cannot be used; the running configuration stays.
        """
        async with self._lock:
            self._notifier.send_reloading(self._clock.monotonic())
            try:
                await self._apply()
            except ConfigError:
                self.refused += 1
                self.is_refused = True
                raise
            else:
                self.applied += 1
                self.is_refused = False
            finally:
                # Also after a refusal: the daemon is as ready as it was before.
                self._notifier.send_ready()
        _log.info("configuration.reloaded")

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Reload at each request until cancelled; a refusal is logged."""
        task_status.started()
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            try:
                await self.reload()
            except ConfigError as error:
                _log.error(
                    "configuration.refused",
                    message=str(error),
                    problems=list(error.problems),
                )
            beat()
