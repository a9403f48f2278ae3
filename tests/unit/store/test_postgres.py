"""PostgreSQL's error classes and command tags become ours."""

import asyncpg
import pytest

from prwatch.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from prwatch.store.database import DatabaseBusy
from prwatch.store.postgres import parse_tag
from prwatch.store.postgres_errors import map_errors, translate


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [
        pytest.param(asyncpg.SerializationError, DatabaseBusy, id="serialization"),
        pytest.param(asyncpg.DeadlockDetectedError, DatabaseBusy, id="deadlock"),
        pytest.param(asyncpg.LockNotAvailableError, DatabaseBusy, id="lock"),
        pytest.param(asyncpg.UniqueViolationError, StoreConflict, id="unique"),
        pytest.param(asyncpg.ForeignKeyViolationError, StoreConflict, id="reference"),
        pytest.param(asyncpg.DataCorruptedError, StoreCorrupt, id="data"),
        pytest.param(asyncpg.IndexCorruptedError, StoreCorrupt, id="index"),
        pytest.param(asyncpg.DiskFullError, StoreUnavailable, id="disk full"),
        pytest.param(asyncpg.TooManyConnectionsError, StoreUnavailable, id="too many"),
        pytest.param(asyncpg.InvalidPasswordError, StoreUnavailable, id="password"),
        pytest.param(asyncpg.InvalidCatalogNameError, StoreUnavailable, id="no such"),
        pytest.param(asyncpg.ConnectionDoesNotExistError, StoreUnavailable, id="lost"),
        pytest.param(asyncpg.AdminShutdownError, StoreUnavailable, id="shutdown"),
        pytest.param(asyncpg.InterfaceError, StoreUnavailable, id="closed"),
        pytest.param(ConnectionRefusedError, StoreUnavailable, id="refused"),
        pytest.param(TimeoutError, StoreUnavailable, id="timeout"),
        pytest.param(asyncpg.UndefinedColumnError, StoreError, id="bad statement"),
    ],
)
def test_a_class_has_one_meaning(foreign, ours):
    error = foreign("geheim")

    with pytest.raises(StoreError) as caught, map_errors():
        raise error

    assert type(caught.value) is ours
    assert caught.value.__cause__ is error
    assert "geheim" not in str(caught.value)


def test_an_unknown_error_is_a_store_error():
    assert type(translate(KeyError("x"))) is StoreError


def test_a_url_that_makes_no_sense_passes_to_who_knows_the_url():
    with pytest.raises(asyncpg.ClientConfigurationError), map_errors():
        raise asyncpg.ClientConfigurationError("postgresql://u:geheim@h")


@pytest.mark.parametrize(
    ("tag", "count"),
    [
        ("INSERT 0 3", 3),
        ("UPDATE 12", 12),
        ("DELETE 0", 0),
        ("SELECT 5", 0),
        ("BEGIN", 0),
        ("CREATE TABLE", 0),
    ],
)
def test_a_command_tag_says_how_many_rows_were_written(tag, count):
    assert parse_tag(tag) == count
