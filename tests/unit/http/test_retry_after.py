import datetime as dt

import pytest

from prwatch.http.retry_after import parse_retry_after

NOW = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)
YEAR = dt.timedelta(days=365)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("120", dt.timedelta(seconds=120), id="seconds"),
        pytest.param(" 0 ", dt.timedelta(0), id="no wait"),
        pytest.param("9" * 8, YEAR, id="more than a year"),
        pytest.param("9" * 5000, YEAR, id="more than int reads"),
        pytest.param(
            "Mon, 30 Nov 2026 12:01:30 GMT", dt.timedelta(seconds=90), id="date"
        ),
        pytest.param(
            "Monday, 30-Nov-26 12:00:05 GMT", dt.timedelta(seconds=5), id="old date"
        ),
        pytest.param(
            "Mon, 30 Nov 2026 12:00:10 -0000", dt.timedelta(seconds=10), id="no zone"
        ),
        pytest.param("Mon, 30 Nov 2026 11:00:00 GMT", dt.timedelta(0), id="past date"),
        pytest.param("Mon, 30 Nov 9999 11:00:00 GMT", YEAR, id="far date"),
        pytest.param("Mon, 99 Nov 2026 12:00:00 GMT", None, id="no such day"),
        pytest.param(
            f"Mon, 30 Nov {'9' * 20} 12:00:00 GMT", None, id="a year beyond numbers"
        ),
        pytest.param(
            f"Mon, 30 Nov 2026 12:00:00 +{'9' * 20}", None, id="a zone beyond numbers"
        ),
        pytest.param("60, 600", dt.timedelta(seconds=600), id="said twice"),
        pytest.param("60, soon", None, id="seconds and nonsense"),
        pytest.param("-5", None, id="negative"),
        pytest.param("1.5", None, id="fraction"),
        pytest.param("²", None, id="a digit of another kind"),
        pytest.param("soon", None, id="words"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_wish_for_a_wait_is_read(value, expected):
    assert parse_retry_after(value, NOW) == expected
