"""Values survive the way into a column and back."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    CommentItem,
    CommentMark,
    ReviewDecision,
)
from prwatch.store import columns

TIMES = st.datetimes(
    min_value=dt.datetime(1900, 1, 1),  # noqa: DTZ001 - the zone is added by hypothesis
    timezones=st.just(dt.UTC),
)


@given(TIMES)
def test_a_time_keeps_its_microsecond(value):
    assert columns.from_microseconds(columns.to_microseconds(value)) == value


def test_a_time_of_another_zone_is_stored_in_utc():
    zone = dt.timezone(dt.timedelta(hours=2))
    value = dt.datetime(1970, 1, 1, 2, 0, 0, 1, tzinfo=zone)

    assert columns.to_microseconds(value) == 1


@given(
    st.one_of(
        st.just(UNOBSERVED),
        st.lists(st.builds(CommentItem, TIMES, st.text()), max_size=20).map(
            lambda items: CommentMark(tuple(items))
        ),
    )
)
def test_a_comment_mark_comes_back(mark):
    assert columns.from_comment_mark(columns.to_comment_mark(mark)) == mark


@pytest.mark.parametrize(
    ("value", "column"),
    [
        pytest.param(UNOBSERVED, None, id="unobserved"),
        pytest.param(None, "", id="observed as null"),
        pytest.param("octocat", "octocat", id="a name"),
    ],
)
def test_null_and_unobserved_are_told_apart(value, column):
    assert columns.to_observed_text(value) == column
    assert columns.from_observed_text(column) == value


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param(None, UNOBSERVED, id="unobserved"),
        pytest.param("", None, id="observed as null"),
        pytest.param("APPROVED", ReviewDecision.APPROVED, id="a word"),
    ],
)
def test_a_word_may_be_null(column, value):
    assert columns.from_observed_optional_word(ReviewDecision, column) == value


@pytest.mark.parametrize(
    ("read", "column", "value"),
    [
        pytest.param(columns.from_observed_flag, None, UNOBSERVED, id="no flag"),
        pytest.param(columns.from_observed_flag, 0, False, id="flag of SQLite"),
        pytest.param(columns.from_observed_flag, True, True, id="flag of PostgreSQL"),
        pytest.param(columns.from_observed_count, None, UNOBSERVED, id="no count"),
        pytest.param(columns.from_observed_count, 0, 0, id="nothing counted"),
        pytest.param(columns.from_optional_microseconds, None, None, id="no time"),
    ],
)
def test_null_is_not_zero(read, column, value):
    assert read(column) is value


def test_a_word_is_read_as_its_enum():
    assert columns.from_observed_word(ChecksState, "failure") is ChecksState.FAILURE
    assert columns.from_observed_word(ChecksState, None) is UNOBSERVED
