import datetime as dt

import pytest

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.staleness import StaleReadings, is_stale
from tests.readings import NOON, at, make_observation, make_watermark


def remember(*readings):
    memory = StaleReadings()
    for minute, observation in readings:
        now = NOON + dt.timedelta(minutes=minute)
        memory = memory.add(observation, now=now)
    return memory


OLD = make_observation(updated_at=at(-90))
SAME = make_observation(
    updated_at=at(-90), observed_at=at(300), settles_at=at(5), checks_notes=("x",)
)
OTHER = make_observation(updated_at=at(-80))


@pytest.mark.parametrize(
    ("readings", "is_believed"),
    [
        pytest.param([], False, id="none"),
        pytest.param([(0, OLD)], False, id="one"),
        pytest.param([(0, OLD), (11, OLD)], False, id="two"),
        pytest.param([(0, OLD), (1, OLD), (9, OLD)], False, id="three in nine minutes"),
        pytest.param([(0, OLD), (5, SAME), (10, OLD)], True, id="three in ten minutes"),
        pytest.param(
            [(0, OLD), (5, OTHER), (10, OLD), (11, OLD)], False, id="another between"
        ),
        pytest.param(
            [(0, OLD), (5, OLD), (10, OLD), (11, OTHER)], False, id="another after"
        ),
    ],
)
def test_three_equal_readings_over_ten_minutes_are_believed(readings, is_believed):
    assert remember(*readings).is_believed is is_believed


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({}, {}, False, id="the same update time"),
        pytest.param({}, {"updated_at": at(-59)}, False, id="newer"),
        pytest.param({}, {"updated_at": at(-61)}, True, id="older"),
        pytest.param(
            {"state": PullRequestState.MERGED},
            {"updated_at": at(0)},
            True,
            id="denies a merge",
        ),
        pytest.param(
            {"state": PullRequestState.CLOSED},
            {"updated_at": at(0)},
            False,
            id="a reopen",
        ),
    ],
)
def test_a_reading_is_stale_when_it_is_older_than_what_is_known(
    before, after, expected
):
    assert is_stale(make_watermark(**before), make_observation(**after)) is expected
