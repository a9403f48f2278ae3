"""
The life of a watch file on each engine: edited, broken, mended, renamed, taken away.

What is watched is right at each step, and what a person works in outlives all of it.
"""

import anyio
import pytest

from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due
from prwatch.simulator import DEFAULT_TOKEN
from prwatch.store import review_watches, tasks, watch_files
from tests.contract.store_backends import open_schema
from tests.followed import (
    BROKEN,
    FIX,
    HELLO,
    INTERVAL,
    TASK,
    follow,
    make_team,
    turn,
    write,
)

ALL = '[[watch]]\nrepository = "octo/hello"\nall = true\n'
REVIEW = '[[review]]\nname = "mine"\n'
OWN = 'repository = "octo/hello"\nbranch = "fix"'


@pytest.fixture
def world():
    return make_team()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def top(request):
    """Return the line of the configuration that chooses the engine."""
    if request.param == "sqlite":
        yield ""
    else:
        with open_schema() as url:
            yield f'database_url = "{url}"'


async def list_watched(product):
    """Return the ids of the tasks that are not archived, on any engine."""
    workspace = product.runtime.wired.workspaces["acme"]

    async def read(tx):
        return await tasks.list_tasks(tx, workspace.id)

    return sorted(
        task.external_id for task in await product.runtime.database.read(read)
    )


async def work_in(product, external_id):
    """Let a person write in a task."""
    workspace = product.runtime.wired.workspaces["acme"]

    async def write_in(tx):
        task = await tasks.find_task(tx, workspace.id, external_id)
        await tasks.put_person_wrote(tx, task.id, product.clock.now())

    await product.runtime.database.transact(write_in)


async def find_circuit(product):
    (followed,) = product.runtime.sync_memory.followed

    async def read(tx):
        return await watch_files.find_circuit(tx, followed.folder.id)

    return await product.runtime.database.read(read)


async def list_reviews(product):
    workspace = product.runtime.wired.workspaces["acme"]

    async def read(tx):
        return await review_watches.list_review_watches(tx, workspace.id)

    found = await product.runtime.database.read(read)
    return [(watch.name, watch.origin.value) for watch in found]


async def test_a_file_is_edited_broken_mended_and_renamed(tmp_path, world, top):
    async with follow(tmp_path, world, top=top) as product:
        write(world, HELLO + TASK + REVIEW)
        await turn(product)
        first = await list_watched(product)
        assert first == ["T-1", "octo/hello#12"]
        assert await list_reviews(product) == [("mine", "watch_file")]
        events = await product.cycle()
        assert {event["data"]["task_id"] for event in events} == {"octo/hello#12"}

        write(world, FIX + TASK)
        await turn(product)
        assert await list_watched(product) == ["T-1", "octo/hello@fix"]
        assert await list_reviews(product) == []

        write(world, FIX + TASK + BROKEN)
        broken = await turn(product)
        told = "a.toml:12:1: watch[1].brnch: is not a key here; did you mean branch?"
        assert told in broken.warnings
        assert await list_watched(product) == ["T-1", "octo/hello@fix"]

        write(world, HELLO + TASK)
        mended = await turn(product)
        assert mended.warnings == ()
        assert await list_watched(product) == first

        world.rename_file("octo/team", ".prwatch/a.toml", ".prwatch/b.toml")
        renamed = await turn(product)
        assert (renamed.result, renamed.steps) == (SyncResult.CHANGED, 0)


async def test_a_file_turns_private_and_is_taken_away(tmp_path, world, top):
    write(world, HELLO + TASK)
    async with follow(tmp_path, world, top=top) as product:
        await turn(product)
        first = await list_watched(product)
        await work_in(product, "T-1")
        world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
        private = await turn(product)
        assert private.code == "resource_gone"
        assert await list_watched(product) == first
        before = await find_circuit(product)
        assert before.circuit.failures == 1
    async with follow(tmp_path, world, top=top) as product:
        assert await find_circuit(product) == before
        await turn(product)
        assert (await find_circuit(product)).circuit.failures == 2
        assert (await turn(product)).reason == "circuit"
        assert await list_watched(product) == first

        world.set_token(DEFAULT_TOKEN)
        await turn(product, gap=7200.0)
        assert await find_circuit(product) is None
        world.remove_file("octo/team", ".prwatch/a.toml")
        removed = await turn(product)
        kept = "task T-1 is declared no more, and kept: somebody works in it"
        assert removed.warnings == ("the folder is not there", kept)
        assert await list_watched(product) == ["T-1"]
    async with follow(tmp_path, world, top=top, sync="") as product:
        assert await list_watched(product) == ["T-1"]


async def test_what_moves_and_what_is_found_lives_on(tmp_path, world, top):
    async with follow(tmp_path, world, top=top, watches=(OWN,)) as product:
        await turn(product)
        write(world, FIX + ALL)
    async with follow(tmp_path, world, top=top) as product:
        await turn(product)
        await product.cycle()
        assert await list_watched(product) == ["octo/hello#12", "octo/hello@fix"]
    async with follow(tmp_path, world, top=top) as product:
        quiet = await turn(product)
        used = product.runtime.wired.accounts[0].github.usage
        assert (quiet.result, quiet.steps) == (SyncResult.UNCHANGED, 0)
        assert (used.rest, used.not_modified) == (1, 1)
        assert await product.cycle() == []


async def test_a_quiet_turn_writes_no_row(tmp_path, world, top):
    write(world, HELLO)
    async with follow(tmp_path, world, top=top) as product:
        await turn(product)
        written = product.runtime.database.rows_written
        await turn(product)

        assert product.runtime.database.rows_written == written


async def test_two_processes_read_one_change(tmp_path, world, top):
    write(world, HELLO)
    async with (
        follow(tmp_path, world, top=top, is_inline=False) as first,
        follow(tmp_path, world, top=top, is_inline=False) as second,
    ):
        await turn(first)
        await turn(second)
        write(world, HELLO + FIX + TASK)
        first.clock.advance(INTERVAL)
        async with anyio.create_task_group() as group:
            group.start_soon(sync_due, first.runtime)
            group.start_soon(sync_due, second.runtime)

        assert await list_watched(first) == ["T-1", "octo/hello#12", "octo/hello@fix"]
