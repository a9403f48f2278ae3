"""Time as an argument: the only module that reads the system's clock."""

import datetime as dt
import time
from typing import Protocol

import anyio


class Clock(Protocol):
    """Where a part of the product gets its time from."""

    def now(self) -> dt.datetime:
        """Return the wall-clock time, aware and in UTC. It may jump either way."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back. Only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long by the monotonic clock. Zero or less gives way once."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> dt.datetime:
        """Return the machine's time in UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in the running event loop."""
        await anyio.sleep(max(0.0, seconds))
