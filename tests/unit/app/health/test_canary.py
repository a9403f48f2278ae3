"""What one look of the canary says, and what two of them do."""

import pytest

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.health.canary import Canary
from prwatch.app.polling import poll
from prwatch.simulator import World
from tests.product import MovedClock, open_product

HOUR = 3600


@pytest.fixture
async def product(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Greet", number=12)
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        yield product


@pytest.fixture
def loop(product):
    return WatchLoop(product.runtime, LoopRegistry(product.clock))


@pytest.fixture
def canary(product, loop):
    return Canary(product.runtime, LoopRegistry(product.clock), loop)


async def test_only_a_second_look_confirms_what_the_first_suspects(product, canary):
    """A machine that slept finds all watches old when it wakes, for a moment."""
    product.clock.advance(HOUR)
    await canary.look()
    first = canary.unexplained
    await canary.look()

    assert (first, canary.unexplained) == (0, 1)


async def test_what_was_looked_at_in_between_is_no_alarm(product, canary):
    product.clock.advance(HOUR)
    await canary.look()
    await poll(product.runtime, is_forced=True)
    await canary.look()

    assert (canary.unexplained, canary.ages.overdue) == (0, {})


async def test_a_suspicion_ends_with_the_first_look_that_finds_nothing(product, canary):
    for _ in range(2):
        product.clock.advance(HOUR)
        await canary.look()
        await poll(product.runtime, is_forced=True)
        await canary.look()

    assert canary.unexplained == 0


async def test_looks_within_one_cycle_say_nothing(product, loop, canary):
    loop.is_polling = True
    product.clock.advance(HOUR)
    for _ in range(3):
        await canary.look()
    within = canary.unexplained
    # It has ended, and the next one began.
    loop.last_finished_at = product.clock.now()
    await canary.look()
    suspected = canary.unexplained
    loop.is_polling = False
    await canary.look()

    assert (within, suspected, canary.unexplained) == (0, 0, 1)


async def test_an_alarm_stays_while_looks_say_nothing(product, loop, canary):
    product.clock.advance(HOUR)
    await canary.look()
    await canary.look()
    loop.is_polling = True
    await canary.look()

    assert canary.unexplained == 1
