"""What SQLite does to us: killed processes, full disks, bad files, other writers."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest

import prwatch
from prwatch.domain.task import Workspace
from prwatch.errors import StoreCorrupt, StoreUnavailable
from prwatch.store import connections, outbox, task_pull_requests, tasks, watches
from prwatch.store.opening import open_database
from prwatch.store.query import Query
from tests.contract.store_backends import NOW
from tests.contract.store_rows import (
    make_discovered,
    make_task_pull_request,
    make_watermark,
    put_ground,
)

ROOT = Path(prwatch.__file__).parents[1]
NOBODY = 65534

CRASH = """
import os, pathlib, signal, sys
import anyio
from prwatch.store import outbox, watches
from prwatch.store.opening import open_database
from tests.contract.store_backends import NOW
from tests.contract.store_rows import *

async def main(path, step):
    def die(here):
        if here == step:
            os.kill(os.getpid(), signal.SIGKILL)

    async def work(tx):
        before = make_discovered(revision=1)
        after = make_discovered(revision=2, watermark=make_watermark(5))
        die("before")
        assert await watches.commit_observation(tx, before, after)
        die("watch")
        events = [make_event(2, revision=2)]
        await outbox.add_events(tx, events, {"e2": ["hook"]}, NOW)
        die("events")

    async with open_database(pathlib.Path(path), now=NOW) as database:
        await database.transact(work)
        die("committed")

anyio.run(main, *sys.argv[1:])
"""


@pytest.fixture
def target(tmp_path):
    return tmp_path / "prwatch.db"


async def add_workspaces(tx, count=1):
    for number in range(count):
        name = f"{number} " + "x" * 1000
        await connections.add_workspace(tx, Workspace(id=f"{number}", name=name))


async def fill(target):
    async with open_database(target, now=NOW) as database:
        await database.transact(put_ground)
        row = make_discovered(revision=1)
        await database.transact(lambda tx: watches.add_watch(tx, row))


def run_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("step", "is_committed"),
    [
        pytest.param("before", False, id="before the first statement"),
        pytest.param("watch", False, id="between watch and event"),
        pytest.param("events", False, id="before the commit"),
        pytest.param("committed", True, id="after the commit"),
    ],
)
async def test_a_killed_process_leaves_all_or_nothing(target, step, is_committed):
    await fill(target)

    done = run_python(CRASH, str(target), step)

    assert done.returncode == -signal.SIGKILL, done.stderr
    async with open_database(target, now=NOW) as database:
        snapshot = await database.read(lambda tx: tasks.load_snapshot(tx, "w1"))
        due = await database.read(lambda tx: outbox.next_due_at(tx, "hook"))
    moved = make_discovered(revision=2, watermark=make_watermark(5))
    assert (snapshot.watches, due) == (
        ((moved,), NOW) if is_committed else ((make_discovered(revision=1),), None)
    )


async def test_a_full_disk_says_so_and_loses_nothing(target):
    limit = Query("limit", "PRAGMA max_page_count = 100")

    async with open_database(target, now=NOW) as database:
        await database.transact(lambda tx: add_workspaces(tx, 1))
        await database.transact(lambda tx: tx.fetch(limit))

        with pytest.raises(StoreUnavailable, match="full") as caught:
            await database.transact(lambda tx: add_workspaces(tx, 500))

        assert "free some space" in caught.value.hint
        assert len(await database.read(connections.list_workspaces)) == 1
        assert database.rows_written == 1


async def test_a_file_that_cannot_be_written_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "prwatch.db"
        await fill(target)
        make_readable_only(target)

        with as_nobody(), pytest.raises(StoreUnavailable, match="written") as caught:
            async with open_database(target, now=NOW, inline=True):
                pass

    assert "mode" in caught.value.hint


def make_readable_only(target):
    target.chmod(0o444)
    target.parent.chmod(0o755)


@contextlib.contextmanager
def as_nobody():
    """Give up root's right to write everything, when it is root that runs."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


async def test_a_write_that_the_file_system_refuses_says_so(target):
    async with open_database(target, now=NOW) as database:
        read_only = Query("read_only", "PRAGMA query_only = ON")
        await database.transact(lambda tx: tx.fetch(read_only))

        with pytest.raises(StoreUnavailable, match="cannot be written") as caught:
            await database.transact(add_workspaces)

    assert "mounted writable" in caught.value.hint


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("no/such/folder/prwatch.db", id="no folder"),
        pytest.param(".", id="a folder"),
    ],
)
async def test_a_place_without_a_file_is_refused(tmp_path, name):
    with pytest.raises(StoreUnavailable) as caught:
        async with open_database(tmp_path / name, now=NOW):
            pass

    assert caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[watch]\nbranch = 'x'\n" * 100, id="another kind of file"),
        pytest.param(b"SQLite format 3\x00" + b"\xff" * 4096, id="a damaged header"),
    ],
)
async def test_a_file_that_is_no_database_is_corrupt(target, content):
    target.write_bytes(content)

    with pytest.raises(StoreCorrupt) as caught:
        async with open_database(target, now=NOW):
            pass

    assert "snapshot" in caught.value.hint
    assert target.read_bytes() == content


async def test_a_damaged_page_is_corrupt(target):
    await fill(target)
    with contextlib.closing(sqlite3.connect(target)) as raw:
        (page,) = raw.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'pr_watches'"
        ).fetchone()
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    with target.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)

    async with open_database(target, now=NOW) as database:
        with pytest.raises(StoreCorrupt):
            await database.read(lambda tx: watches.list_watches(tx, "w1"))


async def test_another_writer_is_waited_for_and_then_reported(target):
    async with open_database(target, now=NOW, busy_timeout_ms=1) as database:
        with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked") as caught:
                await database.transact(add_workspaces)
            assert await database.read(connections.list_workspaces) == []
            other.execute("ROLLBACK")

        await database.transact(add_workspaces)

    assert caught.value.retryable


async def test_the_change_token_tells_of_another_process(target):
    async with open_database(target, now=NOW) as database:
        before = await database.change_token()
        assert await database.change_token() == before

        done = run_python(
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
            "c.execute(\"INSERT INTO workspaces VALUES ('1', 'a')\"); c.commit()",
            str(target),
        )

        assert done.returncode == 0, done.stderr
        assert await database.change_token() != before


async def test_a_quiet_round_changes_no_byte_of_the_log(target):
    async def round_of_equal_values(tx):
        await put_ground(tx)
        row = make_discovered(revision=1)
        await watches.add_watch(tx, row)
        await watches.commit_observation(tx, row, row)
        await task_pull_requests.put_task_pull_request(tx, make_task_pull_request())
        await outbox.acquire_deliveries(
            tx, sink="hook", now=NOW, lease_until=NOW, lease_token="l", limit=8
        )

    def read_files():
        return [path.read_bytes() for path in sorted(target.parent.glob("*.db*"))][::2]

    async with open_database(target, now=NOW) as database:
        await database.transact(round_of_equal_values)
        written, before = database.rows_written, read_files()
        await database.transact(round_of_equal_values)

        assert read_files() == before
        assert database.rows_written == written


async def test_a_cancelled_close_still_ends_the_workers(target):
    with anyio.CancelScope() as scope:
        async with open_database(target, now=NOW) as database:
            await database.transact(add_workspaces)
            scope.cancel()
            await anyio.lowlevel.checkpoint()

    assert scope.cancelled_caught
    assert [path.name for path in target.parent.iterdir()] == ["prwatch.db"]


def test_a_missing_driver_names_the_extra():
    done = run_python(
        "import sys; sys.modules['asyncpg'] = None\n"
        "import anyio, datetime as dt\n"
        "from prwatch.errors import ConfigError\n"
        "from prwatch.store.opening import open_database\n"
        "async def main():\n"
        "    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)\n"
        "    try:\n"
        "        async with open_database('postgresql://h/d', now=now): pass\n"
        "    except ConfigError as error: print(error, error.hint)\n"
        "anyio.run(main)\n"
    )

    assert done.stderr == ""
    assert done.stdout == (
        "a PostgreSQL database needs the extra `postgres`"
        " pip install 'prwatch[postgres]'\n"
    )


def remove(path):
    path.unlink()


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(remove, "the file of the open database was removed", id="removed"),
        pytest.param(
            replace,
            "another file stands in the place of the open database",
            id="replaced",
        ),
    ],
)
async def test_a_file_that_was_taken_away_takes_no_more_commits(target, spoil, message):
    async with open_database(target, now=NOW) as database:
        await database.transact(add_workspaces)
        spoil(target)

        for call in (
            lambda: database.transact(add_workspaces),
            lambda: database.read(add_workspaces),
            database.change_token,
        ):
            with pytest.raises(StoreUnavailable) as caught:
                await call()
            assert str(caught.value) == message
