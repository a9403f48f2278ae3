"""Waiting for the next turn of a loop that works at fixed intervals."""

import datetime as dt
from collections.abc import Callable
from typing import Final

from prwatch.clock import Clock

LONGEST_PAUSE: Final = dt.timedelta(minutes=1)
"""A loop shows that it lives at least this often, also when nothing is due."""


async def pause(
    clock: Clock, interval: dt.timedelta, beat: Callable[[], None]
) -> dt.timedelta:
    """
    Wait that long, beating meanwhile, and return how late the end of it came.

    It goes by the monotonic clock: a jump of the other one changes no turn.
    """
    due = clock.monotonic() + interval.total_seconds()
    while (rest := due - clock.monotonic()) > 0:
        await clock.sleep(min(rest, LONGEST_PAUSE.total_seconds()))
        beat()
    return dt.timedelta(seconds=-rest)
