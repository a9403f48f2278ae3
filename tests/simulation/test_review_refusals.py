"""Hits that the store takes no task of: they harm no other, and people are told."""

import dataclasses

import pytest
from structlog.testing import capture_logs

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import IncompleteReason
from prwatch.simulator import World
from prwatch.simulator.faults import Fault
from prwatch.store import review_watches
from tests.cleanup import write
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    numbers,
    open_queue,
    read_watch,
    turn,
)

NEXT = f"{MINE}\n{MINE.replace('mine', 'next')}"
REFUSE = (
    "CREATE TRIGGER refuse BEFORE INSERT ON tasks"
    " WHEN NEW.external_id LIKE '%#1' BEGIN SELECT RAISE(ABORT, 'no'); END"
)
BAD_TASKS = {
    "time": "UPDATE tasks SET created_at = 4611686018427387904",
    "word": "UPDATE tasks SET origin = 'moon'",
}


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


def run(product, sql):
    with product.connect() as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(sql)


async def put_enabled(product, name, *, is_enabled):
    watch = await read_watch(product, name)
    settings = dataclasses.replace(watch.settings, is_enabled=is_enabled)
    await product.runtime.database.transact(
        lambda tx: review_watches.put_review_settings(tx, watch, settings)
    )


async def look(product, loop, *, gap=300.0):
    """Let one turn of the loop tell what it found; return the report."""
    product.clock.advance(gap)
    report = await loop.queue.run_once()
    loop._tell(report)
    return report


async def test_a_row_that_the_store_refuses_stops_no_other_and_is_told(tmp_path, world):
    for number in (1, 2):
        ask(world, number)
    async with open_queue(tmp_path, world, reviews=NEXT) as product:
        queue = ReviewQueue(product.runtime)
        run(product, REFUSE)
        report, told = await turn(product, queue)
        again, _ = await turn(product, queue, gap=60.0)
        broken = await read_watch(product)
        run(product, "DROP TRIGGER refuse")
        _, late = await turn(product, queue)
        whole = await read_watch(product)

    outcome = report.outcomes["acme", "mine"]
    assert (len(report.outcomes), report.error, again.outcomes) == (2, None, {})
    assert (numbers(told), numbers(late)) == ([2], [1])
    assert (outcome.refused, outcome.left, outcome.is_complete) == (1, 0, False)
    assert broken.last_error.startswith("octo/hello#1 got no task: ")
    assert broken.incomplete_reason is IncompleteReason.UNREAD
    assert (whole.last_error, whole.incomplete_since) == ("", None)


@pytest.mark.parametrize("sql", BAD_TASKS.values(), ids=BAD_TASKS)
async def test_a_task_that_cannot_be_understood_stops_no_turn(tmp_path, world, sql):
    ask(world, 1)
    async with open_queue(
        tmp_path, world, reviews=f"{NEXT}\nenabled = false"
    ) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        write(product, sql)
        ask(world, 2)
        await put_enabled(product, "next", is_enabled=True)
        report, told = await turn(product, queue)
        other = await read_watch(product, "next")

    outcome = report.outcomes["acme", "next"]
    assert (report.error, numbers(told)) == (None, [2])
    assert (outcome.joined, outcome.refused) == (1, 1)
    assert "octo/hello#1 got no task: the row of its task" in other.last_error


async def test_what_got_no_task_is_logged_once_also_beside_an_error(tmp_path, world):
    ask(world, 1)
    reviews = f'{MINE}\nrepositories = ["octo/hello", "octo/other"]'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        run(product, REFUSE)
        loop = ReviewLoop(product.runtime, LoopRegistry(product.clock))
        world.faults.add(Fault(kind="html502", times=None, skip=1, match="ReviewHits"))
        with capture_logs() as logs:
            for _ in range(2):
                world.faults.clear()
                fault = Fault(kind="html502", times=None, skip=1, match="ReviewHits")
                world.faults.add(fault)
                await look(product, loop)
        watch = await read_watch(product)

    names = [each["event"] for each in logs]
    assert sorted(names) == ["review_watch.failed", "review_watch.unread"]
    assert "octo/hello#1 got no task" in watch.last_error
    assert not watch.last_error.startswith("octo/hello#1")


async def test_the_loop_forgets_the_watches_that_are_gone(tmp_path, world):
    async with open_queue(tmp_path, world) as product:
        loop = ReviewLoop(product.runtime, LoopRegistry(product.clock))
        world.faults.add(Fault(kind="html502", times=None))
        await look(product, loop)
        kept = [len(each) for each in (loop._failures, loop._unread)]
        await put_enabled(product, "mine", is_enabled=False)
        await look(product, loop)

    assert kept == [1, 1]
    assert (loop._failures, loop._unread) == ({}, {})
