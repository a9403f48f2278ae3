"""Which migrations there are, and which of them a database still lacks."""

import hashlib
import importlib.resources
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prwatch.errors import SchemaMismatch

_FILE = re.compile(r"(?P<version>\d{4})_(?P<name>\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. Its text is never edited once it was released."""

    version: int
    name: str
    text: str

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the text, which the database remembers."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_migrations(engine: str) -> tuple[Migration, ...]:
    """Return the migrations of `sqlite` or `postgres`, oldest first."""
    folder = importlib.resources.files("prwatch.store") / "migrations" / engine
    migrations = [
        Migration(int(match["version"]), match["name"], file.read_text("utf-8"))
        for file in folder.iterdir()
        if (match := _FILE.fullmatch(file.name))
    ]
    return tuple(sorted(migrations, key=lambda migration: migration.version))


def list_pending(
    applied: Mapping[int, str], migrations: Sequence[Migration]
) -> tuple[Migration, ...]:
    """
    Return the migrations that a database lacks, oldest first.

    `applied` maps the versions that the database has to their digests.

    Raises:
        SchemaMismatch: The database is newer, or was made from other texts.
    """
    latest = migrations[-1].version
    found = max(applied, default=0)
    if found > latest:
        raise SchemaMismatch(
            f"the database has schema {found}, this prwatch knows up to {latest}",
            found=found,
            expected=latest,
            hint="use the prwatch that wrote it, or a newer one",
        )
    for migration in migrations:
        digest = applied.get(migration.version)
        if digest is not None and digest != migration.digest:
            raise SchemaMismatch(
                f"schema {migration.version} of the database was made by another"
                " text than the one that this prwatch has",
                found=migration.version,
                expected=migration.version,
                hint="use the released prwatch that wrote the database",
            )
    return tuple(item for item in migrations if item.version > found)


def split_statements(text: str) -> Iterator[str]:
    """
    Split a script into its statements.

    sqlite3's own `executescript` commits first, so that a script which fails
    would leave its first half behind.

    Raises:
        ValueError: The last statement has no end.
    """
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if any(
        line.strip() and not line.startswith("--") for line in statement.split("\n")
    ):
        raise ValueError("the last statement of the script has no end")
