"""What a connection must be able to do before it is used."""

import contextlib
import inspect
import sqlite3

import aiosqlite
import pytest

from prwatch.errors import StoreUnavailable
from prwatch.store.sqlite import prepare_writer


def test_a_place_without_a_log_is_refused():
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreUnavailable, match="write-ahead log") as caught,
    ):
        prepare_writer(connection)

    assert "local disk" in caught.value.hint


def test_the_private_way_into_the_worker_is_as_we_use_it():
    way = inspect.signature(aiosqlite.Connection._execute)

    assert inspect.iscoroutinefunction(aiosqlite.Connection._execute)
    assert (
        str(way.replace(return_annotation=way.empty)) == "(self, fn, *args, **kwargs)"
    )
    assert isinstance(inspect.getattr_static(aiosqlite.Connection, "_conn"), property)
