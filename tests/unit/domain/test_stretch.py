import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.load import Load
from prwatch.domain.schedule import Activity, Intervals
from prwatch.domain.stretch import (
    Bucket,
    StretchLevel,
    StretchRules,
    count_allowed,
    count_usable,
    plan_stretch,
    promise,
)

HOT, FRESH, IDLE, RESTING = Activity
INTERVALS = Intervals()
RULES = StretchRules()
BUCKET = Bucket(limit=5000)
MINUTE = dt.timedelta(minutes=1)


def plan(bucket=BUCKET, rules=RULES, intervals=INTERVALS, **counts):
    load = Load(pull_requests={Activity(name): n for name, n in counts.items()})
    return plan_stretch(load, intervals, bucket=bucket, rules=rules)


@pytest.mark.parametrize(
    ("counts", "level"),
    [
        pytest.param({}, StretchLevel.NONE, id="nothing"),
        pytest.param({"idle": 3200}, StretchLevel.NONE, id="just under half"),
        pytest.param({"idle": 3400}, StretchLevel.IDLE, id="just above it"),
        pytest.param({"idle": 30_000}, StretchLevel.FURTHER, id="idle ones further"),
        pytest.param({"fresh": 4000}, StretchLevel.CALM, id="nothing is idle"),
        pytest.param({"fresh": 50_000}, StretchLevel.SHORT, id="far too many"),
        pytest.param(
            {"hot": 3000, "idle": 100}, StretchLevel.SHORT, id="hot ones never"
        ),
    ],
)
def test_intervals_give_way_no_further_than_they_must(counts, level):
    found = plan(**counts)

    assert found.level is level
    assert found.intervals.hot == INTERVALS.hot
    if level is not StretchLevel.SHORT:
        assert found.forecast.hour.points <= 2500


def test_idle_ones_first_go_to_five_minutes_and_resting_ones_to_fifteen():
    found = plan(idle=2000, resting=2000)

    assert found.intervals == replace(INTERVALS, idle=5 * MINUTE, idle_rest=15 * MINUTE)


def test_then_all_idle_ones_become_rarer_alike():
    found = plan(resting=30_000)

    assert found.level is StretchLevel.FURTHER
    assert found.intervals.base == MINUTE
    assert found.intervals.idle_rest == 3 * found.intervals.idle


def test_no_interval_becomes_longer_than_the_longest():
    found = plan(fresh=20_000, idle=40_000, resting=40_000).intervals

    assert (found.idle, found.idle_rest) == (60 * MINUTE, 60 * MINUTE)
    assert (found.base, found.hot) == (5 * MINUTE, INTERVALS.hot)


def test_intervals_that_are_long_already_do_not_become_shorter():
    slow = replace(INTERVALS, base=20 * MINUTE)
    found = plan(intervals=slow, idle=300_000)

    assert found.intervals.base == 20 * MINUTE
    assert found.intervals.idle == found.intervals.idle_rest == 60 * MINUTE


def test_a_server_without_limits_has_nothing_to_plan():
    found = plan(None, fresh=1_000_000)

    assert (found.level, found.intervals) == (StretchLevel.NONE, INTERVALS)


def test_more_than_half_but_what_the_reserve_leaves_is_not_short():
    found = plan(resting=70_000)

    assert 2500 < found.forecast.hour.points <= count_usable(BUCKET, RULES)
    assert found.level is StretchLevel.CALM


@pytest.mark.parametrize(
    ("bucket", "allowed"),
    [
        pytest.param(BUCKET, 2500, id="half of the bucket"),
        pytest.param(
            Bucket(limit=5000, remaining=4900, resets_in=30 * MINUTE),
            2500,
            id="enough remains",
        ),
        pytest.param(
            Bucket(limit=5000, remaining=1750, resets_in=60 * MINUTE),
            1000,
            id="what remains above the reserve must last",
        ),
        pytest.param(
            Bucket(limit=5000, remaining=1000, resets_in=30 * MINUTE),
            500,
            id="until the reset",
        ),
        pytest.param(
            Bucket(limit=5000, remaining=100, resets_in=30 * MINUTE),
            2500,
            id="polling pauses until the reset",
        ),
        pytest.param(
            Bucket(limit=5000, remaining=100, resets_in=-MINUTE),
            2500,
            id="the window is over",
        ),
        pytest.param(
            Bucket(limit=5000, others=3000), 1250, id="others use the same budget"
        ),
        pytest.param(Bucket(limit=5000, others=9000), 0, id="others use all of it"),
    ],
)
def test_what_may_be_spent_follows_from_the_bucket(bucket, allowed):
    assert count_allowed(bucket, RULES) == allowed


def test_a_change_is_told_an_interval_and_a_wake_up_later():
    tick = dt.timedelta(seconds=15)
    stretched = plan(idle=4000).intervals

    assert promise(stretched, HOT, tick=tick) == dt.timedelta(seconds=30)
    assert promise(stretched, FRESH, tick=tick) == dt.timedelta(seconds=75)
    assert promise(stretched, IDLE, tick=tick) == dt.timedelta(minutes=5, seconds=15)
