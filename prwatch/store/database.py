"""What a database promises, whichever engine keeps it."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from prwatch.errors import StoreUnavailable
from prwatch.store.query import Query

T = TypeVar("T")
Value: TypeAlias = str | int | bool | None

MAXIMUM_REPEATS = 3
"""How often a transaction is run again after a busy database, all in all."""


class Row(Protocol):
    """One row of an answer, read by column name."""

    def __getitem__(self, key: str, /) -> Any:
        """Return the column's value as the driver gives it."""
        ...


class TransactionMisuse(RuntimeError):
    """A transaction function awaited something other than its transaction."""


class Transaction(Protocol):
    """The statements of one transaction, in order."""

    async def fetch(self, query: Query, **parameters: Value) -> Sequence[Row]:
        """Run one statement and return all of its rows."""
        ...

    async def fetch_as(
        self, query: Query, build: Callable[[Row], T], /, **parameters: Value
    ) -> list[T]:
        """
        Run one statement and return what `build` makes of each row, in order.

        The rows are never held all at once. Equal ids of one transaction may come as
        one object, so that a hundred thousand rows name their workspace once.
        """
        ...

    async def execute(self, query: Query, **parameters: Value) -> int:
        """Run one statement and return the number of rows that it wrote."""
        ...

    async def execute_many(
        self, query: Query, rows: Sequence[Mapping[str, Value]]
    ) -> int:
        """Run one statement for each row and return the number of rows written."""
        ...


Work: TypeAlias = Callable[[Transaction], Awaitable[T]]


class Database(Protocol):
    """
    A migrated database. Transactions are functions, run whole or not at all.

    A function takes values and returns values. It awaits nothing but its
    transaction: anything else raises `TransactionMisuse` (or the error of whatever
    found no event loop in that thread) and rolls back. It touches no shared
    object, because it may run in another thread, and may run more than once.
    """

    async def transact(self, fn: Work[T]) -> T:
        """
        Run `fn` in one writing transaction and return what it returns.

        An exception of `fn` rolls back and comes out unchanged. A busy database, a
        deadlock or a serialization failure runs `fn` again, at most three times.
        A cancelled caller never leaves half a transaction, but does not learn
        whether the whole one was committed.

        Raises:
            StoreUnavailable: The database stayed busy, is full or unreachable.
            StoreConflict: A key or a reference was broken by somebody's change.
            StoreCorrupt: The file failed a check.
        """
        ...

    async def read(self, fn: Work[T]) -> T:
        """
        Run `fn` on one consistent snapshot and return what it returns.

        Reads neither wait for a writer nor make one wait. A statement that writes
        raises a StoreError.
        """
        ...

    async def change_token(self) -> int:
        """
        Return a number that differs when anybody committed a write since.

        Also another process. It may differ without a change, never the other way
        round. Take it before reading, not after. It reads no table of the product.
        """
        ...

    @property
    def rows_written(self) -> int:
        """Return the rows that this object's transactions committed since opening."""
        ...


class DatabaseBusy(StoreUnavailable):
    """Somebody else was in the way; the transaction may be run again at once."""


async def repeat_when_busy(attempt: Callable[[], Awaitable[T]]) -> T:
    """Run `attempt`, and run it again when the database was busy, within bounds."""
    for _ in range(MAXIMUM_REPEATS):
        with contextlib.suppress(DatabaseBusy):
            return await attempt()
    return await attempt()
