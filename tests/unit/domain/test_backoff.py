import datetime as dt

import pytest

from prwatch.domain.backoff import Backoff

SECOND = dt.timedelta(seconds=1)


def make_backoff(**changes):
    values = {"base": 5 * SECOND, "factor": 2, "cap": 60 * SECOND, "jitter": 0.25}
    return Backoff(**{**values, **changes})


@pytest.mark.parametrize(
    ("attempt", "seconds"),
    [
        pytest.param(1, 5, id="the first failure waits the base"),
        pytest.param(2, 10, id="then it doubles"),
        pytest.param(4, 40, id="and doubles"),
        pytest.param(5, 60, id="up to the cap"),
        pytest.param(10**6, 60, id="also after more attempts than floats can count"),
        pytest.param(0, 5, id="an attempt before the first is the first"),
    ],
)
def test_the_wait_grows_to_the_cap(attempt, seconds):
    assert make_backoff().delay(attempt, 0.0) == seconds * SECOND


def test_chance_adds_its_share_of_the_jitter():
    assert make_backoff().delay(1, 0.5) == 5.625 * SECOND


def test_jitter_spreads_what_waits_at_the_cap():
    assert make_backoff().delay(50, 1.0) == 75 * SECOND


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"base": 0 * SECOND}, id="no base"),
        pytest.param({"base": 61 * SECOND}, id="base above the cap"),
        pytest.param({"factor": 0.5}, id="shrinking"),
        pytest.param({"jitter": -0.1}, id="jitter below zero"),
        pytest.param({"jitter": 1.1}, id="jitter above one"),
    ],
)
def test_a_backoff_that_cannot_work_is_refused(changes):
    with pytest.raises(ValueError, match="must be"):
        make_backoff(**changes)
