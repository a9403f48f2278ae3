"""What the supervisor runs: a long task with a name."""

import datetime as dt
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from anyio.abc import TaskStatus


class Service(Protocol):
    """
    One long task of the daemon, such as the watch cycle or the relay of a sink.

    A service owns nothing global, so that it can be run again after a crash.
    """

    @property
    def name(self) -> str:
        """Return the name in logs and in the status. No two services share one."""
        ...

    @property
    def is_critical(self) -> bool:
        """Return whether its crash ends the process; any other is started again."""
        ...

    @property
    def deadline(self) -> dt.timedelta | None:
        """
        Return how long it may go without a beat, or None for any length of time.

        After that time it counts as stuck: it is cancelled and started again. The
        watchdog follows the services that have a deadline.
        """
        ...

    async def run(
        self, beat: Callable[[], None], *, task_status: TaskStatus[None]
    ) -> None:
        """
        Work until cancelled, or until `stop` where there is one.

        `task_status.started()` is called once, when the service is ready. `beat` is
        called in the event loop whenever work moves on, also when it has failed or
        waits for its turn. A cancelled service ends within a second. An exception is
        a crash, and so is an end that nobody asked for.
        """
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A service that ends in two steps: no new work first, then what is in flight."""

    def stop(self) -> None:
        """
        Take no new work and let `run` return when the work in flight is done.

        It returns at once, may be called again, and `run` is cancelled when the
        grace period is over.
        """
        ...
