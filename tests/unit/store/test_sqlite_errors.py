"""SQLite's result codes become our errors."""

import sqlite3

import pytest

from prwatch.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from prwatch.store.database import DatabaseBusy
from prwatch.store.sqlite_errors import map_errors


def make_error(code):
    error = sqlite3.OperationalError("its words")
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        pytest.param(sqlite3.SQLITE_BUSY, DatabaseBusy, id="busy"),
        pytest.param(sqlite3.SQLITE_BUSY_SNAPSHOT, DatabaseBusy, id="extended code"),
        pytest.param(sqlite3.SQLITE_LOCKED, DatabaseBusy, id="locked"),
        pytest.param(sqlite3.SQLITE_FULL, StoreUnavailable, id="full"),
        pytest.param(sqlite3.SQLITE_READONLY, StoreUnavailable, id="read-only"),
        pytest.param(sqlite3.SQLITE_CANTOPEN, StoreUnavailable, id="cannot open"),
        pytest.param(sqlite3.SQLITE_PERM, StoreUnavailable, id="denied"),
        pytest.param(sqlite3.SQLITE_IOERR_WRITE, StoreUnavailable, id="disk"),
        pytest.param(sqlite3.SQLITE_CORRUPT, StoreCorrupt, id="corrupt"),
        pytest.param(sqlite3.SQLITE_NOTADB, StoreCorrupt, id="no database"),
        pytest.param(sqlite3.SQLITE_CONSTRAINT_UNIQUE, StoreConflict, id="constraint"),
        pytest.param(sqlite3.SQLITE_ERROR, StoreError, id="bad statement"),
        pytest.param(None, StoreError, id="no code"),
    ],
)
def test_a_code_has_one_meaning(code, ours):
    foreign = make_error(code)

    with pytest.raises(StoreError) as caught, map_errors():
        raise foreign

    assert type(caught.value) is ours
    assert caught.value.__cause__ is foreign
    assert caught.value.message.endswith("its words")
