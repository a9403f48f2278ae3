"""What the daemon says of a watch: its turn, the reason, and what is in the way."""

import datetime as dt

import pytest

from prwatch.app.control.outlook import answer_outlook
from prwatch.errors import WatchNotFound
from prwatch.simulator import Fault
from tests.product import BRANCH, ONE, MovedClock, open_product
from tests.simulation.scenarios import make_world

DAY = 86_400.0


@pytest.fixture
async def play(tmp_path):
    """Open a product that has seen the pull request once; give it with the world."""
    world, one = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        yield product, world, one


async def ask(product):
    (row,) = product.ask("SELECT id FROM pr_watches")
    return await answer_outlook(product.runtime, {"watch": row["id"]})


async def test_the_next_turn_is_told_with_its_reason(play):
    product, _, _ = play
    product.clock.advance(10)

    told = await ask(product)

    assert told["why"] == "every 1 min: it moved within the last hour"
    assert told["asked_at"] == told["good_at"] == "2026-11-30T12:01:00.000000Z"
    assert told["due_at"] == "2026-11-30T12:02:00.000000Z"
    assert (told["obstacles"], told["stretched"]) == ([], "")
    assert told["checks_summary"] is None


async def test_checks_that_run_bring_the_turn_forward(play):
    product, world, one = play
    world.set_check(one, "test", workflow="CI")
    await product.cycle()

    told = await ask(product)

    assert told["why"].startswith("every 15 s: checks run")
    assert told["checks_summary"].startswith('{"total":1,"pending":1,')


async def test_a_host_that_is_down_is_in_the_way(play):
    product, world, _ = play
    world.faults.add(Fault(kind="html502", times=None))
    await product.cycle()

    (obstacle, *_) = (await ask(product))["obstacles"]

    assert obstacle["kind"].startswith("circuit of the ")
    assert obstacle["message"]
    assert dt.datetime.fromisoformat(obstacle["until"]) > product.clock.now()


async def test_a_limit_is_in_the_way(play):
    product, world, _ = play
    world.secondary_limit(dt.timedelta(minutes=3))
    await product.cycle()

    obstacles = (await ask(product))["obstacles"]

    assert ("limit of graphql", "GitHub asked us to be slower") in [
        (each["kind"], each["message"]) for each in obstacles
    ]


async def test_a_branch_has_an_outlook_too(tmp_path):
    world, _ = make_world(MovedClock())
    branch = BRANCH.replace("fix-greeting", "later")
    async with open_product(tmp_path, world, watches=(branch,)) as product:
        await product.cycle()
        told = await ask(product)

    assert told["why"] == "every 1 min: somebody works on the branch"


async def test_a_watch_that_is_not_polled_is_not_known(play):
    product, _, _ = play

    with pytest.raises(WatchNotFound, match="W-1"):
        await answer_outlook(product.runtime, {"watch": "W-1"})


async def test_what_is_silent_for_an_hour_is_listed_without_a_watch(tmp_path):
    world, one = make_world(MovedClock())
    world.set_mergeable(one, "UNKNOWN")
    async with open_product(tmp_path, world, watches=(ONE,)) as product:
        await product.cycle()
        early = await answer_outlook(product.runtime, {})
        product.clock.advance(DAY)
        late = await answer_outlook(product.runtime, {})

    assert early == {"mergeable_unknown_since": {}}
    assert list(late["mergeable_unknown_since"].values()) == [
        "2026-11-30T12:01:00.000000Z"
    ]
