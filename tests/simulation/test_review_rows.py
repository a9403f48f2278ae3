"""Rows of the review queue that cannot be understood: each harms itself alone."""

import contextlib

import pytest
from structlog.testing import capture_logs

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import AuditAction, AuditActor, ReviewAudit
from prwatch.simulator import World
from prwatch.store import review_audit, review_tasks, review_watches
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    list_tasks,
    numbers,
    open_queue,
    read_watch,
    turn,
)

BOTH = f'{MINE}\n[[workspace.review]]\nname = "other"\ntarget_login = "bob"'
FAR = 2**62
DEEP = "[" * 100_000
BROKEN = [
    ("scope", "nobody"),
    ("policy", "sometimes"),
    ("origin", "nowhere"),
    ("repositories", "no JSON"),
    ("repositories", '{"octo/hello": 1}'),
    ("organisations", "[1]"),
    ("organisations", DEEP),
    ("interval_seconds", FAR),
    ("incomplete_since", FAR),
    ("incomplete_reason", "who knows"),
    ("created_at", -FAR),
]
IDS = [f"{column} {str(value)[:12]}" for column, value in BROKEN]


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    ask(world, 1)
    ask(world, 2, "bob")
    return world


def spoil(product, table, column, value, where="1"):
    with contextlib.closing(product.connect()) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value,))


@pytest.mark.parametrize(("column", "value"), BROKEN, ids=IDS)
async def test_a_watch_that_cannot_be_read_stops_itself_alone(
    tmp_path, world, column, value
):
    async with open_queue(tmp_path, world, reviews=BOTH) as product:
        spoil(product, "review_watches", column, value, "name = 'mine'")
        queue = ReviewQueue(product.runtime)
        report, told = await turn(product, queue)

    assert numbers(told) == [2]
    assert [each.name for each in report.unreadable] == ["mine"]
    assert queue.counts.watches == {"enabled": 1, "disabled": 0, "unreadable": 1}


@pytest.mark.parametrize("place", ["repositories", "target_login", "query"])
async def test_a_row_with_settings_that_nobody_may_choose_is_not_searched(
    tmp_path, world, place
):
    value = {"repositories": '["octo/hello is:closed"]'}.get(place, "x\nis:closed")
    async with open_queue(tmp_path, world, reviews=BOTH) as product:
        spoil(product, "review_watches", place, value, "name = 'mine'")
        report, told = await turn(product)
        watch = await read_watch(product)

    assert numbers(told) == [2]
    assert [f.failure_class.value for f in report.failures] == ["config"]
    assert watch.last_error.startswith(place)


async def test_a_row_that_asks_for_more_than_once_a_minute_does_not_get_it(
    tmp_path, world
):
    async with open_queue(tmp_path, world) as product:
        spoil(product, "review_watches", "interval_seconds", 1)
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        report, _ = await turn(product, queue, gap=59.0)

    assert report.outcomes == {}
    # Which is also what `prwatch review add` refuses.


async def test_an_entry_that_declares_it_anew_mends_the_row(tmp_path, world):
    async with open_queue(tmp_path, world) as product:
        before = await read_watch(product)
        spoil(product, "review_watches", "scope", "nobody")
        assert await read_watch(product) is None
    async with open_queue(tmp_path, world) as product:
        after = await read_watch(product)
        _, told = await turn(product)

    assert (after.id, after.settings) == (before.id, before.settings)
    assert numbers(told) == [1]


async def test_an_unreadable_watch_is_removed_and_its_tasks_stay(tmp_path, world):
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        spoil(product, "review_watches", "scope", "nobody")
        await turn(product, queue)
        (broken,) = queue.unreadable
        await product.runtime.database.transact(
            lambda tx: review_watches.remove_review_watch(tx, broken)
        )
        left = product.ask("SELECT review_watch_id, policy FROM review_tasks")

        assert len(list_tasks(product)) == 1
    assert left == [{"review_watch_id": "", "policy": "never"}]


@pytest.mark.parametrize(
    ("column", "value"),
    [("policy", "x"), ("terminal_evidence", "[]"), ("created_at", FAR)],
)
async def test_what_a_watch_knows_is_known_also_from_a_row_that_cannot_be_read(
    tmp_path, world, column, value
):
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        spoil(product, "review_tasks", column, value)
        ask(world, 3)
        report, told = await turn(product, queue)
        watch = await read_watch(product)
        rows, unreadable = await product.runtime.database.read(
            lambda tx: review_tasks.read_review_tasks(tx, watch.workspace_id)
        )

    assert (numbers(told), report.error) == ([3], None)
    assert (len(rows), list(unreadable.values())) == (1, [watch.id])


async def test_an_entry_of_the_record_that_cannot_be_read_keeps_nothing_away(
    tmp_path, world
):
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        watch = await read_watch(product)
        (row,) = await product.runtime.database.read(
            lambda tx: review_tasks.list_review_tasks(tx, watch.workspace_id)
        )
        entry = ReviewAudit(
            id="a",
            workspace_id=watch.workspace_id,
            review_watch_id=watch.id,
            pull_request=row.pull_request,
            external_id=row.pull_request.external_id,
            action=AuditAction.DELETED,
            reason="done",
            evidence={"state": "MERGED"},
            acted_at=product.clock.now(),
            acted_by=AuditActor.SCHEDULE,
        )

        async def clean(tx):
            await review_audit.add_audit(tx, entry)
            await review_tasks.remove_review_task(tx, row.id)

        await product.runtime.database.transact(clean)
        with contextlib.closing(product.connect()) as connection:
            connection.execute("DELETE FROM tasks")
        spoil(product, "review_audit", "evidence", "no JSON")
        _, told = await turn(product, queue)

    assert numbers(told) == [1]


async def test_the_loop_tells_of_an_unreadable_watch_once(tmp_path, world):
    async with open_queue(tmp_path, world, reviews=BOTH) as product:
        spoil(product, "review_watches", "scope", "nobody", "name = 'mine'")
        loop = ReviewLoop(product.runtime, LoopRegistry(product.clock))
        with capture_logs() as logs:
            for _ in range(3):
                loop._tell(await loop.queue.run_once())
    told = [each for each in logs if each["event"] == "review_watch.unreadable"]

    assert [(each["workspace"], each["name"]) for each in told] == [("acme", "mine")]
    assert "nobody" in told[0]["message"]
