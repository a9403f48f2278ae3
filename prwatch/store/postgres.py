"""PostgreSQL through asyncpg: transactions that really await, READ COMMITTED."""

import contextlib
import datetime as dt
import types
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Mapping,
    Sequence,
)
from typing import Any, Final, TypeVar, cast

import anyio
import asyncpg

from prwatch.errors import ConfigError, StoreUnavailable
from prwatch.store.columns import to_microseconds
from prwatch.store.database import (
    Row,
    TransactionMisuse,
    Value,
    Work,
    repeat_when_busy,
)
from prwatch.store.migrate import Migration, list_pending
from prwatch.store.postgres_errors import map_errors
from prwatch.store.query import Query, is_writing, number_placeholders

T = TypeVar("T")
_Connection = asyncpg.pool.PoolConnectionProxy
_Pool = asyncpg.Pool

_ENDING_SECONDS: Final = 10.0
_COMMAND_SECONDS: Final = 30.0
_CONNECTIONS: Final = 4
_FLOOR: Final = 13
_PAGE: Final = 500
"""Rows that are fetched at once when each is converted at once."""
# «prw» as a number, beside one of the schema: nobody else in this database takes that
# lock, and who migrates another schema need not wait.
_MIGRATION_LOCK: Final = 0x707277
_LOCK_MIGRATION: Final = "SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))"
_BEGIN_WRITING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_COUNT_CHANGE: Final = "UPDATE change_counter SET changes = changes + 1"
_READ_COUNTER: Final = "SELECT changes FROM change_counter"
_READ_SIZE: Final = "SELECT pg_database_size(current_database())"
_FIND_MIGRATIONS: Final = "SELECT to_regclass('schema_migrations')::text"
_READ_MIGRATIONS: Final = "SELECT version, digest FROM schema_migrations"
_CREATE: Final = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    applied_at BIGINT NOT NULL
)
"""


class PostgresTransaction:
    """The statements of one transaction, in order."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self.is_running = False
        self.rows_written = 0

    async def fetch(self, query: Query, **parameters: Value) -> Sequence[Row]:
        """Run one statement and return all of its rows."""
        text, names = number_placeholders(query.postgres_text)
        values = [parameters[name] for name in names]
        with self._running():
            rows = await self._connection.fetch(text, *values)
        if is_writing(text):
            self.rows_written += len(rows)
        return rows

    async def fetch_as(
        self, query: Query, build: Callable[[Row], T], /, **parameters: Value
    ) -> list[T]:
        """Run one statement and return what `build` makes of each row, in order."""
        text, names = number_placeholders(query.postgres_text)
        values = [parameters[name] for name in names]
        with self._running():
            cursor = await self._connection.cursor(text, *values)
        built: list[T] = []
        while rows := await self._fetch_page(cursor):
            built.extend(map(build, rows))
        return built

    async def _fetch_page(self, cursor: Any) -> Sequence[Row]:
        with self._running():
            rows: Sequence[Row] = await cursor.fetch(_PAGE)
        return rows

    async def execute(self, query: Query, **parameters: Value) -> int:
        """Run one statement and return the number of rows that it wrote."""
        text, names = number_placeholders(query.postgres_text)
        values = [parameters[name] for name in names]
        with self._running():
            tag = await self._connection.execute(text, *values)
        count = parse_tag(tag)
        self.rows_written += count
        return count

    async def execute_many(
        self, query: Query, rows: Sequence[Mapping[str, Value]]
    ) -> int:
        """Run one statement for each row and return the number of rows written."""
        # The driver's own executemany is faster and does not say what it wrote.
        return sum([await self.execute(query, **row) for row in rows])

    @contextlib.contextmanager
    def _running(self) -> Generator[None]:
        self.is_running = True
        try:
            with map_errors():
                yield
        finally:
            self.is_running = False


class PostgresDatabase:
    """A migrated PostgreSQL schema. See `Database` for what it promises."""

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool
        self._rows_written = 0

    @property
    def rows_written(self) -> int:
        """Return the rows that were committed here since opening."""
        return self._rows_written

    async def transact(self, fn: Work[T]) -> T:
        """Run `fn` in one writing transaction and return what it returns."""
        return await repeat_when_busy(lambda: self._run(fn, _BEGIN_WRITING))

    async def read(self, fn: Work[T]) -> T:
        """Run `fn` on one consistent snapshot and return what it returns."""
        return await repeat_when_busy(lambda: self._run(fn, _BEGIN_READING))

    async def change_token(self) -> int:
        """Return the counter that every writing transaction increments."""
        async with _acquire(self._pool) as connection:
            with map_errors():
                return int(await connection.fetchval(_READ_COUNTER))

    async def _run(self, fn: Work[T], begin: str) -> T:
        async with _acquire(self._pool) as connection:
            transaction = PostgresTransaction(connection)
            try:
                with map_errors():
                    await connection.execute(begin)
                result = await _guard(fn(transaction), transaction)
                await _commit(connection, counts=transaction.rows_written > 0)
            except BaseException:
                await _roll_back(connection)
                raise
            self._rows_written += transaction.rows_written
            return result


async def _commit(connection: _Connection, *, counts: bool) -> None:
    # Half sent, a commit is neither done nor undone for us; so it is not interrupted.
    with anyio.fail_after(_ENDING_SECONDS, shield=True), map_errors():
        if counts:
            # Last, so that writers wait for each other only while one commits, and
            # a reader that saw the number sees all of its rows.
            await connection.execute(_COUNT_CHANGE)
        await connection.execute("COMMIT")


async def _roll_back(connection: _Connection) -> None:
    # Why the transaction failed is worth more than why it cannot be undone: the
    # server rolls back what a closed connection had begun.
    foreign = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
    with (
        anyio.move_on_after(_ENDING_SECONDS, shield=True),
        contextlib.suppress(*foreign),
    ):
        if connection.is_in_transaction():
            await connection.execute("ROLLBACK")
        return
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


@contextlib.asynccontextmanager
async def _acquire(pool: _Pool) -> AsyncIterator[_Connection]:
    with map_errors():
        connection = await pool.acquire(timeout=_COMMAND_SECONDS)
    try:
        yield connection
    finally:
        with anyio.move_on_after(_ENDING_SECONDS, shield=True), map_errors():
            await pool.release(connection)


@types.coroutine
def _guard(
    work: Awaitable[T], transaction: PostgresTransaction
) -> Generator[Any, Any, T]:
    """Pass on what the transaction's statements wait for, and refuse all else."""
    steps = work.__await__()
    step: Callable[[], Any] = lambda: next(steps)  # noqa: E731 - replaced below
    while True:
        try:
            awaited = step()
        except StopIteration as end:
            return cast("T", end.value)  # what the function returned
        if not transaction.is_running:
            with contextlib.suppress(RuntimeError):
                steps.close()
            raise TransactionMisuse(
                "a transaction awaited something else than its statements"
            )
        try:
            sent = yield awaited
        except BaseException as error:  # noqa: BLE001 - cancellation is passed in too
            step = _throw(steps, error)
        else:
            step = _send(steps, sent)


def _throw(steps: Any, error: BaseException) -> Callable[[], Any]:
    return lambda: steps.throw(error)


def _send(steps: Any, sent: object) -> Callable[[], Any]:
    return lambda: steps.send(sent)


def parse_tag(tag: str) -> int:
    """Return the row count of a command tag such as `INSERT 0 3`, 0 without one."""
    word, _, rest = tag.partition(" ")
    if word not in {"INSERT", "UPDATE", "DELETE"}:
        return 0
    return int(rest.rpartition(" ")[2])


@contextlib.asynccontextmanager
async def open_postgres(
    url: str, *, migrations: Sequence[Migration], now: dt.datetime
) -> AsyncIterator[PostgresDatabase]:
    """
    Open a pool on a URL, migrate the schema that its search path names, close it.

    Raises:
        ConfigError: The URL cannot be understood, or the server is too old.
        StoreUnavailable: The server cannot be reached or refuses us.
        SchemaMismatch: The schema was written by a newer prwatch.
    """
    try:
        pool = asyncpg.create_pool(
            url,
            min_size=1,
            max_size=_CONNECTIONS,
            command_timeout=_COMMAND_SECONDS,
            server_settings={"application_name": "prwatch"},
        )
        with map_errors():
            await pool
    except ValueError:
        # The cause would print the URL, and with it the password.
        raise ConfigError("the PostgreSQL URL cannot be understood") from None
    try:
        await _migrate(pool, migrations, now)
        yield PostgresDatabase(pool)
    finally:
        with anyio.move_on_after(_ENDING_SECONDS, shield=True) as scope:
            await pool.close()
        if scope.cancelled_caught:
            pool.terminate()


async def read_applied(url: str) -> tuple[dict[int, str], int]:
    """
    Return the digests of the migrations by version, and the bytes of the database.

    Nothing is migrated or written.

    Raises:
        ConfigError: The URL cannot be understood.
        StoreUnavailable: The server cannot be reached or refuses us.
    """
    try:
        with map_errors():
            connection = await asyncpg.connect(
                url,
                timeout=_ENDING_SECONDS,
                command_timeout=_COMMAND_SECONDS,
                server_settings={"application_name": "prwatch"},
            )
    except ValueError:
        raise ConfigError("the PostgreSQL URL cannot be understood") from None
    try:
        with map_errors():
            size = await connection.fetchval(_READ_SIZE)
            if await connection.fetchval(_FIND_MIGRATIONS) is None:
                return {}, size
            rows = await connection.fetch(_READ_MIGRATIONS)
    finally:
        await connection.close(timeout=_ENDING_SECONDS)
    return {row["version"]: row["digest"] for row in rows}, size


async def _migrate(
    pool: _Pool, migrations: Sequence[Migration], now: dt.datetime
) -> None:
    async with _acquire(pool) as connection:
        major = connection.get_server_version().major
        if major < _FLOOR:
            raise ConfigError(f"PostgreSQL {major} is too old, prwatch needs {_FLOOR}")
        with map_errors():
            async with connection.transaction():
                await connection.execute(_LOCK_MIGRATION, _MIGRATION_LOCK)
                await _apply(connection, migrations, now)


async def _apply(
    connection: _Connection, migrations: Sequence[Migration], now: dt.datetime
) -> None:
    if await connection.fetchval("SELECT current_schema()") is None:
        raise StoreUnavailable(
            "the search path of the PostgreSQL URL names no schema that exists",
            hint="create the schema, or take it out of the URL",
        )
    if await connection.fetchval("SELECT to_regclass('schema_migrations')") is None:
        await connection.execute(_CREATE)
    rows = await connection.fetch(_READ_MIGRATIONS)
    applied = {row["version"]: row["digest"] for row in rows}
    for migration in list_pending(applied, migrations):
        await connection.execute(migration.text)
        await connection.execute(
            "INSERT INTO schema_migrations VALUES ($1, $2, $3, $4)",
            migration.version,
            migration.name,
            migration.digest,
            to_microseconds(now),
        )
