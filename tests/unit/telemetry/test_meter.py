"""Counting, setting and following values under the labels of the catalogue alone."""

import pytest

from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter, RunningTotals


@pytest.fixture
def meter():
    return Meter()


def test_a_counter_is_there_from_the_start_under_all_of_its_labels(meter):
    assert dict(meter.values(metrics.CYCLES)) == {
        ("ok",): 0,
        ("partial",): 0,
        ("failed",): 0,
    }
    assert len(dict(meter.values(metrics.DELIVERIES))) == 16


def test_a_gauge_is_there_once_it_was_put(meter):
    before = dict(meter.values(metrics.WATCHES))
    meter.put(metrics.WATCHES, 3, "searching")
    meter.put(metrics.WATCHES, 2, "searching")

    assert (before, dict(meter.values(metrics.WATCHES))) == ({}, {("searching",): 2})


def test_a_counter_adds_up(meter):
    meter.count(metrics.CYCLES, 1, "ok")
    meter.count(metrics.CYCLES, 2, "ok")

    assert meter.get(metrics.CYCLES, "ok") == 3
    assert meter.get(metrics.CYCLES, "failed") == 0
    assert meter.get(metrics.RESIDENT) is None


def test_what_a_set_does_not_know_is_other_where_the_set_has_that(meter):
    meter.count(metrics.LOOP_RESTARTS, 1, "octo/secret")

    assert meter.get(metrics.LOOP_RESTARTS, "other") == 1


@pytest.mark.parametrize(
    "wrong", [("octo/secret",), (), ("ok", "ok")], ids=["value", "too few", "too many"]
)
def test_nothing_else_becomes_a_label(meter, wrong):
    with pytest.raises(ValueError) as refused:
        meter.count(metrics.CYCLES, 1, *wrong)

    assert "secret" not in str(refused.value)


def test_values_that_are_put_together_replace_all_others(meter):
    meter.put_all(metrics.LIMIT_REMAINING, {("core",): 1, ("graphql",): 2})
    meter.put_all(metrics.LIMIT_REMAINING, {("core",): 5})

    assert dict(meter.values(metrics.LIMIT_REMAINING)) == {("core",): 5}


def test_unknown_values_that_are_put_together_are_added_up(meter):
    meter.put_all(metrics.LIMIT_BLOCKED, {("odd",): 1, ("strange",): 2, ("core",): 4})

    assert dict(meter.values(metrics.LIMIT_BLOCKED)) == {("other",): 3, ("core",): 4}


@pytest.mark.parametrize(
    ("value", "bucket"),
    [(0, 0), (0.05, 0), (0.051, 1), (300, 11), (301, 12)],
)
def test_a_histogram_counts_a_value_where_it_fits_first(meter, value, bucket):
    meter.observe(metrics.CYCLE_DURATION, value)

    found = meter.distribution(metrics.CYCLE_DURATION)
    assert [n for n, count in enumerate(found.counts) if count] == [bucket]
    assert found.sum == value


def test_totals_of_others_are_counted_once(meter):
    totals = RunningTotals(meter)
    for total in (2, 2, 5):
        totals.follow(metrics.CIRCUIT_OPENS, {("host", "auth"): total})

    assert meter.get(metrics.CIRCUIT_OPENS, "host", "auth") == 5


def test_totals_of_two_sources_under_one_label_are_added(meter):
    totals = RunningTotals(meter)
    for source, total in (("a", 2), ("b", 3), ("a", 4)):
        totals.follow(metrics.DELIVERIES, {("webhook", "dead"): total}, source=source)

    assert meter.get(metrics.DELIVERIES, "webhook", "dead") == 7


def test_a_source_that_counts_from_nothing_again_takes_nothing_back(meter):
    for totals, total in ((RunningTotals(meter), 4), (RunningTotals(meter), 1)):
        totals.follow(metrics.RELOADS, {("applied",): total})

    assert meter.get(metrics.RELOADS, "applied") == 5
