"""A clock that stands still until it is moved."""

import datetime as dt
from typing import Final

import anyio.lowlevel

NOON: Final = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


class MovedClock:
    """Stands still until it is moved; sleeping moves it."""

    def __init__(self, start: dt.datetime = NOON) -> None:
        self._start = start
        self._elapsed = 0.0

    def now(self) -> dt.datetime:
        """Return where it stands, in UTC."""
        return self._start + dt.timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return by how many seconds it was moved."""
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Let that much time pass."""
        self._elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        """Move on by so many seconds and give way once."""
        self._elapsed += max(0.0, seconds)
        await anyio.lowlevel.checkpoint()
