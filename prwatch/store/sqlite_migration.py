"""Brings a SQLite file to the newest schema, after a verified snapshot of it."""

import datetime as dt
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from prwatch.errors import StoreCorrupt, StoreError, StoreUnavailable
from prwatch.store.columns import to_microseconds
from prwatch.store.migrate import Migration, list_pending, split_statements
from prwatch.store.sqlite import create_private_file
from prwatch.store.sqlite_errors import map_errors, translate

_CREATE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


def read_applied(connection: sqlite3.Connection) -> dict[int, str]:
    """
    Return the digests of the migrations that the file has, by version.

    Raises:
        StoreError: The file holds somebody else's tables.
        StoreCorrupt: It is not a database.
    """
    with map_errors():
        names = {
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table'"
            )
        }
        if "schema_migrations" in names:
            rows = connection.execute("SELECT version, digest FROM schema_migrations")
            return dict(rows.fetchall())
    if names:
        raise StoreError(
            "the file is a database, but not one of prwatch",
            hint="name another file; a database of another tool has to be imported",
        )
    return {}


def migrate_sqlite(
    connection: sqlite3.Connection,
    path: Path,
    migrations: Sequence[Migration],
    now: dt.datetime,
) -> None:
    """
    Apply what is missing in one transaction: all of it or none of it.

    A database that changes its version is copied and the copy checked before. When
    that fails the upgrade does not start. When the upgrade fails the error's hint
    names the copy.

    Raises:
        SchemaMismatch: The database is newer than this code.
        StoreError: The snapshot or a migration failed.
    """
    applied = read_applied(connection)
    if not list_pending(applied, migrations):
        return
    snapshot = write_snapshot(connection, path, max(applied), now) if applied else None
    try:
        _apply(connection, migrations, now)
    except sqlite3.Error as error:
        mapped = translate(error)
        if snapshot is not None:
            mapped.hint = f"nothing was changed; a copy from before is {snapshot}"
        raise mapped from error


def write_snapshot(
    connection: sqlite3.Connection, path: Path, version: int, now: dt.datetime
) -> Path:
    """
    Write a verified copy of the database beside it and return where it is.

    Raises:
        StoreUnavailable: The copy could not be written; it is removed.
        StoreCorrupt: The copy failed its integrity check.
    """
    snapshot = path.with_name(
        f"{path.name}.schema-{version}.{now:%Y%m%dT%H%M%S.%fZ}.snapshot"
    )
    if snapshot.exists():
        raise StoreUnavailable(f"the snapshot {snapshot} is there already")
    # VACUUM INTO fills an empty file, and would create one that all may read.
    create_private_file(snapshot)
    try:
        with map_errors():
            # The online backup starts anew on every write; this does not.
            connection.execute("VACUUM INTO ?", (str(snapshot),))
        _check_integrity(snapshot)
    except StoreError:
        snapshot.unlink(missing_ok=True)
        raise
    return snapshot


def _check_integrity(path: Path) -> None:
    with map_errors():
        copy = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        with map_errors():
            answer = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    finally:
        copy.close()
    if answer != "ok":
        raise StoreCorrupt(
            "the copy of the database failed its check, so the upgrade did not start",
            hint="the database itself is damaged: go back to an older snapshot",
        )


def _apply(
    connection: sqlite3.Connection, migrations: Sequence[Migration], now: dt.datetime
) -> None:
    connection.execute("BEGIN EXCLUSIVE")
    try:
        connection.execute(_CREATE)
        # Somebody else may have been first while this one waited for the lock.
        for migration in list_pending(read_applied(connection), migrations):
            for statement in split_statements(migration.text):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, ?, ?)",
                (
                    migration.version,
                    migration.name,
                    migration.digest,
                    to_microseconds(now),
                ),
            )
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        if broken is not None:
            raise sqlite3.IntegrityError(f"a row of {broken[0]} points nowhere")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
