"""Waits that were begun before the machine's clock was set: each comes to an end."""

import datetime as dt
import io

import pytest

from prwatch.simulator import World
from tests.fault.test_clock_steps import HOUR, SteppedClock
from tests.product import ONE, MovedClock, list_changes, open_product

DRAFT = (("is_draft", False, True),)
STEPS = [HOUR, -HOUR]
MINUTE = 60


class Stage:
    """A world on true time, and a product on a clock that is set."""

    def __init__(self):
        true_time = MovedClock()
        self.world = World(true_time)
        self.world.add_repository("octo/hello")
        self.one = self.world.open_pull_request(
            "octo/hello", branch="fix-greeting", number=12
        )
        self.clock = SteppedClock(true_time)

    def open(self, folder):
        options = {"poll": 'settle = "0s"', "watches": (ONE,)}
        return open_product(folder, self.world, clock=self.clock, **options)


class WeakStream(io.BytesIO):
    """Takes nothing while it is broken."""

    is_broken = True

    def write(self, data):
        if self.is_broken:
            raise OSError(28, "No space left on device")
        return super().write(data)


async def pass_minutes(product, count):
    """Let the product run on its own due times; return the minutes with news."""
    told = []
    for minute in range(count):
        events = await product.cycle(gap=MINUTE, is_forced=False)
        told += [(minute, change) for change in list_changes(events)]
    return told


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("is_restarted", [False, True], ids=["running", "restarted"])
async def test_a_delivery_that_waits_is_neither_lost_nor_doubled(
    tmp_path, is_restarted, step
):
    stage = Stage()
    async with stage.open(tmp_path) as product:
        await product.cycles(2)
        (relay,) = product.runtime.relays
        healthy, relay._route.sink._stream = product.out, WeakStream()
        stage.world.mark_draft(stage.one)
        told = await pass_minutes(product, 10)
        stage.clock.step = step
        if not is_restarted:
            relay._route.sink._stream = healthy
            later = await pass_minutes(product, 100)
    if is_restarted:
        async with stage.open(tmp_path) as product:
            later = await pass_minutes(product, 100)

    # Set back by an hour, its own time comes an hour later; set forward, at once.
    assert told == []
    assert [change for _, change in later] == [DRAFT]
    assert later[0][0] <= (60 if step < 0 else 0) + 40


@pytest.mark.parametrize("step", STEPS)
async def test_a_circuit_that_is_open_lets_its_probe_go_within_its_longest_wait(
    tmp_path, step
):
    stage = Stage()
    async with stage.open(tmp_path) as product:
        await product.cycles(2)
        stage.world.faults.add("html503;times=none")
        await pass_minutes(product, 90)
        stage.clock.step = step
        stage.world.requests.clear()
        await pass_minutes(product, 60)
        probes = len(stage.world.requests)
        stage.world.faults.clear()
        stage.world.mark_draft(stage.one)
        told = await pass_minutes(product, 14)

    assert 1 <= probes <= 15
    assert [change for _, change in told] == [DRAFT]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("left", [2, 30, 58], ids="{} min left".format)
async def test_a_limit_that_is_in_force_is_met_at_most_once_more_and_ends(
    tmp_path, left, step
):
    stage = Stage()
    async with stage.open(tmp_path) as product:
        await product.cycles(2)
        stage.world.secondary_limit(dt.timedelta(hours=1))
        await pass_minutes(product, 60 - left)
        stage.world.mark_draft(stage.one)
        met = stage.world.requests.while_limited
        stage.clock.step = step
        told = await pass_minutes(product, 130)

    assert stage.world.requests.while_limited - met <= 1
    assert [change for _, change in told] == [DRAFT]
    # The bound of a wait is an hour and five minutes, counted from the step.
    assert told[0][0] <= 67
