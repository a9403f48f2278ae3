"""What others change in the very instant of a removal, on an engine of many writers."""

import dataclasses
import itertools

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.simulator import World
from tests.cleanup import ME, MINE, ask, open_found, sweep, verdicts
from tests.contract.store_backends import open_schema
from tests.fault.two_writers import ENOUGH, Between, read, statement
from tests.product import MovedClock, open_product

pytestmark = pytest.mark.postgres

THEIRS = f'{MINE}\npolicy = "always"\n[[workspace.review]]\nname = "theirs"'
NAME = "review:octo/hello#1"


@pytest.fixture
def schema_url():
    with open_schema() as url:
        yield url


async def find_state(url):
    """Return how many tasks there are, and rows whose task is not there."""
    (found,) = await read(
        url,
        "SELECT (SELECT count(*) FROM tasks) AS tasks,"
        " (SELECT count(*) FROM review_tasks AS r WHERE r.task_id <> '' AND NOT EXISTS"
        " (SELECT 1 FROM tasks AS t WHERE t.id = r.task_id)) AS lost,"
        " (SELECT count(*) FROM review_audit WHERE action = 'deleted') AS told",
    )
    return found["tasks"], found["lost"], found["told"]


async def remove_between(tmp_path, url, world, *, reviews, act, place):
    """Sweep what is done twice, while others act before a statement of its removal."""
    top = f'database_url = "{url}"'
    options = {"policy": "always", "reviews": reviews, "is_inline": False, "top": top}
    async with open_found(tmp_path, world, **options) as (product, _):
        between = Between(product.runtime.database, "remove_done", act, place)
        runtime = dataclasses.replace(product.runtime, database=between)
        cleanup = ReviewCleanup(runtime)
        world.submit_review(next(iter(world.pull_requests.values())), ME)
        await sweep(product, cleanup)
        report = await sweep(product, cleanup)
    return between, verdicts(report)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE review_watches SET policy = 'never', revision = revision + 1",
        "UPDATE review_tasks SET terminal_seen_at = NULL",
        "INSERT INTO sessions SELECT 's', id, 's', 'running', 1, NULL FROM tasks",
    ],
)
async def test_what_is_changed_in_that_instant_keeps_the_task_or_comes_too_late(
    tmp_path, schema_url, sql
):
    found = []
    for place in itertools.count(1):
        world = World(MovedClock())
        world.add_repository("octo/hello")
        ask(world)
        folder = tmp_path / str(place)
        between, told = await remove_between(
            folder,
            schema_url,
            world,
            reviews=MINE,
            act=statement(schema_url, sql),
            place=place,
        )
        state = await find_state(schema_url)
        found.append(between.acted)
        if between.acted and "sessions" not in sql:
            assert (told, state) == ({"changed": 1}, (1, 0, 0)), place
        elif not between.acted:
            assert (told, state) == ({"deleted": 1}, (0, 0, 1)), place
        else:
            (audit,) = await read(schema_url, "SELECT snapshot FROM review_audit")
            assert '"s"' in audit["snapshot"], place
        await empty(schema_url)
        if found[-3:] == ENOUGH:
            break
    assert True in found


async def test_a_watch_that_joins_in_that_instant_keeps_the_task_or_makes_its_own(
    tmp_path, schema_url
):
    found = []
    theirs = f'{THEIRS}\ntarget_login = "bob"\nquery = "is:pr"'
    for place in itertools.count(1):
        world = World(MovedClock())
        world.add_repository("octo/hello")
        ask(world)
        folder = tmp_path / str(place)

        async def join(folder=folder, world=world):
            top = f'database_url = "{schema_url}&lock_timeout=50"'
            options = {"is_inline": False, "top": top, "seed": 1}
            text = f'{theirs}\npolicy = "never"'
            async with open_product(
                folder, world, watches=(), tasks=text, **options
            ) as product:
                report = await ReviewQueue(product.runtime).run_once()
            if report.error is not None:
                raise report.error

        between, told = await remove_between(
            folder, schema_url, world, reviews=MINE, act=join, place=place
        )
        tasks, lost, removed = await find_state(schema_url)
        found.append(between.acted)
        assert lost == 0, place
        if between.acted:
            assert (told, tasks, removed) == ({"changed": 1}, 1, 0), place
        else:
            assert (told, tasks, removed) == ({"deleted": 1}, 0, 1), place
        await empty(schema_url)
        if found[-3:] == ENOUGH:
            break
    assert True in found


async def empty(url):
    names = ("review_tasks", "review_watches", "review_audit", "sessions")
    for name in (*names, "tasks", "deliveries", "events"):
        await read(url, f"DELETE FROM {name}")
