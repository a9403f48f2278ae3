"""When what happens in a run: the steps of its plot, the faults, the restarts."""

import datetime as dt
import random
from dataclasses import dataclass

MINUTE = dt.timedelta(minutes=1)
HOUR = 60 * MINUTE


@dataclass(frozen=True, kw_only=True)
class Script:
    """
    A run's times, counted from its start.

    Steps are played at random times up to `quiet_from`; from `aftermath` on some
    more follow, so that a run does not end in the recovery. Each kind of fault has
    its window. The product is closed and opened again at each of `restarts`. Those
    in `reopened` may be opened again, which is looked for every quarter of an hour.
    """

    ends: dt.timedelta = 20 * MINUTE
    windows: tuple = ((4 * MINUTE, 8 * MINUTE),) * 2
    count: int = 4
    steps: int = 30
    quiet_from: dt.timedelta = 8 * MINUTE
    aftermath: dt.timedelta = 17 * MINUTE
    restarts: tuple = ()
    reopened: tuple = ()
    interval: dt.timedelta = MINUTE
    hot_interval: dt.timedelta = MINUTE / 4
    full_read: dt.timedelta = 3 * MINUTE

    @property
    def fault_from(self):
        return min(start for start, _ in self.windows)

    @property
    def fault_until(self):
        return max(end for _, end in self.windows)

    @property
    def poll(self):
        """Return the intervals as the configuration says them."""
        return (
            f'interval = "{self.interval.total_seconds():.0f}s"\n'
            f'hot_interval = "{self.hot_interval.total_seconds():.0f}s"\n'
            f'full_read = "{self.full_read.total_seconds():.0f}s"'
        )


def write_day(seed):
    """Return a day in which two faults overlap for a while, and one restart."""
    chance = random.Random(seed)
    windows = []
    for _ in range(2):
        start = chance.uniform(2.0, 4.0) * HOUR
        windows.append((start, start + chance.choice([0.1, 0.5, 2.5, 5.0]) * HOUR))
    if windows[0][1] < windows[1][0] or windows[1][1] < windows[0][0]:
        start = min(start for start, _ in windows)
        windows = [(start, start + (end - begun)) for begun, end in windows]
    return Script(
        ends=24 * HOUR,
        windows=tuple(windows),
        steps=50,
        quiet_from=9 * HOUR,
        aftermath=22 * HOUR,
        restarts=(chance.uniform(2.0, 10.0) * HOUR,),
        reopened=(1, 2),
        interval=10 * MINUTE,
        hot_interval=3 * MINUTE,
        full_read=HOUR,
    )
