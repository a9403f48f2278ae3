"""
SQLite: one writer, a few readers, and a transaction in one hop.

A transaction function is driven to its end inside the connection's worker thread,
each statement completing at once. That is three times cheaper than a hop for each
statement, and a cancelled caller cannot leave half of it behind.
"""

import contextlib
import contextvars
import functools
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, cast

import aiosqlite
import anyio

from prwatch.errors import StoreUnavailable
from prwatch.store.database import (
    Row,
    TransactionMisuse,
    Value,
    Work,
    repeat_when_busy,
)
from prwatch.store.query import Query
from prwatch.store.sqlite_errors import map_errors
from prwatch.store.sqlite_file import SQLiteFile

T = TypeVar("T")

_CLOSING_SECONDS = 10.0


class SQLiteTransaction:
    """The statements of one transaction, each complete when it returns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: dict[object, object] = {}

    async def fetch(self, query: Query, **parameters: Value) -> Sequence[Row]:
        """Run one statement and return all of its rows."""
        with map_errors():
            cursor = self._connection.execute(query.text, parameters)
            # sqlite3.Row looks a name up by walking all names, for each column read.
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    async def fetch_as(
        self, query: Query, build: Callable[[Row], T], /, **parameters: Value
    ) -> list[T]:
        """Run one statement and return what `build` makes of each row, in order."""
        share = self._ids.setdefault
        built: list[T] = []
        with map_errors():
            cursor = self._connection.execute(query.text, parameters)
            names = [column[0] for column in cursor.description or ()]
            ids = _list_shared(names)
            for values in cursor:
                row = dict(zip(names, values, strict=True))
                for name in ids:
                    row[name] = share(row[name], row[name])
                built.append(build(row))
        return built

    async def execute(self, query: Query, **parameters: Value) -> int:
        """Run one statement and return the number of rows that it wrote."""
        with map_errors():
            return max(0, self._connection.execute(query.text, parameters).rowcount)

    async def execute_many(
        self, query: Query, rows: Sequence[Mapping[str, Value]]
    ) -> int:
        """Run one statement for each row and return the number of rows written."""
        with map_errors():
            return max(0, self._connection.executemany(query.text, rows).rowcount)


def _list_shared(names: Sequence[str]) -> list[str]:
    """
    List the columns whose values many rows of one transaction have in common.

    The index of them must not grow with the rows: left out are GitHub's and people's
    names for one row, and the id of a row that belongs to a task.
    """
    alone = {"node_id", "external_id", *({"id"} if "task_id" in names else ())}
    return [
        name
        for name in names
        if (name == "id" or name.endswith("_id")) and name not in alone
    ]


class Runner(Protocol):
    """Where the statements of one connection run."""

    async def run(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Call `fn` with the connection, whole, whatever becomes of the caller."""
        ...

    async def close(self) -> None:
        """Close the connection after everything that was asked before."""
        ...


class WorkerRunner(aiosqlite.Connection):
    """Runs a function in aiosqlite's worker thread, in one hop."""

    async def run(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Call `fn` in the worker; it runs to its end even if the caller is gone."""
        result = await self._execute(fn, self._conn)  # type: ignore[no-untyped-call]  # the driver's hop has no annotations
        return cast("T", result)  # it is what fn returned


class InlineRunner:
    """Runs a function where it is called, for event loops that aiosqlite has not."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def run(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Call `fn` at once."""
        return fn(self._connection)

    async def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class SQLiteDatabase:
    """A migrated SQLite file. See `Database` for what it promises."""

    def __init__(
        self, writer: Runner, readers: Sequence[Runner], file: SQLiteFile
    ) -> None:
        self._file = file
        self._writer = writer
        self._readers = readers
        self._reads = [0] * len(readers)
        self._rows_written = 0

    @property
    def rows_written(self) -> int:
        """Return the rows that were committed here since opening."""
        return self._rows_written

    async def transact(self, fn: Work[T]) -> T:
        """Run `fn` in one writing transaction and return what it returns."""
        self._file.check()
        run = functools.partial(self._run_writing, fn)
        return await repeat_when_busy(lambda: self._writer.run(_in_context(run)))

    async def read(self, fn: Work[T]) -> T:
        """Run `fn` on one consistent snapshot and return what it returns."""
        self._file.check()
        number = self._reads.index(min(self._reads))
        self._reads[number] += 1
        try:
            reader, run = self._readers[number], functools.partial(_run_reading, fn)
            return await repeat_when_busy(lambda: reader.run(_in_context(run)))
        finally:
            self._reads[number] -= 1

    async def change_token(self) -> int:
        """Return `PRAGMA data_version` of always the same reader."""
        self._file.check()
        return await self._readers[0].run(_read_data_version)

    def _run_writing(self, fn: Work[T], connection: sqlite3.Connection) -> T:
        before = connection.total_changes
        with map_errors():
            connection.execute("BEGIN IMMEDIATE")
        try:
            result = _drive(fn(SQLiteTransaction(connection)))
            with map_errors():
                connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise
        self._rows_written += connection.total_changes - before
        return result


def _in_context(
    run: Callable[[sqlite3.Connection], T],
) -> Callable[[sqlite3.Connection], T]:
    # What the caller has bound (a cycle's id in the log) is bound in the worker too.
    context = contextvars.copy_context()
    return lambda connection: context.run(run, connection)


def _run_reading(fn: Work[T], connection: sqlite3.Connection) -> T:
    with map_errors():
        connection.execute("BEGIN")
    try:
        return _drive(fn(SQLiteTransaction(connection)))
    finally:
        _roll_back(connection)


def _roll_back(connection: sqlite3.Connection) -> None:
    # After a full disk SQLite may have rolled back by itself.
    if connection.in_transaction:
        with map_errors():
            connection.execute("ROLLBACK")


def _drive(work: Awaitable[T]) -> T:
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return cast("T", end.value)  # what the function returned
    with contextlib.suppress(RuntimeError):
        steps.close()
    raise TransactionMisuse("a transaction awaited something else than its statements")


def _read_data_version(connection: sqlite3.Connection) -> int:
    with map_errors():
        return int(connection.execute("PRAGMA data_version").fetchone()[0])


def create_private_file(path: Path) -> None:
    """
    Create an empty file that only its owner may read, unless it is there.

    Raises:
        StoreUnavailable: It cannot be created or written.
    """
    try:
        # An existing file is not opened: closing it would drop the locks that this
        # process holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreUnavailable(
            f"the database {path} cannot be created: {error.strerror}",
            hint="create its folder and make it writable for this user",
        ) from error
    # Service managers switch users: the effective one counts where it can be asked.
    effective = os.access in os.supports_effective_ids
    writable = os.access(path, os.R_OK | os.W_OK, effective_ids=effective)
    if not path.is_file() or not writable:
        raise StoreUnavailable(
            f"the database {path} cannot be written",
            hint="check the owner and mode of the file and of its folder",
        )


def connect(path: Path, *, busy_timeout_ms: int) -> sqlite3.Connection:
    """Open a connection without touching the file's content."""
    with map_errors():
        return sqlite3.connect(
            path,
            timeout=busy_timeout_ms / 1000,
            isolation_level=None,
            cached_statements=512,
            # It is opened here and used by its one worker only.
            check_same_thread=False,
        )


@contextlib.asynccontextmanager
async def open_runner(
    path: Path, *, inline: bool, busy_timeout_ms: int
) -> AsyncIterator[Runner]:
    """Open one connection where it shall run, and close it whatever happens."""
    connection = connect(path, busy_timeout_ms=busy_timeout_ms)
    runner: Runner
    if inline:
        runner = InlineRunner(connection)
    else:
        worker = WorkerRunner(lambda: connection, iter_chunk_size=64)
        with anyio.fail_after(_CLOSING_SECONDS, shield=True):
            await worker
        runner = worker
    try:
        yield runner
    finally:
        # The worker is no daemon thread: left open, it would hold up the exit.
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            await runner.close()


def prepare_writer(connection: sqlite3.Connection) -> None:
    """
    Set what a writer needs: a log, a durable commit, checked references.

    Raises:
        StoreUnavailable: The file system cannot share memory, as a log needs.
    """
    with map_errors():
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreUnavailable(
                "the database cannot keep a write-ahead log where it is",
                hint="put it on a local disk, not on a network file system",
            )
        # With NORMAL a power cut could take back a commit whose event has left.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")


def prepare_reader(connection: sqlite3.Connection) -> None:
    """Make a connection unable to write."""
    with map_errors():
        connection.execute("PRAGMA query_only = ON")
