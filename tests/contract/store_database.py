"""What every database promises: whole transactions, honest counts, our own errors."""

import contextvars

import anyio
import pytest

from prwatch.domain.task import Workspace
from prwatch.errors import StoreConflict, StoreError
from prwatch.store import connections, watches
from prwatch.store.database import DatabaseBusy, TransactionMisuse
from prwatch.store.query import Query
from tests.contract.store_rows import make_watch

SECOND = Workspace(id="w2", name="other")
INSERT = Query(
    "insert", "INSERT INTO workspaces (id, name) VALUES (:id, :name) RETURNING id"
)
INSERT_PLAIN = Query("plain", "INSERT INTO workspaces (id, name) VALUES (:id, :name)")
SINCE = Query("since", "SELECT * FROM workspaces WHERE id >= :id ORDER BY id")
NOTHING = Query("nothing", "UPDATE workspaces SET name = 'x' WHERE id = 'nobody'")
BROKEN = Query("broken", "SELECT no_such_column FROM workspaces")
caller = contextvars.ContextVar("caller")


class Pause:
    """Waits for the event loop, as whatever waits for something else does."""

    def __await__(self):
        yield


class DatabaseContract:
    """Runs on every backend; `database` is migrated and holds no rows."""

    async def names(self, raw):
        return [
            row["name"] for row in await raw("SELECT name FROM workspaces ORDER BY 1")
        ]

    async def test_a_transaction_returns_what_its_function_returns(self, database, raw):
        async def work(tx):
            await connections.add_workspace(tx, SECOND)
            return await connections.list_workspaces(tx)

        assert await database.transact(work) == [SECOND]
        assert await self.names(raw) == ["other"]

    async def test_an_exception_rolls_everything_back(self, database, raw):
        async def work(tx):
            await connections.add_workspace(tx, SECOND)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            await database.transact(work)

        assert await self.names(raw) == []
        assert database.rows_written == 0

    @pytest.mark.parametrize("after_a_statement", [True, False])
    async def test_a_foreign_await_is_refused_and_rolled_back(
        self, database, raw, after_a_statement
    ):
        async def work(tx):
            if after_a_statement:
                await connections.add_workspace(tx, SECOND)
            await anyio.sleep(1)
            await connections.add_workspace(tx, Workspace(id="w3", name="late"))

        with pytest.raises(RuntimeError):
            await database.transact(work)

        assert await self.names(raw) == []
        assert await database.transact(connections.list_workspaces) == []

    async def test_giving_way_to_the_event_loop_is_refused(self, database, raw):
        async def work(tx):
            await connections.add_workspace(tx, SECOND)
            await Pause()

        with pytest.raises(TransactionMisuse):
            await database.transact(work)

        assert await self.names(raw) == []

    async def test_a_cancelled_caller_leaves_all_or_nothing(self, database, raw):
        async def work(tx):
            await tx.execute(INSERT_PLAIN, id="a", name="a")
            await tx.execute(INSERT_PLAIN, id="b", name="b")

        async with anyio.create_task_group() as group:
            group.start_soon(database.transact, work)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        # It stands in the queue behind what was cancelled.
        await database.transact(connections.list_workspaces)

        assert await self.names(raw) in ([], ["a", "b"])

    async def test_after_a_cancelled_caller_the_database_works_on(self, database, raw):
        async def work(tx):
            await tx.execute(INSERT_PLAIN, id="a", name="a")

        for _ in range(10):
            async with anyio.create_task_group() as group:
                group.start_soon(database.transact, work)
                await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await database.transact(self.remove_all)

        assert await self.names(raw) == []

    async def remove_all(self, tx):
        await tx.execute(Query("remove", "DELETE FROM workspaces"))

    async def test_a_read_sees_what_was_committed(self, database):
        async def work(tx):
            await connections.add_workspace(tx, SECOND)

        await database.transact(work)

        assert await database.read(connections.list_workspaces) == [SECOND]

    async def test_a_read_cannot_write(self, database, raw):
        async def work(tx):
            await connections.add_workspace(tx, SECOND)

        with pytest.raises(StoreError):
            await database.read(work)

        assert await self.names(raw) == []

    async def test_a_read_refuses_a_foreign_await_too(self, database):
        async def work(tx):
            await Pause()

        with pytest.raises(TransactionMisuse):
            await database.read(work)

    async def test_many_concurrent_transactions_lose_nothing(self, database, raw):
        async def add(number):
            async def work(tx):
                await tx.execute(INSERT_PLAIN, id=f"{number}", name=f"{number:03}")

            await database.transact(work)

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(add, number)

        assert await self.names(raw) == [f"{number:03}" for number in range(30)]
        assert database.rows_written == 30

    async def test_a_broken_key_is_a_conflict(self, database):
        async def work(tx):
            await tx.execute(INSERT_PLAIN, id="a", name="a")
            await tx.execute(INSERT_PLAIN, id="a", name="b")

        with pytest.raises(StoreConflict):
            await database.transact(work)

    async def test_a_row_that_points_nowhere_is_a_conflict(self, database):
        async def work(tx):
            await watches.add_watch(tx, make_watch())

        with pytest.raises(StoreConflict):
            await database.transact(work)

    async def test_a_statement_that_makes_no_sense_is_a_store_error(self, database):
        async def work(tx):
            await tx.fetch(BROKEN)

        with pytest.raises(StoreError) as caught:
            await database.transact(work)

        assert type(caught.value) is StoreError

    @pytest.mark.parametrize(
        ("failures", "runs"),
        [
            pytest.param(0, 1, id="at once"),
            pytest.param(3, 4, id="after three repeats"),
        ],
    )
    async def test_a_busy_transaction_is_run_again(self, database, raw, failures, runs):
        begun = []

        async def work(tx):
            begun.append(1)
            await tx.execute(INSERT_PLAIN, id="a", name="a")
            if len(begun) <= failures:
                raise DatabaseBusy("busy")

        await database.transact(work)

        assert len(begun) == runs
        assert await self.names(raw) == ["a"]

    async def test_a_database_that_stays_busy_is_given_up(self, database, raw):
        begun = []

        async def work(tx):
            begun.append(1)
            await tx.execute(INSERT_PLAIN, id="a", name="a")
            raise DatabaseBusy("busy")

        with pytest.raises(DatabaseBusy):
            await database.transact(work)

        assert len(begun) == 4
        assert await self.names(raw) == []

    async def test_rows_written_counts_every_way_of_writing(self, database):
        async def work(tx):
            await tx.execute(INSERT_PLAIN, id="a", name="a")
            await tx.fetch(INSERT, id="b", name="b")
            written = await tx.execute_many(
                INSERT_PLAIN, [{"id": "c", "name": "c"}, {"id": "d", "name": "d"}]
            )
            assert await tx.execute(NOTHING) == 0
            return written

        assert await database.transact(work) == 2
        assert database.rows_written == 4

    async def test_rows_are_built_in_order_however_many(self, database):
        async def write(tx):
            for number in range(1200):
                values = {"id": f"w{number:04}", "name": f"n{number:04}"}
                await tx.execute(INSERT_PLAIN, **values)

        async def read(tx):
            return await tx.fetch_as(
                SINCE, lambda row: (row["id"], row["name"]), id="w"
            )

        await database.transact(write)

        built = await database.read(read)

        assert built == [(f"w{n:04}", f"n{n:04}") for n in range(1200)]

    async def test_what_fails_while_rows_are_built_comes_out(self, database):
        async def read(tx):
            await connections.add_workspace(tx, SECOND)
            return await tx.fetch_as(SINCE, lambda row: row["no_such"], id="")

        with pytest.raises(KeyError, match="no_such"):
            await database.transact(read)

        assert database.rows_written == 0

    async def test_the_change_token_tells_of_our_own_commits(self, database):
        before = await database.change_token()
        await database.transact(lambda tx: connections.add_workspace(tx, SECOND))

        assert await database.change_token() != before

    async def test_the_change_token_stays_when_nothing_was_written(self, database):
        before = await database.change_token()
        await database.transact(lambda tx: tx.execute(NOTHING))
        await database.transact(connections.list_workspaces)
        await database.read(connections.list_workspaces)

        assert await database.change_token() == before

    async def test_a_transaction_runs_in_its_callers_context(self, database):
        caller.set("cycle-7")

        async def work(tx):
            await tx.execute(NOTHING)
            return caller.get()

        assert await database.transact(work) == "cycle-7"
        assert await database.read(self.read_caller) == "cycle-7"

    async def read_caller(self, tx):
        await connections.list_workspaces(tx)
        return caller.get()
