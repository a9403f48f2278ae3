"""A database is looked at without being changed."""

import contextlib
import sqlite3

import pytest

from prwatch.errors import (
    ConfigError,
    SchemaMismatch,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from prwatch.store.examination import StoreFacts, examine_database
from prwatch.store.migrate import load_migrations
from prwatch.store.opening import open_database
from tests.contract.store_backends import NOW, open_schema

NEWEST = load_migrations("sqlite")[-1].version


@pytest.fixture
async def path(tmp_path):
    """A new, empty database."""
    path = tmp_path / "prwatch.db"
    async with open_database(path, now=NOW, inline=True):
        pass
    return path


def change(path, statement):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def test_a_whole_database_passes(path):
    assert await examine_database(path) == StoreFacts(
        schema=NEWEST, newest=NEWEST, size=path.stat().st_size
    )


async def test_it_stays_as_it_was(path):
    before = path.read_bytes()

    await examine_database(path)

    assert path.read_bytes() == before


async def test_a_newer_database_is_told(path):
    change(
        path,
        f"INSERT INTO schema_migrations VALUES ({NEWEST + 1}, 'later', 'x', 0)",
    )

    with pytest.raises(SchemaMismatch) as caught:
        await examine_database(path)

    assert (caught.value.found, caught.value.expected) == (NEWEST + 1, NEWEST)


async def test_a_damaged_page_is_found(path):
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'"
        ).fetchone()
    content[(page - 1) * size : page * size] = b"\x99" * size
    path.write_bytes(content)

    with pytest.raises(StoreCorrupt, match="damaged"):
        await examine_database(path)


async def test_somebody_elses_database_is_refused(tmp_path):
    path = tmp_path / "notes.db"
    change(path, "CREATE TABLE notes (text)")

    with pytest.raises(StoreError, match="not one of prwatch"):
        await examine_database(path)


async def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(StoreUnavailable):
        await examine_database(tmp_path / "gone.db")

    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def url():
    with open_schema() as url:
        yield url


@pytest.mark.postgres
async def test_a_postgres_schema_is_looked_at_and_not_migrated(url):
    fresh = await examine_database(url)
    again = await examine_database(url)
    async with open_database(url, now=NOW):
        pass
    used = await examine_database(url)

    newest = load_migrations("postgres")[-1].version
    assert [(each.schema, each.newest) for each in (fresh, again, used)] == [
        (0, newest),
        (0, newest),
        (newest, newest),
    ]
    assert used.size > 0


async def test_a_server_that_cannot_be_reached_is_told():
    with pytest.raises(StoreUnavailable):
        await examine_database("postgresql://prwatch@127.0.0.1:1/prwatch")


async def test_a_url_that_means_nothing_is_not_repeated():
    with pytest.raises(ConfigError) as caught:
        await examine_database("postgresql://me:geheim@[/prwatch")

    assert "geheim" not in str(caught.value)
