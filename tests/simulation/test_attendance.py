"""Several wait for one pull request: the daemon looks once for all of them."""

from dataclasses import dataclass

import pytest

from prwatch.app.daemon.attendance import answer_attend
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.runtime import Runtime
from prwatch.errors import WatchNotFound
from prwatch.simulator import Fault, World
from tests.product import ONE, MovedClock, open_product

WAITERS = 5


@dataclass
class Shift:
    runtime: Runtime
    loop: WatchLoop


@dataclass
class Attended:
    """As much of a daemon as knows who waits."""

    shift: Shift


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="topic", number=12)
    world.clock.advance(3600)
    return world


def attend(product, watch_id=None):
    registry = LoopRegistry(product.clock)
    loop = WatchLoop(product.runtime, registry)
    loop.last_report = product.report
    found = watch_id or product.ask("SELECT id FROM pr_watches")[0]["id"]
    return answer_attend(Attended(Shift(product.runtime, loop)), {"watch": found})


async def test_five_who_wait_cost_one_request_an_interval(tmp_path, world):
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)
        world.requests.clear()
        for _ in range(8):
            for _ in range(WAITERS):
                await attend(product)
            await product.cycle(gap=7.5, is_forced=False)
        asked = len(world.requests)
        await product.cycle(gap=120.0, is_forced=False)
        await product.cycle(gap=15.0, is_forced=False)
        later = product.report.skipped["not_due"]

    assert asked == 4
    assert later == 1


async def test_who_waits_learns_when_it_was_seen_well(tmp_path, world):
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)
        first = await attend(product)
        await product.cycle(gap=15.0, is_forced=False)
        second = await attend(product)

    assert first["good_at"] == first["now"] < second["good_at"] == second["now"]
    assert second["failures"] == []


async def test_who_waits_learns_what_is_in_the_way(tmp_path, world):
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)
        world.faults.add(Fault(kind="bad_credentials", times=None))
        for _ in range(3):
            await product.cycle(gap=60.0, is_forced=False)
        answer = await attend(product)

    assert [failure["class"] for failure in answer["failures"]] == ["auth"]


async def test_what_is_not_watched_is_not_waited_for(tmp_path, world):
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle(is_forced=False)

        with pytest.raises(WatchNotFound):
            await attend(product, "W-99")
