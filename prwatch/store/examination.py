"""Looks at a database without changing it: is it ours, whole, and how new."""

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from prwatch.errors import StoreCorrupt
from prwatch.store.migrate import Migration, list_pending, load_migrations
from prwatch.store.opening import import_postgres
from prwatch.store.sqlite_errors import CORRUPT_HINT, map_errors
from prwatch.store.sqlite_migration import read_applied


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """A database that passed: its schema, the one of this prwatch, its bytes."""

    schema: int
    newest: int
    size: int


async def examine_database(target: Path | str) -> StoreFacts:
    """
    Check an existing SQLite file (`Path`), or what a PostgreSQL URL leads to.

    The pages of a file are checked in a thread, which takes its time for a large
    one. PostgreSQL checks its own; there only the schema is looked at, and one that
    was never used counts as schema 0.

    Raises:
        StoreCorrupt: A check failed, or it is no database.
        SchemaMismatch: A newer prwatch wrote it.
        StoreError: It cannot be reached or read, or is somebody else's.
        ConfigError: The URL or the installation is not usable.
    """
    if isinstance(target, str):
        return await _examine_postgres(target)
    migrations = load_migrations("sqlite")
    return await anyio.to_thread.run_sync(
        _examine_sqlite, target, migrations, abandon_on_cancel=True
    )


def _examine_sqlite(path: Path, migrations: Sequence[Migration]) -> StoreFacts:
    with map_errors():
        uri = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True)
    with contextlib.closing(connection):
        applied = read_applied(connection)
        list_pending(applied, migrations)
        with map_errors():
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if answer != "ok":
            raise StoreCorrupt(f"the database is damaged: {answer}", hint=CORRUPT_HINT)
    return StoreFacts(
        schema=max(applied, default=0),
        newest=migrations[-1].version,
        size=path.stat().st_size,
    )


async def _examine_postgres(url: str) -> StoreFacts:
    postgres = import_postgres()
    migrations = load_migrations("postgres")
    applied, size = await postgres.read_applied(url)
    list_pending(applied, migrations)
    return StoreFacts(
        schema=max(applied, default=0), newest=migrations[-1].version, size=size
    )
