"""What a connection must be able to do before it is used."""

import contextlib
import sqlite3

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
