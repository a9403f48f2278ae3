import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.forecast import build_forecast
from prwatch.domain.load import Load
from prwatch.domain.price import Price
from prwatch.domain.schedule import Activity, Intervals

HOT, FRESH, IDLE, RESTING = Activity
INTERVALS = Intervals()
STRETCHED = replace(
    INTERVALS, idle=dt.timedelta(minutes=5), idle_rest=dt.timedelta(minutes=15)
)


def hour(intervals=INTERVALS, **load):
    return build_forecast(Load(**load), intervals)


def test_nothing_watched_costs_nothing():
    assert hour().hour == hour().cycle == Price()


def test_a_thousand_pull_requests_cost_ten_points_a_minute_and_their_full_readings():
    forecast = hour(pull_requests={RESTING: 1000})

    assert forecast.cycle == Price(10, 2)
    assert forecast.probes == Price(600, 120)
    assert forecast.reads == Price(160, 160)
    assert forecast.hour == Price(760, 280)


def test_idle_ones_that_stretch_cost_less():
    forecast = hour(STRETCHED, pull_requests={RESTING: 1000})

    assert forecast.probes == Price(40, 8)
    assert forecast.reads == Price(160, 160)


def test_full_readings_become_rarer_when_nobody_asks_as_often():
    slow = replace(STRETCHED, idle_rest=dt.timedelta(minutes=30))

    assert hour(slow, pull_requests={RESTING: 1000}).reads == Price(80, 80)


def test_what_is_hot_has_a_request_of_its_own_and_others_fill_it():
    forecast = hour(pull_requests={HOT: 1, FRESH: 99})

    assert forecast.probes == Price(240, 240)
    assert forecast.reads == Price(16, 16)


def test_groups_with_intervals_of_their_own_cost_no_more_than_apart():
    forecast = hour(STRETCHED, pull_requests={FRESH: 100, RESTING: 10})

    assert forecast.probes == Price(60 + 4, 60)


def test_what_a_list_shows_is_not_probed():
    forecast = hour(pull_requests={RESTING: 40}, lists=(40,))

    assert (forecast.lists, forecast.probes) == (Price(60, 60), Price())
    assert forecast.reads == Price(8, 8)
    assert forecast.cycle == Price(1, 1)


def test_each_tenth_walk_shows_all_of_a_long_list():
    forecast = hour(pull_requests={RESTING: 300}, lists=(300,))

    assert forecast.lists.points == pytest.approx(54 + 6 * 3)
    assert forecast.probes.points == pytest.approx(54 * 2)


def test_idle_ones_of_a_long_list_are_shown_before_they_are_due():
    forecast = hour(STRETCHED, pull_requests={RESTING: 300}, lists=(300,))

    assert forecast.probes.points == pytest.approx(0)


def test_an_authors_pull_requests_are_searched_and_then_looked_at():
    forecast = hour(pull_requests={RESTING: 120}, searches=(120,))

    assert forecast.lists == Price(60 * (2 + 1), 60 * (2 + 1))
    assert forecast.cycle == Price(3, 3)
    assert forecast.probes == Price()


@pytest.mark.parametrize(
    ("branches", "points"),
    [
        pytest.param({FRESH: 50}, 60, id="a sign within the hour"),
        pytest.param({IDLE: 50}, 12, id="within a day"),
        pytest.param({RESTING: 50}, 4, id="longer ago"),
        pytest.param({FRESH: 10, IDLE: 10, RESTING: 10}, 60, id="all together"),
    ],
)
def test_branches_are_looked_up_the_more_seldom_the_longer_nobody_works(
    branches, points
):
    assert hour(branches=branches).branches.points == points


def test_branches_with_one_interval_are_one_request():
    slow = replace(INTERVALS, search=dt.timedelta(minutes=5))

    assert hour(slow, branches={FRESH: 25, IDLE: 25}).branches == Price(12, 12)


def test_closed_and_archived_ones_cost_little():
    forecast = hour(finished=30, archived=24)

    assert forecast.finished == Price(4, 4)
    assert forecast.probes.points == pytest.approx(1 / 24)
