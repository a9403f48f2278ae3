"""Migrations: both engines alike, all or nothing, never backwards, never unsaved."""

import contextlib
import hashlib
import sqlite3
import stat
from dataclasses import replace

import anyio
import asyncpg
import pytest

from prwatch.domain.task import Workspace
from prwatch.errors import SchemaMismatch, StoreError, StoreUnavailable
from prwatch.store import connections
from prwatch.store.migrate import Migration, load_migrations
from prwatch.store.opening import open_database
from tests.contract.store_backends import NOW, open_schema
from tests.contract.store_rows import at

SECOND = Migration(
    2,
    "second",
    "-- Two tables.\nCREATE TABLE extra (id TEXT);\nCREATE TABLE more (id TEXT);\n",
)
BROKEN = replace(SECOND, text=SECOND.text + "INSERT INTO no_such_table VALUES (1);\n")
DANGLING = replace(
    SECOND,
    text="INSERT INTO pull_request_links VALUES ('nobody', 'nowhere', 1, '');\n",
)
SNAPSHOT = "prwatch.db.schema-1.20261130T010208.456789Z.snapshot"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "prwatch.db"


@pytest.fixture
def postgres_url():
    with open_schema() as url:
        yield url


@pytest.fixture
def other_url():
    with open_schema() as url:
        yield url


def query(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


async def query_postgres(url, sql):
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


async def open_once(target, *extra, now=NOW):
    engine = "sqlite" if not isinstance(target, str) else "postgres"
    migrations = (*load_migrations(engine), *extra)
    async with open_database(target, now=now, migrations=migrations) as database:
        await database.transact(
            lambda tx: connections.add_workspace(tx, Workspace(id="w1", name="acme"))
        )


def test_engines_have_the_same_migrations():
    sqlite, postgres = load_migrations("sqlite"), load_migrations("postgres")

    assert [(item.version, item.name) for item in sqlite] == [
        (item.version, item.name) for item in postgres
    ]
    assert [item.version for item in sqlite] == list(range(1, len(sqlite) + 1))


@pytest.mark.postgres
async def test_engines_have_the_same_columns(target, postgres_url):
    await open_once(target)
    await open_once(postgres_url)

    sqlite = query(
        target,
        'SELECT t.name, c.name, c."notnull" FROM sqlite_schema AS t'
        " JOIN pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 2",
    )
    postgres = await query_postgres(
        postgres_url,
        "SELECT table_name, column_name, (is_nullable = 'NO')::int"
        " FROM information_schema.columns WHERE table_schema = current_schema()"
        " AND table_name <> 'change_counter' ORDER BY 1, 2",
    )

    # SQLite does not call an integer primary key NOT NULL, though it is.
    keys = {("events", "position"), ("schema_migrations", "version")}
    assert {row for row in sqlite if row[:2] not in keys} == {
        row for row in postgres if row[:2] not in keys
    }


async def test_a_new_file_is_its_owners_alone(target):
    async with open_database(target, now=NOW) as database:
        await database.transact(connections.list_workspaces)
        names = sorted(path.name for path in target.parent.iterdir())
        modes = [stat.S_IMODE(path.stat().st_mode) for path in target.parent.iterdir()]

    assert names == ["prwatch.db", "prwatch.db-shm", "prwatch.db-wal"]
    assert set(modes) == {0o600}


async def test_opening_again_changes_no_byte(target):
    await open_once(target)
    before = target.read_bytes()
    await open_once(target, now=at(5))

    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == ["prwatch.db"]


async def test_an_upgrade_leaves_a_verified_copy(target):
    await open_once(target)
    await open_once(target, SECOND, now=at(5))

    snapshot = target.with_name(SNAPSHOT)
    assert query(snapshot, "PRAGMA integrity_check") == [("ok",)]
    assert query(snapshot, "SELECT version FROM schema_migrations") == [(1,)]
    assert query(snapshot, "SELECT name FROM workspaces") == [("acme",)]
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600
    assert query(target, "SELECT version FROM schema_migrations") == [(1,), (2,)]
    assert query(target, "SELECT count(*) FROM more") == [(0,)]


@pytest.mark.parametrize(
    "migration",
    [pytest.param(BROKEN, id="broken"), pytest.param(DANGLING, id="dangling")],
)
async def test_a_failed_upgrade_leaves_nothing_and_names_the_copy(target, migration):
    await open_once(target)
    schema = query(target, "SELECT sql FROM sqlite_schema")

    with pytest.raises(StoreError) as caught:
        await open_once(target, migration, now=at(5))

    assert str(target.with_name(SNAPSHOT)) in caught.value.hint
    assert query(target, "SELECT sql FROM sqlite_schema") == schema
    assert query(target, "SELECT version FROM schema_migrations") == [(1,)]
    await open_once(target, SECOND, now=at(6))


async def test_without_a_copy_the_upgrade_does_not_start(target):
    await open_once(target)
    target.with_name(SNAPSHOT).write_text("precious")

    with pytest.raises(StoreUnavailable):
        await open_once(target, SECOND, now=at(5))

    assert target.with_name(SNAPSHOT).read_text() == "precious"
    assert query(target, "SELECT version FROM schema_migrations") == [(1,)]


async def test_a_damaged_database_is_not_upgraded(target):
    await open_once(target)
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as raw:
        (page, size) = (
            raw.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'workspaces'"
            ).fetchone()[0],
            raw.execute("PRAGMA page_size").fetchone()[0],
        )
    with target.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)

    with pytest.raises(StoreError):
        await open_once(target, SECOND, now=at(5))

    assert not target.with_name(SNAPSHOT).exists()
    assert query(target, "SELECT version FROM schema_migrations") == [(1,)]


async def test_a_newer_database_is_refused_untouched(target):
    await open_once(target, SECOND)
    before = hashlib.sha256(target.read_bytes()).hexdigest()

    with pytest.raises(SchemaMismatch) as caught:
        await open_once(target)

    assert (caught.value.found, caught.value.expected) == (2, 1)
    assert hashlib.sha256(target.read_bytes()).hexdigest() == before


async def test_a_database_of_another_tool_is_refused_untouched(target):
    with contextlib.closing(sqlite3.connect(target)) as other:
        other.execute("CREATE TABLE theirs (id TEXT)")
    before = target.read_bytes()

    with pytest.raises(StoreError, match="not one of prwatch"):
        await open_once(target)

    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == ["prwatch.db"]


async def test_another_text_of_a_known_version_is_refused(target):
    await open_once(target, SECOND)

    with pytest.raises(SchemaMismatch, match="another text"):
        await open_once(target, replace(SECOND, text=SECOND.text + "-- edited\n"))


async def test_many_may_open_at_once(target):
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(open_once, target)

    assert query(target, "SELECT version FROM schema_migrations") == [(1,)]
    assert query(target, "SELECT name FROM workspaces") == [("acme",)]


@pytest.mark.postgres
async def test_many_may_open_postgres_at_once(postgres_url):
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(open_once, postgres_url, SECOND)

    versions = await query_postgres(
        postgres_url, "SELECT version FROM schema_migrations ORDER BY 1"
    )
    assert versions == [(1,), (2,)]


@pytest.mark.postgres
async def test_an_upgrade_of_one_schema_holds_up_no_other_one(postgres_url, other_url):
    await open_once(postgres_url)
    slow = replace(SECOND, text="LOCK TABLE workspaces;\n" + SECOND.text)
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation IN"
    waiting += (
        " (SELECT oid FROM pg_class WHERE relnamespace = current_schema::regnamespace)"
    )
    reader = await asyncpg.connect(postgres_url)
    try:
        await reader.execute("BEGIN; LOCK TABLE workspaces IN ACCESS SHARE MODE")
        async with anyio.create_task_group() as group:
            group.start_soon(open_once, postgres_url, slow)
            with anyio.fail_after(20):
                while not await query_postgres(postgres_url, waiting):
                    pass
                await open_once(other_url)
            await reader.execute("ROLLBACK")
    finally:
        await reader.close()


@pytest.mark.postgres
async def test_a_failed_postgres_upgrade_leaves_nothing(postgres_url):
    await open_once(postgres_url)

    with pytest.raises(StoreError):
        await open_once(postgres_url, BROKEN)

    versions = await query_postgres(
        postgres_url, "SELECT version FROM schema_migrations"
    )
    tables = await query_postgres(postgres_url, "SELECT to_regclass('extra')::text")
    assert (versions, tables) == ([(1,)], [(None,)])


@pytest.mark.postgres
async def test_a_newer_postgres_schema_is_refused(postgres_url):
    await open_once(postgres_url, SECOND)

    with pytest.raises(SchemaMismatch) as caught:
        await open_once(postgres_url)

    assert (caught.value.found, caught.value.expected) == (2, 1)
