"""How long ago each watch was seen well, and what is told of those that were not."""

import datetime as dt

from prwatch.domain.freshness import StaleReason
from prwatch.simulator import World
from tests.product import BRANCH, ONE, MovedClock, open_product


def make_world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="topic", number=12)
    world.clock.advance(3600)
    return world


async def run(product, minutes):
    for _ in range(minutes):
        await product.cycle(gap=60.0, is_forced=False)
    ages = product.runtime.ages
    now = product.clock.now()
    return ages, (now - ages.oldest_at).total_seconds()


async def test_what_does_not_move_is_seen_well_all_the_same(tmp_path):
    async with open_product(tmp_path, make_world(), watches=(ONE, BRANCH)) as product:
        ages, oldest = await run(product, 30)

    assert (ages.watches, ages.overdue, oldest) == (2, {}, 0)


async def test_what_cannot_be_seen_is_told_with_its_reason(tmp_path):
    world = make_world()
    async with open_product(tmp_path, world, watches=(ONE, BRANCH)) as product:
        await run(product, 1)
        world.secondary_limit(dt.timedelta(minutes=20))
        limited, age = await run(product, 10)
        world.come_back()
        await run(product, 20)
        world.go_down(dt.timedelta(hours=1))
        down, _ = await run(product, 10)

    assert (limited.overdue, age) == ({StaleReason.LIMIT: 2}, 600)
    assert down.overdue == {StaleReason.CIRCUIT: 2}


async def test_a_watch_that_was_never_seen_waits_since_the_start(tmp_path):
    world = make_world()
    world.exhaust_rate_limit()
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        ages, age = await run(product, 7)

    assert (ages.overdue, age) == ({StaleReason.LIMIT: 1}, 360)


async def test_without_watches_there_is_nothing_to_wait_for(tmp_path):
    async with open_product(tmp_path, make_world(), watches=()) as product:
        await product.cycle(is_forced=False)
        ages = product.runtime.ages

    assert (ages.watches, ages.oldest_at) == (0, None)


async def test_through_rest_alone_the_core_limit_is_the_reason(tmp_path):
    world = make_world()
    poll = 'read_path = "rest"'
    async with open_product(tmp_path, world, watches=(ONE,), poll=poll) as product:
        await run(product, 1)
        world.exhaust_rate_limit("core")
        ages, _ = await run(product, 10)

    assert ages.overdue == {StaleReason.LIMIT: 1}
