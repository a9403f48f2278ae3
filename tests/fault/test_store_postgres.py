"""What a PostgreSQL server does to us: gone, restarted, deadlocked, cancelled."""

import anyio
import asyncpg
import pytest

from prwatch.domain.task import Workspace
from prwatch.errors import ConfigError, StoreUnavailable
from prwatch.store import connections
from prwatch.store.opening import open_database
from prwatch.store.query import Query
from tests.contract.store_backends import NOW, open_schema

pytestmark = pytest.mark.postgres

SLEEP = Query("sleep", "SELECT pg_sleep(:seconds)")
KILL = Query("kill", "SELECT pg_terminate_backend(pg_backend_pid())")
HURRY = Query("hurry", "SET LOCAL deadlock_timeout = '10ms'")
RENAME = Query("rename", "UPDATE workspaces SET name = name || :mark WHERE id = :id")
COUNT_OPEN = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE application_name = 'prwatch' AND state LIKE 'idle in transaction%'"
)


@pytest.fixture(scope="module")
def schema_url():
    with open_schema() as url:
        yield url


@pytest.fixture
async def database(schema_url):
    async with open_database(schema_url, now=NOW) as database:
        await database.transact(
            lambda tx: tx.execute(Query("empty", "DELETE FROM workspaces"))
        )
        yield database


async def add(tx, name="a"):
    await connections.add_workspace(tx, Workspace(id=name, name=name))


async def list_names(database):
    rows = await database.read(connections.list_workspaces)
    return [row.name for row in rows]


async def test_a_lost_connection_loses_the_transaction_alone(database):
    async def work(tx):
        await add(tx)
        await tx.fetch(KILL)

    with pytest.raises(StoreUnavailable) as caught:
        await database.transact(work)

    assert caught.value.retryable
    assert await list_names(database) == []
    await database.transact(add)
    assert await list_names(database) == ["a"]


async def test_two_transactions_that_wait_in_a_ring_both_succeed(database):
    await database.transact(add)
    await database.transact(lambda tx: add(tx, "b"))
    runs = []

    async def rename(first, second):
        async def work(tx):
            runs.append(first)
            await tx.execute(HURRY)
            await tx.execute(RENAME, id=first, mark="!")
            # Long enough for the other one to hold its first row.
            await tx.fetch(SLEEP, seconds=0.1)
            await tx.execute(RENAME, id=second, mark="?")

        await database.transact(work)

    async with anyio.create_task_group() as group:
        group.start_soon(rename, "a", "b")
        group.start_soon(rename, "b", "a")

    assert len(runs) > 2
    names = await list_names(database)
    assert sorted("".join(sorted(name)) for name in names) == ["!?a", "!?b"]


async def test_a_cancelled_statement_leaves_no_open_transaction(database, schema_url):
    async def work(tx):
        await add(tx)
        await tx.fetch(SLEEP, seconds=30)

    with anyio.move_on_after(0.05) as scope:
        await database.transact(work)

    assert scope.cancelled_caught
    assert await list_names(database) == []
    connection = await asyncpg.connect(schema_url)
    open_transactions = await connection.fetchval(COUNT_OPEN)
    await connection.close()
    assert open_transactions == 0


async def test_a_server_that_is_not_there_is_unavailable():
    with pytest.raises(StoreUnavailable):
        async with open_database("postgresql://u:geheim@127.0.0.1:1/none", now=NOW):
            pass


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("postgresql://u:geheim@127.0.0.1:port/none", id="port"),
        pytest.param("mysql://u:geheim@127.0.0.1/none", id="scheme"),
        pytest.param("postgresql://u:geheim@h/d?sslmode=geheim", id="option"),
    ],
)
async def test_a_url_that_makes_no_sense_is_not_printed(url):
    with pytest.raises(ConfigError) as caught:
        async with open_database(url, now=NOW):
            pass

    assert "geheim" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


async def test_a_search_path_without_a_schema_is_refused(schema_url):
    with pytest.raises(StoreUnavailable, match="search path"):
        async with open_database(f"{schema_url}_not_there", now=NOW):
            pass
