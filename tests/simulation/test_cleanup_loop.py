"""The daemon's loop of cleaning up: it goes on, and tells each thing once."""

import dataclasses

import anyio
import pytest
import trio.testing
from structlog.testing import capture_logs

from prwatch.app.daemon.cleanup_loop import CleanupLoop
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.review.queue import ReviewQueue
from prwatch.errors import StoreUnavailable
from prwatch.simulator import Fault, World
from tests.cleanup import MINE, ask, tasks
from tests.product import LoopClock, open_product

JUMPING = ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class FailingDatabase:
    """Fails while it is told to: at reading, or at removing a task."""

    def __init__(self, database):
        self._database = database
        self.fails = ""

    def _refuse(self, fn):
        if self.fails and fn.__qualname__.startswith(self.fails):
            raise StoreUnavailable("the database is locked")

    async def transact(self, fn):
        self._refuse(fn)
        return await self._database.transact(fn)

    async def read(self, fn):
        self._refuse(fn)
        return await self._database.read(fn)

    def __getattr__(self, name):
        return getattr(self._database, name)


@pytest.mark.parametrize("anyio_backend", [JUMPING], ids=["virtual"])
@pytest.mark.parametrize("fails", ["remove_done", "ReviewCleanup"])
async def test_the_loop_goes_on_after_a_store_that_fails(
    tmp_path, anyio_backend, fails
):
    clock = LoopClock()
    world = World(clock)
    world.add_repository("octo/hello")
    one = ask(world)
    async with open_product(
        tmp_path, world, clock=clock, watches=(), tasks=MINE
    ) as product:
        await ReviewQueue(product.runtime).run_once()
        world.merge(one)
        world.faults.add(Fault(kind="bad_credentials", times=2, match="ReviewEnds"))
        database = FailingDatabase(product.runtime.database)
        registry = LoopRegistry(clock)
        registry.begin_run(CleanupLoop.name, None)
        runtime = dataclasses.replace(product.runtime, database=database)
        loop = CleanupLoop(runtime, registry)
        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                await group.start(loop.run, lambda: None)
                # The refused token holds the second sweep back, the third sees it done.
                await anyio.sleep(750)
                database.fails = fails
                await anyio.sleep(900)
                failing = registry.list_facts()[0].failures
                kept = tasks(product)
                database.fails = ""
                await anyio.sleep(600)
                group.cancel_scope.cancel()
        names = [log["event"] for log in logs]

        assert failing > 0
        assert (len(kept), tasks(product)) == (1, [])
        assert registry.list_facts()[0].failures == 0
        assert names.count("review_task.deleted") == 1
        assert "review_cleanup.failed" in names
        assert [
            log["class"] for log in logs if log["event"] == "review_cleanup.stopped"
        ].count("auth") == 1


DAY = 24 * 3600.0
TOLD = ("unread", "stopped", "recovered", "works_again", "failed")


def told(logs):
    """Return what was told of failures: its name, and which task it is about."""
    return [
        (log["event"], log.get("reference", ""))
        for log in logs
        if log["event"].startswith("review_") and log["event"].endswith(TOLD)
    ]


@pytest.mark.parametrize("anyio_backend", [JUMPING], ids=["virtual"])
@pytest.mark.parametrize(
    ("fault", "begins", "reference"),
    [
        pytest.param(
            {"kind": "partial_not_found", "numbers": (1,), "match": "ReviewEnds"},
            "review_task.unread",
            "octo/hello#1",
            id="one pull request",
        ),
        pytest.param(
            {"kind": "bad_credentials"}, "review_cleanup.stopped", "", id="the token"
        ),
        pytest.param(
            {"kind": "html502", "match": "ReviewEnds"},
            "review_cleanup.stopped",
            "",
            id="GitHub",
        ),
    ],
)
async def test_what_fails_all_day_is_told_once_and_so_is_its_end(
    tmp_path, anyio_backend, fault, begins, reference
):
    clock = LoopClock()
    world = World(clock)
    world.add_repository("octo/hello")
    for number in (1, 2):
        ask(world, number)
    async with open_product(
        tmp_path, world, clock=clock, watches=(), tasks=MINE
    ) as product:
        await ReviewQueue(product.runtime).run_once()
        registry = LoopRegistry(clock)
        registry.begin_run(CleanupLoop.name, None)
        loop = CleanupLoop(product.runtime, registry)
        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                await group.start(loop.run, lambda: None)
                await anyio.sleep(400)
                quiet = told(logs)
                rule = world.faults.add(Fault(**fault, times=None))
                await anyio.sleep(DAY)
                failing = told(logs)
                world.faults.remove(rule)
                await anyio.sleep(DAY)
                rule = world.faults.add(Fault(**fault, times=None))
                await anyio.sleep(DAY)
                group.cancel_scope.cancel()

    ends = f"{begins.split('.')[0]}.recovered"
    assert (quiet, failing) == ([], [(begins, reference)])
    assert told(logs) == [(begins, reference), (ends, reference), (begins, reference)]
    assert {log["workspace"] for log in logs if log["event"] in {begins, ends}} == {
        "acme"
    }


@pytest.mark.parametrize("anyio_backend", [JUMPING], ids=["virtual"])
async def test_a_store_that_fails_all_day_is_told_once(tmp_path, anyio_backend):
    clock = LoopClock()
    world = World(clock)
    async with open_product(tmp_path, world, clock=clock, watches=()) as product:
        database = FailingDatabase(product.runtime.database)
        registry = LoopRegistry(clock)
        registry.begin_run(CleanupLoop.name, None)
        runtime = dataclasses.replace(product.runtime, database=database)
        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                database.fails = "ReviewCleanup"
                await group.start(CleanupLoop(runtime, registry).run, lambda: None)
                await anyio.sleep(DAY)
                database.fails = ""
                await anyio.sleep(DAY)
                group.cancel_scope.cancel()

    assert told(logs) == [
        ("review_cleanup.failed", ""),
        ("review_cleanup.works_again", ""),
    ]
