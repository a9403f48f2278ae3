"""Which migrations are pending, and how a script is split."""

from dataclasses import replace

import pytest

from prwatch.errors import ConfigError, SchemaMismatch
from prwatch.store.migrate import (
    Migration,
    list_pending,
    load_migrations,
    split_statements,
)
from prwatch.store.opening import SQLITE_FLOOR, check_sqlite_version

FIRST = Migration(1, "first", "CREATE TABLE a (x TEXT);")
SECOND = Migration(2, "second", "CREATE TABLE b (x TEXT);")


@pytest.mark.parametrize(
    ("applied", "pending"),
    [
        pytest.param({}, (FIRST, SECOND), id="new database"),
        pytest.param({1: FIRST.digest}, (SECOND,), id="one behind"),
        pytest.param({1: FIRST.digest, 2: SECOND.digest}, (), id="up to date"),
    ],
)
def test_what_is_missing_is_pending(applied, pending):
    assert list_pending(applied, (FIRST, SECOND)) == pending


def test_a_newer_database_is_refused():
    with pytest.raises(SchemaMismatch) as caught:
        list_pending({1: FIRST.digest, 3: "x"}, (FIRST, SECOND))

    assert (caught.value.found, caught.value.expected) == (3, 2)


def test_another_text_is_refused():
    edited = replace(FIRST, text=FIRST.text + " ")

    with pytest.raises(SchemaMismatch, match="schema 1"):
        list_pending({1: edited.digest}, (FIRST, SECOND))


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_package_brings_its_migrations(engine):
    assert load_migrations(engine)[0].name == "initial"


def test_a_script_is_split_at_its_statements():
    text = (
        "-- First; not an end.\nCREATE TABLE a (x TEXT DEFAULT ';');\n\n"
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n    DELETE FROM a;\nEND;\n-- End.\n"
    )

    statements = [statement.strip() for statement in split_statements(text)]

    assert statements == [
        "-- First; not an end.\nCREATE TABLE a (x TEXT DEFAULT ';');",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n    DELETE FROM a;\nEND;",
    ]


def test_a_script_without_an_end_is_refused():
    with pytest.raises(ValueError, match="no end"):
        list(split_statements("CREATE TABLE a (x TEXT);\nCREATE TABLE b (x TEXT)\n"))


def test_an_old_sqlite_is_refused():
    check_sqlite_version(SQLITE_FLOOR)

    with pytest.raises(ConfigError, match=r"SQLite 3\.38\.5"):
        check_sqlite_version((3, 38, 5))
