"""An entry of a review watch that gets another name: nobody is told anything twice."""

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.simulator import World
from tests.cleanup import ME, ask, rows, sweeps
from tests.product import MovedClock, open_product


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


def declare(name, policy="auto"):
    return f'[[workspace.review]]\nname = "{name}"\npolicy = "{policy}"'


async def search(tmp_path, world, text, *, gap=300.0):
    """Start with that configuration, search once, and return what was told of it."""
    async with open_product(tmp_path, world, watches=(), tasks=text) as product:
        product.clock.advance(gap)
        await ReviewQueue(product.runtime).run_once()
        for relay in product.runtime.relays:
            await relay.run_once()
        product.take_events()
        (watch,) = product.ask("SELECT * FROM review_watches")
        return watch, rows(product), list(product.notices)


async def test_a_renamed_entry_keeps_its_tasks_and_tells_nothing_again(tmp_path, world):
    ask(world)
    before, found, told = await search(tmp_path, world, declare("mine"))
    after, kept, again = await search(tmp_path, world, declare("ours"))

    assert after == {**before, "name": "ours"}
    assert (len(told), again, kept) == (1, [], found)
    assert [row["review_watch_id"] for row in kept] == [after["id"]]


async def test_the_record_goes_on_under_the_new_name(tmp_path, world):
    one = ask(world)
    await search(tmp_path, world, declare("mine"))
    async with open_product(
        tmp_path, world, watches=(), tasks=declare("mine")
    ) as product:
        cleanup = ReviewCleanup(product.runtime)
        world.submit_review(one, ME)
        assert await sweeps(product, cleanup) == 1
        (entry,) = product.ask("SELECT * FROM review_audit")
    watch, left, told = await search(tmp_path, world, declare("ours"))

    assert left == []
    assert [event["type"] for event in told] == ["GitHubPRReviewTaskDeleted"]
    assert (watch["name"], watch["id"]) == ("ours", entry["review_watch_id"])


async def test_an_entry_with_other_settings_leaves_its_tasks_to_people(tmp_path, world):
    one = ask(world)
    await search(tmp_path, world, declare("mine", "never"))
    world.submit_review(one, ME)  # no search finds it any more
    watch, left, told = await search(tmp_path, world, declare("ours", "always"))

    assert (watch["name"], told) == ("ours", [])
    assert [(row["review_watch_id"], row["policy"]) for row in left] == [("", "never")]
