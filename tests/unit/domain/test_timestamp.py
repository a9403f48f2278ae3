import datetime as dt

from prwatch.domain.timestamp import format_optional_time, format_time


def test_times_are_written_in_utc_with_microseconds():
    east = dt.timezone(dt.timedelta(hours=2))
    time = dt.datetime(2026, 11, 30, 3, 2, 3, 456789, tzinfo=east)

    assert format_time(time) == "2026-11-30T01:02:03.456789Z"
    assert format_time(time.replace(microsecond=0)) == "2026-11-30T01:02:03.000000Z"


def test_a_missing_time_is_null():
    assert format_optional_time(None) is None
    assert format_optional_time(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) == (
        "2026-01-01T00:00:00.000000Z"
    )
