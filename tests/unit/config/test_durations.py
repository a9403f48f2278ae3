import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prwatch.config.durations import (
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        pytest.param("0s", dt.timedelta(0), id="nothing"),
        pytest.param("500ms", dt.timedelta(milliseconds=500), id="milliseconds"),
        pytest.param("30s", dt.timedelta(seconds=30), id="seconds"),
        pytest.param("15m", dt.timedelta(minutes=15), id="minutes"),
        pytest.param("2h", dt.timedelta(hours=2), id="hours"),
        pytest.param("30d", dt.timedelta(days=30), id="days"),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text, duration):
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "s",
        "-1s",
        "1.5s",
        " 30s",
        "30 s",
        "30S",
        "1w",
        "1h30m",
        "٣s",
        "9" * 10 + "d",
    ],
)
def test_nothing_else_is_a_duration(text):
    with pytest.raises(ValueError, match="a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        pytest.param(dt.timedelta(0), "0s", id="nothing"),
        pytest.param(dt.timedelta(minutes=1), "60s", id="one minute"),
        pytest.param(dt.timedelta(days=1), "24h", id="one day"),
        pytest.param(dt.timedelta(days=2), "2d", id="two days"),
        pytest.param(dt.timedelta(seconds=90), "90s", id="odd seconds"),
        pytest.param(dt.timedelta(seconds=1.5), "1500ms", id="part of a second"),
    ],
)
def test_a_duration_is_shown_in_the_unit_that_people_use(duration, text):
    assert format_duration(duration) == text


@given(st.integers(min_value=0, max_value=10**12))
def test_a_shown_duration_is_read_as_the_same(milliseconds):
    duration = dt.timedelta(milliseconds=milliseconds)
    # Nine digits are the longest number that is read.
    if len(format_duration(duration)) <= 9:
        assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        pytest.param("0B", 0, id="nothing"),
        pytest.param("512B", 512, id="bytes"),
        pytest.param("64KiB", 65_536, id="kibibytes"),
        pytest.param("64MiB", 67_108_864, id="mebibytes"),
        pytest.param("1GiB", 1_073_741_824, id="gibibytes"),
    ],
)
def test_a_size_is_read_and_shown_alike(text, size_bytes):
    assert (parse_size(text), format_size(size_bytes)) == (size_bytes, text)


@pytest.mark.parametrize("text", ["", "64", "64MB", "64 MiB", "-1B", "1.5GiB", "64mib"])
def test_nothing_else_is_a_size(text):
    with pytest.raises(ValueError, match="a size such as"):
        parse_size(text)
