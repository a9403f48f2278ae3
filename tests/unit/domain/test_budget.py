import datetime as dt

from prwatch.domain.budget import (
    Terms,
    find_end,
    find_stretch_start,
    get_promise,
    list_growth,
)
from prwatch.domain.load import Load
from prwatch.domain.schedule import Activity, Intervals
from prwatch.domain.stretch import Bucket, StretchLevel, StretchRules

HOT, FRESH, IDLE, RESTING = Activity
SECOND = dt.timedelta(seconds=1)


def make_terms(limit=5000):
    return Terms(
        intervals=Intervals(),
        bucket=Bucket(limit=limit) if limit else None,
        rules=StretchRules(),
        tick=15 * SECOND,
    )


def make_load(count):
    return Load(pull_requests={RESTING: count})


def test_more_watches_are_forecast_with_what_becomes_of_the_bound():
    rows = list_growth(make_load(2400), make_terms())

    assert [row.watched for row in rows] == [2400, 2500, 3400, 24_000]
    assert [row.bound / SECOND for row in rows] == [75, 75, 915, 1815]
    assert rows[0].stretch.level is StretchLevel.NONE
    assert rows[-1].stretch.level is StretchLevel.FURTHER


def test_ten_times_as_few_come_before_a_thousand_more():
    rows = list_growth(make_load(5), make_terms())

    assert [row.watched for row in rows] == [5, 50, 105, 1005]


def test_nothing_times_ten_is_no_forecast():
    assert [row.watched for row in list_growth(Load(), make_terms())] == [0, 100, 1000]


def test_what_is_asked_least_bounds_all():
    load = Load(pull_requests={HOT: 1, RESTING: 20_000})
    stretch = make_terms().plan(load)

    assert get_promise(load, stretch, 15 * SECOND) > 900 * SECOND
    assert get_promise(Load(), stretch, 15 * SECOND) == 75 * SECOND


def test_the_first_that_is_too_many_is_found_from_below_and_from_above():
    terms = make_terms()
    start = find_stretch_start(make_load(10), terms)

    assert start == find_stretch_start(make_load(20_000), terms)
    plans = [terms.plan(make_load(count)).level for count in (start - 1, start)]
    assert plans == [StretchLevel.NONE, StretchLevel.IDLE]


def test_the_budget_ends_where_the_longest_intervals_do_not_fit():
    terms = make_terms()
    end = find_end(make_load(10), terms)

    levels = [terms.plan(make_load(count)).level for count in (end - 1, end)]
    assert levels == [StretchLevel.CALM, StretchLevel.SHORT]


def test_a_budget_may_be_too_small_for_anything():
    load = Load(branches={FRESH: 50})

    assert find_stretch_start(load, make_terms(60)) == 0
    assert find_end(load, make_terms(60)) == 0


def test_a_budget_may_be_too_large_to_end():
    assert find_end(make_load(1), make_terms(10**9)) is None


def test_without_a_budget_nothing_ends():
    terms = make_terms(None)

    assert find_stretch_start(make_load(1), terms) is None
    assert find_end(make_load(1), terms) is None
