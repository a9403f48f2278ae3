"""The systemd watchdog, fed only while the loops that must run make progress."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.clock import Clock
from prwatch.telemetry.systemd import SystemdNotifier

STATUS_INTERVAL: Final = dt.timedelta(seconds=30)
"""How often the status line is looked at when systemd asks for no watchdog."""

_log = structlog.get_logger()


def describe_stalled(names: Sequence[str]) -> str:
    """Return the status line while loops make no progress, by kind alone."""
    kinds = dict.fromkeys(name.partition(" ")[0] for name in names)
    return f"no progress: {', '.join(kinds)}"


class Watchdog:
    """
    A service that tells systemd that the daemon lives, and what it does.

    `interval` is systemd's (WATCHDOG_USEC), or None when it waits for nothing: the
    status line is sent nevertheless. Three messages fit into the interval, so that
    one that comes late restarts nobody. `describe` gives the status line.

    It looks at progress alone: a failing loop that moves on is fed for, a silent one
    is not, and a blocked event loop silences this service itself.
    """

    name = "watchdog"
    is_critical = False
    deadline: dt.timedelta | None = None

    def __init__(
        self,
        *,
        notifier: SystemdNotifier,
        registry: LoopRegistry,
        clock: Clock,
        interval: dt.timedelta | None,
        describe: Callable[[], str],
    ) -> None:
        self._notifier = notifier
        self._registry = registry
        self._clock = clock
        self._pause = STATUS_INTERVAL if interval is None else interval / 3
        self._describe = describe
        self._stalled: tuple[str, ...] = ()
        self._status = ""

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Feed the watchdog until cancelled."""
        task_status.started()
        while True:
            self.feed()
            beat()
            await self._clock.sleep(self._pause.total_seconds())

    def feed(self) -> None:
        """Send what holds now: the status, and the sign of life if it is deserved."""
        stalled = self._registry.list_stalled()
        if stalled != self._stalled:
            self._tell(stalled)
        self._stalled = stalled
        if stalled:
            self._send_status(describe_stalled(stalled))
            return
        self._notifier.send_watchdog()
        self._send_status(self._describe())

    def _send_status(self, text: str) -> None:
        """Say it once: systemd keeps the last line."""
        if text != self._status and self._notifier.send_status(text):
            self._status = text

    @staticmethod
    def _tell(stalled: tuple[str, ...]) -> None:
        if stalled:
            _log.error("watchdog.withheld", services=list(stalled))
        else:
            _log.info("watchdog.resumed")
