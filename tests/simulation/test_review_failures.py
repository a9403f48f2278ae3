"""What goes wrong in the review queue: nothing is lost, doubled or blamed on others."""

import dataclasses

import anyio
import httpx
import pytest
import trio.testing
from structlog.testing import capture_logs

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import (
    AuditAction,
    AuditActor,
    IncompleteReason,
    ReviewAudit,
)
from prwatch.errors import StoreUnavailable
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.faults import Fault
from prwatch.store import review_audit, review_tasks, review_watches
from tests.product import LoopClock, MovedClock, open_product
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    list_tasks,
    numbers,
    open_queue,
    read_watch,
    turn,
)


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


async def clean(product, evidence):
    """Clean the only review task away, as cleanup does, under this evidence."""
    watch = await read_watch(product)
    now = product.clock.now()

    async def write(tx):
        (row,) = await review_tasks.list_review_tasks(tx, watch.workspace_id)
        entry = ReviewAudit(
            id=f"a{now.timestamp()}",
            workspace_id=row.workspace_id,
            review_watch_id=watch.id,
            pull_request=row.pull_request,
            external_id=row.pull_request.external_id,
            action=AuditAction.DELETED,
            reason="done",
            evidence=evidence,
            acted_at=now,
            acted_by=AuditActor.SCHEDULE if evidence else AuditActor.PERSON,
        )
        await review_audit.add_audit(tx, entry)
        await review_tasks.remove_review_task(tx, row.id)

    await product.runtime.database.transact(write)
    with product.connect() as connection:
        connection.execute("DELETE FROM tasks")


async def test_what_was_cleaned_comes_back_when_it_is_asked_for_again(tmp_path, world):
    one = ask(world, 1)
    reviews = f'{MINE}\nquery = "repo:octo/hello"'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        world.submit_review(one, "octocat")
        await clean(product, {"review": "APPROVED"})
        _, approved = await turn(product, queue)
        world.request_review(one, "octocat")
        _, asked = await turn(product, queue)

    assert (numbers(approved), numbers(asked)) == ([], [1])
    assert asked[0]["data"]["backlog"] is False


@pytest.mark.parametrize(
    ("fault", "hits"),
    [
        pytest.param(Fault(kind="html502", times=None, match="ReviewFacts"), 1),
        pytest.param(
            Fault(
                kind="partial_not_found", numbers=(1,), times=None, match="ReviewFacts"
            ),
            1,
        ),
        pytest.param(Fault(kind="html502", times=None, match="ReviewHits"), 0),
    ],
    ids=["facts fail", "one of the facts is not there", "search fails"],
)
async def test_what_could_not_be_read_is_taken_up_later(tmp_path, world, fault, hits):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        world.faults.add(fault)
        report, none = await turn(product, queue)
        broken = await read_watch(product)
        world.faults.clear()
        _, told = await turn(product, queue)
        whole = await read_watch(product)

    (outcome,) = report.outcomes.values()
    assert (outcome.hits, outcome.is_complete, none) == (hits, False, [])
    assert broken.incomplete_since is not None
    is_unread = broken.incomplete_reason is IncompleteReason.UNREAD
    assert (broken.backlog_done_at is not None) is is_unread
    assert [e["data"]["backlog"] for e in told] == [not is_unread]
    assert numbers(told) == [1]
    assert (whole.incomplete_since, whole.last_error) == (None, "")


class FailingDatabase:
    """Refuses to make tasks, at once or never ending."""

    def __init__(self, database, *, hangs=False):
        self._database = database
        self._hangs = hangs

    async def transact(self, fn):
        if fn.__qualname__.startswith("_create"):
            if self._hangs:
                await anyio.sleep_forever()
            raise StoreUnavailable("the database is locked")
        return await self._database.transact(fn)

    async def read(self, fn):
        return await self._database.read(fn)


async def test_a_reservation_is_given_back_when_its_task_cannot_be_made(
    tmp_path, world
):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        failing = FailingDatabase(product.runtime.database)
        queue = ReviewQueue(dataclasses.replace(product.runtime, database=failing))
        report, _ = await turn(product, queue)
        assert isinstance(report.error, StoreUnavailable)
        assert list_tasks(product) == []
        _, told = await turn(product, gap=1.0)

    assert numbers(told) == [1]


async def test_a_stop_in_the_middle_gives_the_reservation_back(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        hanging = FailingDatabase(product.runtime.database, hangs=True)
        queue = ReviewQueue(dataclasses.replace(product.runtime, database=hanging))
        with anyio.move_on_after(0.5) as scope:
            await turn(product, queue)
        assert scope.cancelled_caught
        assert list_tasks(product) == []


async def test_a_dead_token_stops_no_other_workspace(tmp_path, world):
    ask(world, 1)
    reviews = f'{MINE}\n[[workspace]]\nname = "corp"\ntoken_env = "OTHER"\n{MINE}'
    async with open_queue(
        tmp_path,
        world,
        reviews=reviews,
        token="dead",
        secrets={"OTHER": DEFAULT_TOKEN},
    ) as product:
        report, told = await turn(product)

    assert [each["data"]["workspace"] for each in told] == ["corp"]
    assert [each.workspace for each in report.failures] == ["acme"]


async def test_without_graphql_a_review_watch_says_that_it_needs_it(tmp_path, world):
    async with open_queue(tmp_path, world, poll='read_path = "rest"') as product:
        report, _ = await turn(product)
        watch = await read_watch(product)

    (failure,) = report.failures
    assert failure.failure_class.value == "config"
    assert "GraphQL" in watch.last_error


async def test_a_name_that_a_person_took_is_told_and_stays(tmp_path, world):
    async with open_queue(tmp_path, world) as product:
        watch = await read_watch(product)
        await product.runtime.database.transact(
            lambda tx: review_watches.put_review_owner(tx, watch.id, "command")
        )
    with capture_logs() as logs:
        edited = f'{MINE}\npolicy = "never"'
        async with open_queue(tmp_path, world, reviews=edited) as product:
            kept = await read_watch(product)

    assert kept.settings.policy.value == "auto"
    assert [each["event"] for each in logs] == ["review_watch.taken"]
    assert "review watch mine is left" in logs[0]["warning"]


class TestLoop:
    """The loop in the daemon, over hours that pass at once."""

    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})

    async def run(self, product, *, seconds, meanwhile):
        registry = LoopRegistry(product.clock)
        loop = ReviewLoop(product.runtime, registry)
        registry.begin_run(loop.name, loop.deadline)
        with capture_logs() as logs, anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                group.start_soon(loop.run, lambda: None)
                await meanwhile(loop)
                await anyio.sleep_forever()
        names = [each["event"] for each in logs if each["event"].startswith("review")]
        return names, registry.as_json()[loop.name]

    async def test_a_failure_is_told_once_and_so_is_its_end(self, tmp_path):
        clock = LoopClock()
        world = World(clock)
        world.add_repository("octo/hello")
        ask(world, 1)
        fault = world.faults.add(Fault(kind="html502", times=None))
        transport = httpx.ASGITransport(GitHubApp(world))

        async def meanwhile(_):
            await anyio.sleep(1000)
            world.faults.remove(fault)

        async with open_product(
            tmp_path, world, clock=clock, transport=transport, watches=(), tasks=MINE
        ) as product:
            names, _ = await self.run(product, seconds=2000, meanwhile=meanwhile)

        assert names == [
            "review_watch.failed",
            "review_watch.recovered",
            "review_queue.completed",
        ]

    async def test_what_could_not_be_read_is_told_once(self, tmp_path):
        clock = LoopClock()
        world = World(clock)
        world.add_repository("octo/hello")
        ask(world, 1)
        fault = world.faults.add(
            Fault(kind="partial_not_found", numbers=(1,), times=None)
        )

        async def meanwhile(_):
            await anyio.sleep(1000)
            world.faults.remove(fault)

        async with open_product(
            tmp_path, world, clock=clock, watches=(), tasks=MINE
        ) as product:
            names, _ = await self.run(product, seconds=2000, meanwhile=meanwhile)

        assert names == ["review_watch.unread", "review_queue.completed"]

    async def test_a_store_that_fails_is_no_crash(self, tmp_path):
        clock = LoopClock()
        world = World(clock)
        world.add_repository("octo/hello")
        ask(world, 1)
        async with open_product(
            tmp_path, world, clock=clock, watches=(), tasks=MINE
        ) as product:
            runtime = product.runtime
            failing, whole = FailingDatabase(runtime.database), runtime.database
            runtime.database = failing

            async def meanwhile(loop):
                await anyio.sleep(100)
                runtime.database = whole
                loop.notify()

            names, facts = await self.run(product, seconds=200, meanwhile=meanwhile)
            assert len(list_tasks(product)) == 1

        assert sorted(names) == [
            "review_queue.completed",
            "review_queue.failed",
            "review_queue.works_again",
        ]
        assert facts["consecutive_failures"] == 0
