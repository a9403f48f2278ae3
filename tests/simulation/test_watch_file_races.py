"""Looks at a folder of watch files that meet each other, and those that are cut off."""

import contextlib
from random import Random

import anyio
import httpx
import pytest

from prwatch.app.polling import start
from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due, sync_now
from prwatch.app.task_sync import TaskSync
from prwatch.errors import StoreConflict, StoreError
from prwatch.simulator import GitHubApp
from tests.followed import (
    BROKEN,
    FIX,
    HELLO,
    INTERVAL,
    TASK,
    follow,
    list_active,
    make_team,
    turn,
    write,
)
from tests.product import OUT

NARROW = '[[sink]]\nname = "out"\nevents = ["GitHubPRFeedback"]\n'
ALL = '[[watch]]\nrepository = "octo/hello"\nall = true\n'


@pytest.fixture
def world():
    return make_team()


class Gate(httpx.ASGITransport):
    """Holds one answer about a folder back until it is opened."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.is_on = False
        self.reached, self.opened = anyio.Event(), anyio.Event()

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if self.is_on and request.url.path.endswith("/.prwatch"):
            self.is_on = False
            self.reached.set()
            with anyio.fail_after(20):
                await self.opened.wait()
        return response


class Replica(httpx.ASGITransport):
    """Answers about the content of a file as it was at first, while it is on."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.is_on = False
        self._first = None

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if not request.url.path.endswith("a.toml"):
            return response
        body = await response.aread()
        self._first = self._first or body
        content = self._first if self.is_on else body
        return httpx.Response(200, headers=response.headers, content=content)


@contextlib.contextmanager
def failing(product, table):
    """Let no row be added to a table, as if the process ended there."""
    with contextlib.closing(product.connect()) as rows:
        rows.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON {table}"
            " BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        yield
        rows.execute("DROP TRIGGER full")


async def test_an_older_answer_undoes_nothing(tmp_path, world):
    write(world, HELLO)
    gate = Gate(world)
    async with follow(tmp_path, world, transport=gate) as product:
        await turn(product)
        write(world, "", "b.toml")
        product.clock.advance(INTERVAL)
        gate.is_on = True
        async with anyio.create_task_group() as group:
            group.start_soon(sync_due, product.runtime)
            await gate.reached.wait()
            write(world, TASK, "c.toml")
            group.start_soon(sync_now, product.runtime)
            for _ in range(500):  # far more than the second look takes alone
                await anyio.lowlevel.checkpoint()
            gate.opened.set()

        assert list_active(product) == ["T-1", "octo/hello#12"]


async def test_an_older_answer_of_another_process_undoes_nothing(tmp_path, world):
    write(world, HELLO)
    gate = Gate(world)
    async with (
        follow(tmp_path, world, transport=gate) as slow,
        follow(tmp_path, world) as quick,
    ):
        await turn(slow)
        await turn(quick)
        write(world, "", "b.toml")
        slow.clock.advance(INTERVAL)
        gate.is_on = True
        async with anyio.create_task_group() as group:
            group.start_soon(sync_due, slow.runtime)
            await gate.reached.wait()
            write(world, TASK, "c.toml")
            await sync_due(quick.runtime)
            gate.opened.set()

        assert list_active(slow) == ["T-1", "octo/hello#12"]
        names = slow.ask("SELECT name FROM watch_files ORDER BY name")
        assert [row["name"] for row in names] == ["a.toml", "b.toml", "c.toml"]


async def test_what_another_process_stored_is_applied_here_too(tmp_path, world):
    write(world, HELLO)
    async with (
        follow(tmp_path, world, sinks=OUT) as first,
        follow(tmp_path, world, sinks=OUT) as second,
    ):
        await turn(first)
        await turn(second)
        write(world, HELLO + FIX + NARROW)
        with failing(first, "tasks"), pytest.raises(StoreError):
            await turn(first)
        await turn(second)

        assert list_active(first) == ["octo/hello#12", "octo/hello@fix"]
        await turn(first)
        assert first.runtime.interests == second.runtime.interests
        assert first.runtime.interests[0].narrowings


async def test_a_content_that_lags_behind_its_list_is_read_again(tmp_path, world):
    write(world, HELLO)
    replica = Replica(world)
    async with follow(tmp_path, world, transport=replica) as product:
        await turn(product)
        write(world, FIX)
        replica.is_on = True
        await turn(product)
        replica.is_on = False
        caught_up = await turn(product)

        assert caught_up.result is SyncResult.CHANGED
        assert list_active(product) == ["octo/hello@fix"]


async def test_a_start_that_was_cut_off_leaves_nothing_that_no_folder_declares(
    tmp_path, world
):
    write(world, HELLO + ALL + '[[review]]\nname = "mine"\n')
    async with follow(tmp_path, world) as product:
        await turn(product)
        with contextlib.closing(product.connect()) as rows:
            rows.execute("DELETE FROM watch_files")
            rows.execute("DELETE FROM watch_folders")
    async with follow(tmp_path, world, sync="") as product:
        assert list_active(product) == []
        assert product.ask("SELECT * FROM repository_watches") == []
        assert product.ask("SELECT * FROM review_watches") == []


@pytest.mark.parametrize("content", [HELLO, HELLO + BROKEN])
async def test_nothing_is_applied_where_access_changed_during_a_quiet_look(
    tmp_path, world, content
):
    write(world, content)
    async with follow(tmp_path, world) as product:
        await turn(product)
        with contextlib.closing(product.connect()) as rows:
            rows.execute("UPDATE tasks SET archived_at = 1")

            def renew():
                rows.execute("UPDATE connections SET generation = generation + 1")

            (outcome,) = await sync_now(product.runtime, progress=renew)

        assert outcome.code == "access_changed"
        assert list_active(product) == []


@pytest.mark.parametrize("work", ["person_wrote_at = 1", "waits_for = 'an answer'"])
async def test_what_a_person_works_in_outlives_its_file_and_a_restart(
    tmp_path, world, work
):
    write(world, ALL + TASK)
    async with follow(tmp_path, world) as product:
        await turn(product)
        await product.cycle()
        with contextlib.closing(product.connect()) as rows:
            rows.execute(f"UPDATE tasks SET {work}")
        before = list_active(product)
        world.remove_file("octo/team", ".prwatch/a.toml")
        outcome = await turn(product)
        kept = list_active(product)
        await start(product.runtime)
        await product.cycle()

        assert len(before) == len(outcome.warnings) - 1
        assert kept == list_active(product) == before
    async with follow(tmp_path, world, sync="") as product:
        assert list_active(product) == before


class Death(Exception):
    """The process ended."""


class Dying:
    """A database whose process ends before a certain transaction of it."""

    def __init__(self, database, left):
        self._database = database
        self.left = left

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def transact(self, fn):
        if self.left == 0:
            raise Death
        self.left -= 1
        return await self._database.transact(fn)


@pytest.mark.parametrize(
    ("after", "is_cut"), [(0, True), (1, True), (2, True), (3, False)]
)
async def test_a_process_that_ends_between_any_two_steps_loses_nothing(
    tmp_path, world, after, is_cut
):
    """A file is exchanged for another; the turn is cut off after each transaction."""
    write(world, HELLO + TASK)
    async with follow(tmp_path, world) as product:
        await turn(product)
        await product.cycle()
        with contextlib.closing(product.connect()) as rows:
            rows.execute(
                "UPDATE tasks SET person_wrote_at = 1 WHERE external_id = 'T-1'"
            )
        world.remove_file("octo/team", ".prwatch/a.toml")
        write(world, HELLO + FIX + '[[review]]\nname = "mine"\n', "b.toml")
        runtime = product.runtime
        runtime.database = Dying(runtime.database, after)
        runtime.task_sync = TaskSync(
            runtime.database, clock=runtime.clock, chance=Random(0)
        )
        with pytest.raises(Death) if is_cut else contextlib.nullcontext():
            await turn(product)
        assert {"T-1", "octo/hello#12"} <= set(list_active(product))

    async with follow(tmp_path, world) as product:
        await turn(product)

        assert list_active(product) == ["T-1", "octo/hello#12", "octo/hello@fix"]
        assert len(product.ask("SELECT * FROM review_watches")) == 1
        assert await product.cycle() == []


async def test_a_look_that_others_outrun_again_and_again_ends(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, FIX)
        with contextlib.closing(product.connect()) as rows:

            def store():
                rows.execute("UPDATE watch_folders SET changed_at = changed_at + 1")

            product.clock.advance(INTERVAL)
            with pytest.raises(StoreConflict):
                await sync_due(product.runtime, progress=store)
        kept = list_active(product)
        await turn(product)

        assert kept == ["octo/hello#12"]
        assert list_active(product) == ["octo/hello@fix"]
