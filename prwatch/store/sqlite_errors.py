"""What SQLite's result codes mean to us (https://www.sqlite.org/rescode.html)."""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Final

from prwatch.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from prwatch.store.database import DatabaseBusy

CORRUPT_HINT: Final = (
    "stop prwatch, keep the damaged file, and put the newest .snapshot beside it in its"
    " place; without one, begin with a new file"
)
_UNWRITABLE_HINT: Final = (
    "check the owner and mode of the database file and of its folder, and that the"
    " file system is mounted writable"
)
_ERRORS: Final[dict[int, tuple[type[StoreError], str, str]]] = {
    sqlite3.SQLITE_BUSY: (DatabaseBusy, "the database is locked", ""),
    sqlite3.SQLITE_LOCKED: (DatabaseBusy, "a table is locked", ""),
    sqlite3.SQLITE_FULL: (
        StoreUnavailable,
        "the disk with the database is full",
        "free some space; nothing that was committed is lost",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreUnavailable,
        "the database cannot be written",
        _UNWRITABLE_HINT,
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailable,
        "the database cannot be opened",
        _UNWRITABLE_HINT,
    ),
    sqlite3.SQLITE_PERM: (
        StoreUnavailable,
        "access to the database is denied",
        _UNWRITABLE_HINT,
    ),
    sqlite3.SQLITE_IOERR: (
        StoreUnavailable,
        "the disk with the database reports an error",
        "look for disk errors in the system's log",
    ),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "the database is damaged", CORRUPT_HINT),
    sqlite3.SQLITE_NOTADB: (
        StoreCorrupt,
        "the file is not a database, or its header is damaged",
        CORRUPT_HINT,
    ),
    sqlite3.SQLITE_CONSTRAINT: (StoreConflict, "a constraint refused the row", ""),
}


def translate(error: sqlite3.Error) -> StoreError:
    """Return our error for SQLite's, with its own words where they say more."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind, message, hint = _ERRORS.get(code, (StoreError, "SQLite refused", ""))
    return kind(f"{message}: {error}", hint=hint)


@contextlib.contextmanager
def map_errors() -> Iterator[None]:
    """Let no exception of sqlite3 out."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error) from error
