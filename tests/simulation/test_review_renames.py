"""An entry of a review watch that gets another name: nobody is told anything twice."""

import contextlib

import pytest
from structlog.testing import capture_logs

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


async def test_a_name_whose_row_cannot_be_read_is_mended_by_its_entry(tmp_path, world):
    ask(world)
    text = f'{declare("mine")}\n{declare("other")}\ntarget_login = "bob"'
    async with open_product(tmp_path, world, watches=(), tasks=text) as product:
        with contextlib.closing(product.connect()) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute(
                "UPDATE review_watches SET scope = 'nobody' WHERE name = 'other'"
            )
        (_, before) = product.ask("SELECT id FROM review_watches ORDER BY name")
    watch, found, told = await search(tmp_path, world, declare("other"))

    assert watch["id"] == before["id"]
    assert (watch["name"], watch["scope"], watch["target_login"]) == (
        "other",
        "user",
        "",
    )
    assert (len(found), len(told)) == (1, 1)


async def test_a_watch_that_others_change_all_the_time_stops_no_other_one(
    tmp_path, world
):
    text = f"{declare('mine')}\n{declare('zeta')}"
    async with open_product(tmp_path, world, watches=(), tasks=text) as product:
        with contextlib.closing(product.connect()) as connection:
            connection.execute(
                "CREATE TRIGGER busy BEFORE UPDATE OF policy ON review_watches"
                " WHEN OLD.name = 'mine' BEGIN SELECT RAISE(IGNORE); END"
            )
    edited = text.replace("auto", "never")
    with capture_logs() as logs:
        async with open_product(tmp_path, world, watches=(), tasks=edited) as product:
            rows = product.ask("SELECT name, policy FROM review_watches")
    policies = {row["name"]: row["policy"] for row in rows}

    assert policies == {"mine": "auto", "zeta": "never"}
    assert [each["warning"] for each in logs if each["log_level"] == "warning"] == [
        "somebody changed the review watch mine; it is brought in line later"
    ]
