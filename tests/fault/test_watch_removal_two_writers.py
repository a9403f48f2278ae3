"""What others do with a review watch's rows in the instant in which it is removed."""

import dataclasses
import itertools

import pytest

from prwatch.app.command.review.cleanup import clean_reviews
from prwatch.app.command.review.commands import add_review, poll_reviews, remove_review
from prwatch.app.command.review.restore import restore_review
from prwatch.domain.review_watch import RESERVED_FOR, CleanupPolicy, ReviewSettings
from prwatch.domain.task import Origin
from prwatch.store import review_tasks, review_watches, tasks
from prwatch.store.opening import open_database
from tests.benches import get_pull_request, make_stage
from tests.contract.store_backends import NOW, empty_tables, open_schema
from tests.contract.store_review import make_review_task, make_review_watch
from tests.contract.store_rows import make_task, put_ground
from tests.fault.two_writers import ENOUGH, Between, read

pytestmark = pytest.mark.postgres

WATCH, ROW = make_review_watch(), make_review_task()
MADE = make_task(9, id="made", external_id="review:octo/hello#12", origin=Origin.REVIEW)
BENCH = """
[[workspace]]
name = "acme"
token_env = "ACME_TOKEN"
"""


@pytest.fixture
def schema_url():
    with open_schema() as url:
        yield url


async def reserve(tx):
    reserved = await review_tasks.reserve_review_task(
        tx, ROW, WATCH, stale_before=NOW - RESERVED_FOR
    )
    # One statement more: others may come after what is written, too.
    await review_tasks.hold_joined_task(tx, "none")
    return reserved


async def create(tx):
    if await review_tasks.assign_review_task(tx, ROW, MADE.id):
        return await tasks.add_task(tx, MADE)
    return False


async def remove(tx):
    return await review_watches.remove_review_watch(tx, WATCH)


async def shed(tx):
    return await review_watches.shed_review_tasks(tx, WATCH)


def act_with(url, write):
    """Return an act: a transaction, which waits for locks no longer than a moment."""

    async def act():
        async with open_database(f"{url}&lock_timeout=50", now=NOW) as database:
            await database.transact(write)

    return act


async def put(database, *, is_reserved):
    await database.transact(put_ground)

    async def write(tx):
        await review_watches.add_review_watch(tx, WATCH)
        if is_reserved:
            await reserve(tx)

    await database.transact(write)


async def find_wrong(url):
    """Return review tasks without a row, and rows whose watch is not there."""
    return await read(
        url,
        "SELECT id FROM tasks WHERE origin = 'review'"
        " AND id NOT IN (SELECT task_id FROM review_tasks)"
        " UNION ALL SELECT id FROM review_tasks WHERE review_watch_id <> ''"
        " AND review_watch_id NOT IN (SELECT id FROM review_watches)",
    )


@pytest.mark.parametrize("removal", [remove, shed])
async def test_a_task_that_is_made_while_its_watch_is_removed_has_its_row(
    schema_url, removal
):
    found = []
    for place in itertools.count(1):
        async with open_database(schema_url, now=NOW) as database:
            await empty_tables(schema_url)
            await put(database, is_reserved=True)
            act = act_with(schema_url, create)
            between = Between(database, removal.__qualname__, act, place)
            await between.transact(removal)
            await database.transact(remove)
            assert not await database.transact(create)
        assert await find_wrong(schema_url) == [], place
        found.append(between.acted)
        if found[-3:] in (ENOUGH, [None] * 3):
            break
    assert True in found


@pytest.mark.parametrize("is_other_order", [False, True], ids=["same", "other order"])
async def test_two_watches_that_are_removed_at_once_leave_one_row(
    schema_url, is_other_order
):
    found = []
    never = ReviewSettings(policy=CleanupPolicy.NEVER)
    other = make_review_watch(2, settings=never)

    async def fill(tx):
        for each in (WATCH, other):
            await review_watches.add_review_watch(tx, each)
            for number in (12, 13):
                is_turned = is_other_order and each is other
                row = make_review_task(
                    number,
                    id=f"d{25 - number if is_turned else number}{each.id}",
                    review_watch_id=each.id,
                    task_id=f"t{number - 11}",
                )
                await review_tasks.add_review_task(tx, row)

    async def remove_other(tx):
        return await review_watches.remove_review_watch(tx, other)

    for place in itertools.count(1):
        async with open_database(schema_url, now=NOW) as database:
            await empty_tables(schema_url)
            await database.transact(put_ground)
            await database.transact(fill)
            act = act_with(schema_url, remove_other)
            between = Between(database, remove.__qualname__, act, place)
            assert await between.transact(remove)
            await database.transact(remove_other)
        left = await read(
            schema_url, "SELECT review_watch_id, policy FROM review_tasks"
        )
        assert list(map(tuple, left)) == [("", "never")] * 2, place
        found.append(between.acted)
        if found[-3:] in (ENOUGH, [None] * 3):
            break
    assert {True, False} <= set(found)


async def test_what_is_reserved_while_its_watch_is_removed_goes_with_it(schema_url):
    found = []
    for place in itertools.count(1):
        async with open_database(schema_url, now=NOW) as database:
            await empty_tables(schema_url)
            await put(database, is_reserved=False)
            act = act_with(schema_url, remove)
            between = Between(database, reserve.__qualname__, act, place)
            reserved = await between.transact(reserve)
            assert reserved is not between.acted
            await database.transact(remove)
            assert not await database.transact(create)
        assert await find_wrong(schema_url) == [], place
        found.append(between.acted)
        if between.acted is None:
            break
    assert {True, False} <= set(found)


async def test_a_task_that_comes_back_while_its_watch_is_removed_is_left_by_it(
    tmp_path, schema_url
):
    found = []
    for place in itertools.count(1):
        top = f'database_url = "{schema_url}&lock_timeout=50"'
        stage = make_stage(tmp_path, f"{top}\n{BENCH}")
        stage.world.request_review(get_pull_request(stage.world), "octocat")
        async with stage.bench() as bench:
            await add_review(bench, "mine", ReviewSettings())
            await poll_reviews(bench, stage.loaded)
            stage.world.merge(get_pull_request(stage.world))
            for _ in range(2):
                stage.clock.advance(301)
                await clean_reviews(bench, stage.loaded)

            async def act(stage=stage):
                async with stage.bench() as other:
                    await remove_review(other, "mine")

            between = Between(bench.database, "_restore", act, place)
            other = dataclasses.replace(bench, database=between)
            await restore_review(other, MADE.external_id)
        assert await find_wrong(schema_url) == [], place
        await empty_tables(schema_url)
        found.append(between.acted)
        if found[-3:] in (ENOUGH, [None] * 3):
            break
    assert {True, False} <= set(found)
