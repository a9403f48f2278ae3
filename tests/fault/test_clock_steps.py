"""The machine's clock is set forward and back while prwatch runs."""

import datetime as dt

import pytest

from prwatch.simulator import World
from tests.product import ALL, BRANCH, ONE, MovedClock, list_changes, open_product

HOUR = 3_600
YEAR = 365 * 24 * HOUR


class SteppedClock:
    """The world's clock, whose time of day is `step` seconds off on this machine."""

    def __init__(self, clock):
        self._clock = clock
        self.step = 0.0
        self.monotonic = clock.monotonic
        self.advance = clock.advance
        self.sleep = clock.sleep

    def now(self):
        return self._clock.now() + dt.timedelta(seconds=self.step)


@pytest.mark.parametrize("step", [HOUR, -HOUR, YEAR, -YEAR])
async def test_a_stepped_clock_delays_no_news(tmp_path, step):
    true_time = MovedClock()
    world, clock = World(true_time), SteppedClock(true_time)
    world.add_repository("octo/hello")
    opened = world.open_pull_request("octo/hello", branch="fix-greeting", number=12)
    options = {"poll": 'settle = "0s"', "watches": (ONE, ALL, BRANCH)}

    async with open_product(tmp_path, world, clock=clock, **options) as product:
        await product.cycles(3, is_forced=False)
        clock.step = step
        world.mark_draft(opened)
        stepped = await product.cycles(2, is_forced=False)
        clock.step = 0.0
        world.mark_ready(opened)
        fresh = world.open_pull_request("octo/hello", branch="other", number=13)
        returned = await product.cycles(2, is_forced=False)

        assert set(list_changes(stepped)) == {(("is_draft", False, True),)}
        assert set(list_changes(returned)) == {
            (("is_draft", True, False),),
            (("associated", None, fresh.number),),
        }
        assert product.report.failures == []


@pytest.mark.parametrize("step", [HOUR, -HOUR])
async def test_a_stepped_clock_holds_no_settled_verdict_back(tmp_path, step):
    true_time = MovedClock()
    world, clock = World(true_time), SteppedClock(true_time)
    world.add_repository("octo/hello")
    opened = world.open_pull_request("octo/hello", branch="fix-greeting", number=12)

    async with open_product(tmp_path, world, clock=clock, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)
        true_time.advance(60.0)
        world.set_check(opened, "test", conclusion="SUCCESS")
        settling = await product.cycle(gap=0.0, is_forced=False)
        clock.step = step
        told = await product.cycles(2, gap=60.0, is_forced=False)

    assert list_changes(settling) == [(("checks", "none", "pending"),)]
    assert list_changes(told) == [(("checks", "pending", "success"),)]
