import datetime as dt

from prwatch.app.daemon.turns import pause
from tests.daemon_parts import HandClock


class LateClock(HandClock):
    """A clock whose sleepers oversleep by two seconds."""

    async def sleep(self, seconds):
        await super().sleep(seconds + 2)


async def test_a_loop_beats_each_minute_while_it_waits():
    clock, beats = HandClock(), []
    late = await pause(
        clock, dt.timedelta(minutes=5), lambda: beats.append(clock.seconds - 1000)
    )

    assert (beats, late) == ([60, 120, 180, 240, 300], dt.timedelta(0))


async def test_how_late_the_turn_comes_is_told():
    late = await pause(LateClock(), dt.timedelta(seconds=10), lambda: None)

    assert late == dt.timedelta(seconds=2)
