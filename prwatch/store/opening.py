"""Opens a database: checks it, migrates it, closes it."""

import contextlib
import datetime as dt
import functools
import sqlite3
import types
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from prwatch.errors import ConfigError
from prwatch.store.database import Database
from prwatch.store.migrate import Migration, load_migrations
from prwatch.store.sqlite import (
    SQLiteDatabase,
    create_private_file,
    open_runner,
    prepare_reader,
    prepare_writer,
)
from prwatch.store.sqlite_file import SQLiteFile
from prwatch.store.sqlite_migration import migrate_sqlite, read_applied

SQLITE_FLOOR: Final = (3, 39)
"""The first release with IS DISTINCT FROM, which keeps equal rows unwritten."""

_READERS: Final = 2


@contextlib.asynccontextmanager
async def open_database(
    target: Path | str,
    *,
    now: dt.datetime,
    inline: bool = False,
    busy_timeout_ms: int = 5_000,
    migrations: Sequence[Migration] | None = None,
) -> AsyncIterator[Database]:
    """
    Open, check and migrate a database, and close it at the end.

    A `Path` is a SQLite file, created with mode 0600 when it is missing; its folder
    must exist. A `str` is a PostgreSQL URL. `inline` runs SQLite in the calling
    thread, for event loops that the driver does not know. `now` names the snapshot
    that is written before an existing file changes its schema.

    Raises:
        StoreUnavailable: It cannot be reached, opened, written or locked.
        StoreCorrupt: The file is damaged or no database.
        SchemaMismatch: It was written by a newer prwatch.
        StoreError: It belongs to another program, or a migration failed.
        ConfigError: The URL or the installation is not usable.
    """
    if isinstance(target, Path):
        opened = _open_sqlite(
            target,
            now=now,
            inline=inline,
            busy_timeout_ms=busy_timeout_ms,
            migrations=migrations or load_migrations("sqlite"),
        )
    else:
        opened = _open_postgres(
            target, now=now, migrations=migrations or load_migrations("postgres")
        )
    async with opened as database:
        yield database


@contextlib.asynccontextmanager
async def _open_sqlite(
    path: Path,
    *,
    now: dt.datetime,
    inline: bool,
    busy_timeout_ms: int,
    migrations: Sequence[Migration],
) -> AsyncIterator[Database]:
    check_sqlite_version(sqlite3.sqlite_version_info)
    create_private_file(path)
    open_one = functools.partial(
        open_runner, path, inline=inline, busy_timeout_ms=busy_timeout_ms
    )
    async with contextlib.AsyncExitStack() as stack:
        writer = await stack.enter_async_context(open_one())
        # Nothing of a file that is not ours may be changed, not even its mode.
        await writer.run(read_applied)
        await writer.run(
            functools.partial(migrate_sqlite, path=path, migrations=migrations, now=now)
        )
        await writer.run(prepare_writer)
        readers = []
        for _ in range(_READERS):
            reader = await stack.enter_async_context(open_one())
            await reader.run(prepare_reader)
            readers.append(reader)
        yield SQLiteDatabase(writer, readers, SQLiteFile(path))


def check_sqlite_version(version: tuple[int, ...]) -> None:
    """Raise ConfigError when Python's SQLite is too old for our statements."""
    if version < SQLITE_FLOOR:
        found = ".".join(str(part) for part in version)
        floor = ".".join(str(part) for part in SQLITE_FLOOR)
        raise ConfigError(
            f"SQLite {found} is too old, prwatch needs {floor}",
            hint="use a Python that brings a newer SQLite, or PostgreSQL",
        )


@contextlib.asynccontextmanager
async def _open_postgres(
    url: str, *, now: dt.datetime, migrations: Sequence[Migration]
) -> AsyncIterator[Database]:
    postgres = import_postgres()
    async with postgres.open_postgres(url, migrations=migrations, now=now) as database:
        yield database


def import_postgres() -> types.ModuleType:
    """Return `prwatch.store.postgres`; raise ConfigError without its driver."""
    try:
        from prwatch.store import postgres  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise ConfigError(
            "a PostgreSQL database needs the extra `postgres`",
            hint="pip install 'prwatch[postgres]'",
        ) from None
    return postgres
