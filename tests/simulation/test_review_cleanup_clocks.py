"""Several sweepers whose clocks do not agree: a cycle of true time passes all the same."""

import dataclasses
import datetime as dt

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.simulator import World
from tests.cleanup import DRY, ask, open_found, sweep, tasks, verdicts
from tests.product import MovedClock


class SkewedClock:
    """Another machine's: its wall clock is off by `skew`, and may be put right."""

    def __init__(self, clock, **skew):
        self._clock = clock
        self.skew = dt.timedelta(**skew)

    def now(self):
        return self._clock.now() + self.skew

    def monotonic(self):
        return self._clock.monotonic() + 5_000.0

    async def sleep(self, seconds):
        await self._clock.sleep(seconds)


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


def open_other(product, clock):
    surroundings = dataclasses.replace(product.runtime.surroundings, clock=clock)
    runtime = dataclasses.replace(product.runtime, surroundings=surroundings)
    return ReviewCleanup(runtime, is_lasting=True)


@pytest.mark.parametrize("minutes", [6, 60 * 24])
async def test_a_clock_that_is_ahead_lets_a_cycle_pass(tmp_path, world, minutes):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        ahead = open_other(product, SkewedClock(product.clock, minutes=minutes))
        world.merge(one)
        await sweep(product, cleanup)
        dry = await sweep(product, ahead, DRY, gap=1.0)
        early = [await sweep(product, ahead, gap=1.0)]
        early += [await sweep(product, ahead, gap=149.0) for _ in range(2)]
        assert tasks(product)
        last = await sweep(product, ahead, gap=2.0)

        assert [verdicts(each) for each in (dry, *early)] == [{"grace": 1}] * 4
        assert verdicts(last) == {"deleted": 1}


async def test_a_clock_that_is_set_forward_lets_a_cycle_pass(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, _):
        clock = SkewedClock(product.clock)
        cleanup = open_other(product, clock)
        world.merge(one)
        await sweep(product, cleanup)
        clock.skew = dt.timedelta(days=3)
        early = await sweep(product, cleanup, gap=1.0)
        last = await sweep(product, cleanup, gap=299.0)

        assert (verdicts(early), verdicts(last)) == ({"grace": 1}, {"deleted": 1})


async def test_what_is_noted_anew_is_waited_for_anew(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world) as (product, cleanup):
        ahead = open_other(product, SkewedClock(product.clock, minutes=6))
        world.close(one)
        await sweep(product, cleanup)
        await sweep(product, ahead, gap=1.0)
        world.reopen(one)
        await sweep(product, cleanup, gap=250.0)
        world.close(one)
        await sweep(product, cleanup, gap=1.0)
        report = await sweep(product, ahead, gap=60.0)

        assert verdicts(report) == {"grace": 1}


async def test_a_restart_costs_a_cycle_however_long_the_time_of_grace(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world, top='[review]\ngrace = "2d"') as (
        product,
        cleanup,
    ):
        world.merge(one)
        await sweep(product, cleanup)
        product.clock.advance(2 * 24 * 3600.0)
        restarted = open_other(product, product.clock)
        first = await sweep(product, restarted)
        second = await sweep(product, restarted)

        assert (verdicts(first), verdicts(second)) == ({"grace": 1}, {"deleted": 1})


async def test_a_short_time_of_grace_is_enough_for_who_saw_it_first(tmp_path, world):
    one = ask(world)
    async with open_found(tmp_path, world, top='[review]\ngrace = "1m"') as (
        product,
        _,
    ):
        cleanup = open_other(product, product.clock)
        world.merge(one)
        first = await sweep(product, cleanup)
        second = await sweep(product, cleanup, gap=60.0)

        assert (verdicts(first), verdicts(second)) == ({"seen_done": 1}, {"deleted": 1})
