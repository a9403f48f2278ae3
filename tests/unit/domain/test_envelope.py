import datetime as dt

import pytest

from prwatch.domain.envelope import build_envelope
from tests.deliveries import EVENT_ID, make_event


def test_an_envelope_is_a_cloud_event_around_the_stored_data():
    event = make_event(data={"workspace": "acme", "revision": 7})

    assert build_envelope(event, is_superseded=False) == {
        "specversion": "1.0",
        "id": EVENT_ID,
        "source": "prwatch:test",
        "type": "GitHubPRFeedback",
        "subject": "acme/T-1/octo/hello#12",
        "time": "2026-11-30T12:00:00.123456Z",
        "datacontenttype": "application/json",
        "data": {"workspace": "acme", "revision": 7, "superseded": False},
    }


@pytest.mark.parametrize(
    ("is_superseded", "is_terminal", "expected"),
    [
        pytest.param(True, False, True, id="the head moved on"),
        pytest.param(False, False, False, id="the head is the same"),
        pytest.param(True, True, False, id="a terminal event is never superseded"),
    ],
)
def test_the_envelope_says_whether_the_head_has_moved_on(
    is_superseded, is_terminal, expected
):
    event = make_event(is_terminal=is_terminal, data={})

    envelope = build_envelope(event, is_superseded=is_superseded)

    assert envelope["data"] == {"superseded": expected}


def test_building_leaves_the_stored_data_alone():
    data = {"revision": 7}

    build_envelope(make_event(data=data), is_superseded=True)

    assert data == {"revision": 7}


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        pytest.param(
            dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
            "2026-01-02T03:04:05.000000Z",
            id="microseconds are always there",
        ),
        pytest.param(
            dt.datetime(2026, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "2026-01-02T01:00:00.000000Z",
            id="other zones are turned into UTC",
        ),
    ],
)
def test_the_time_is_rfc_3339_in_utc(time, expected):
    envelope = build_envelope(make_event(time=time), is_superseded=False)

    assert envelope["time"] == expected
