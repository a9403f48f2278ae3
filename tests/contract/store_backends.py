"""What each backend gives to the store's contract suites, and rows without our code."""

import contextlib
import datetime as dt
import os
import sqlite3
import urllib.parse
import uuid

import anyio
import asyncpg
import pytest

from prwatch.store.opening import open_database

NOW = dt.datetime(2026, 11, 30, 1, 2, 3, 456789, tzinfo=dt.UTC)
POSTGRES_URL = os.environ.get(
    "PRWATCH_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres"
)


class SQLiteBackend:
    """The default: a file, and the driver's worker threads."""

    inline = False

    @pytest.fixture
    def target(self, tmp_path):
        return tmp_path / "prwatch.db"

    @pytest.fixture
    async def database(self, target):
        async with open_database(target, now=NOW, inline=self.inline) as database:
            yield database

    @pytest.fixture
    async def raw(self, target, database):
        """Run one statement beside the code under test and return dictionaries."""
        with contextlib.closing(
            sqlite3.connect(target, isolation_level=None)
        ) as connection:
            connection.row_factory = sqlite3.Row

            async def run(sql):
                return [dict(row) for row in connection.execute(sql)]

            yield run


class InlineBackend(SQLiteBackend):
    """The same file, with every statement in the calling thread, on trio."""

    inline = True

    @pytest.fixture
    def anyio_backend(self):
        return "trio"


@pytest.mark.postgres
class PostgresBackend:
    """A schema of its own for this process, emptied before each test."""

    @pytest.fixture
    def target(self, postgres_schema):
        return postgres_schema

    @pytest.fixture
    async def database(self, target):
        async with open_database(target, now=NOW) as database:
            await empty_tables(target)
            yield database

    @pytest.fixture
    async def raw(self, target, database):
        """Run one statement beside the code under test and return dictionaries."""
        connection = await asyncpg.connect(target)
        try:

            async def run(sql):
                return [dict(row) for row in await connection.fetch(sql)]

            yield run
        finally:
            await connection.close()


async def empty_tables(url):
    connection = await asyncpg.connect(url)
    try:
        names = [
            row["tablename"]
            for row in await connection.fetch(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
                " AND tablename NOT IN ('schema_migrations', 'change_counter')"
            )
        ]
        await connection.execute(f"TRUNCATE {', '.join(names)}")
    finally:
        await connection.close()


def build_schema_url(schema):
    """Return the URL whose search path is that schema."""
    separator = "&" if urllib.parse.urlsplit(POSTGRES_URL).query else "?"
    return f"{POSTGRES_URL}{separator}search_path={schema}"


@contextlib.contextmanager
def open_schema():
    """Create a throw-away schema, or skip (in CI: fail) when there is no server."""
    schema = f"prwatch_test_{uuid.uuid4().hex}"
    try:
        anyio.run(_execute, f"CREATE SCHEMA {schema}")
    except (OSError, asyncpg.PostgresError) as error:
        reason = f"PostgreSQL is not reachable: {type(error).__name__}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    try:
        yield build_schema_url(schema)
    finally:
        anyio.run(_execute, f"DROP SCHEMA {schema} CASCADE")


async def _execute(sql):
    connection = await asyncpg.connect(POSTGRES_URL, timeout=5)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
