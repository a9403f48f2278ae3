"""Looks at a SQLite file without changing it: is it ours, whole, and how new."""

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from prwatch.errors import StoreCorrupt
from prwatch.store.migrate import Migration, list_pending, load_migrations
from prwatch.store.sqlite_errors import map_errors
from prwatch.store.sqlite_migration import read_applied


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """A database that passed: its schema, the one of this prwatch, its bytes."""

    schema: int
    newest: int
    size: int


async def examine_sqlite(path: Path) -> StoreFacts:
    """
    Check an existing file in a thread; a large one takes its time.

    Raises:
        StoreCorrupt: A check failed, or it is no database.
        SchemaMismatch: A newer prwatch wrote it.
        StoreError: It cannot be read, or is somebody else's.
    """
    migrations = load_migrations("sqlite")
    return await anyio.to_thread.run_sync(
        _examine, path, migrations, abandon_on_cancel=True
    )


def _examine(path: Path, migrations: Sequence[Migration]) -> StoreFacts:
    with map_errors():
        uri = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True)
    with contextlib.closing(connection):
        applied = read_applied(connection)
        list_pending(applied, migrations)
        with map_errors():
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if answer != "ok":
            raise StoreCorrupt(
                f"the database is damaged: {answer}",
                hint="stop prwatch, keep the damaged file, and put the newest"
                " snapshot in its place",
            )
    return StoreFacts(
        schema=max(applied, default=0),
        newest=migrations[-1].version,
        size=path.stat().st_size,
    )
