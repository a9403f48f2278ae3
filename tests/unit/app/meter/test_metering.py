"""From what cycles and loops say of themselves to the numbers that are shown."""

import datetime as dt
from collections import Counter

import pytest

from prwatch.app.daemon.loop_registry import LoopFacts
from prwatch.app.meter.metering import (
    count_report,
    find_outcome,
    follow_loops,
    put_ages,
    put_loops,
)
from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.domain.freshness import AgeReport, StaleReason
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reference import Usage
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter, RunningTotals
from tests.readings import NOON, at

ROW = {"reference": "", "code": "x", "message": "x"}


def make_report(**values):
    return CycleReport(cycle_id="1", started_at=NOON, **values)


def make_failure(scope="record", failure_class=FailureClass.CONFIG, workspace="acme"):
    return Failure(workspace=workspace, scope=scope, failure_class=failure_class, **ROW)


def make_loop(name, **values):
    facts = {
        "state": "running",
        "last_success_at": None,
        "lag": dt.timedelta(0),
        "failures": 0,
        "restarts": 0,
        "stuck": 0,
        "is_stalled": False,
        "failure_code": "",
    }
    return LoopFacts(name=name, **{**facts, **values})


@pytest.mark.parametrize(
    ("failures", "outcome"),
    [
        ([], "ok"),
        ([make_failure()], "partial"),
        ([make_failure("organisation", FailureClass.AUTH)], "partial"),
        ([make_failure("token", FailureClass.AUTH), make_failure()], "failed"),
    ],
)
def test_a_cycle_fails_with_a_workspace_and_not_with_a_reference(failures, outcome):
    assert find_outcome(make_report(failures=failures)) == outcome


def test_a_cycle_is_counted():
    meter = Meter()
    usage = Usage(
        graphql=3, rest=5, not_modified=4, points=7, body_bytes=900, equal_bytes=2
    )
    report = make_report(
        duration_ms=1500,
        usage=usage,
        references={1, 2},
        details=6,
        lookups=1,
        rejected_commits=2,
        changes_by_field=Counter({"checks": 2}),
        events_by_type=Counter({"GitHubPRFeedback": 1}),
        skipped=Counter({"limit": 3}),
        failures=[make_failure(), make_failure("token", FailureClass.AUTH)],
        watches_discovered=9,
    )
    count_report(meter, report, ended_at=NOON)

    found = {
        f"{metric.name} {' '.join(labels)}".strip(): value
        for metric in metrics.CATALOGUE
        if metric.kind is not metrics.MetricKind.HISTOGRAM
        for labels, value in meter.values(metric)
        if value
    }
    assert found == {
        "prwatch_cycles_total failed": 1,
        "prwatch_last_cycle_timestamp_seconds": NOON.timestamp(),
        "prwatch_references_asked_total": 2,
        "prwatch_references_skipped_total limit": 3,
        "prwatch_failures_total config": 1,
        "prwatch_failures_total auth": 1,
        "prwatch_last_cycle_failures config": 1,
        "prwatch_last_cycle_failures auth": 1,
        "prwatch_full_readings_total": 6,
        "prwatch_branch_lookups_total": 1,
        "prwatch_requests_total graphql": 3,
        "prwatch_requests_total core": 5,
        "prwatch_points_total graphql": 7,
        "prwatch_points_total core": 1,
        "prwatch_received_bytes_total": 900,
        "prwatch_cache_hits_total not_modified": 4,
        "prwatch_cache_hits_total equal_bytes": 2,
        "prwatch_watches discovered": 9,
        "prwatch_changes_total checks": 2,
        "prwatch_events_written_total GitHubPRFeedback": 1,
        "prwatch_commits_rejected_total": 2,
    }
    assert meter.distribution(metrics.CYCLE_DURATION).sum == 1.5


def test_the_last_good_cycle_is_the_last_that_could_poll_everybody():
    meter = Meter()
    bad = make_report(failures=[make_failure("host", FailureClass.TRANSIENT)])
    for report, ended_at in ((make_report(), at(0)), (bad, at(60))):
        count_report(meter, report, ended_at=ended_at)

    assert meter.get(metrics.LAST_CYCLE) == at(60).timestamp()
    assert meter.get(metrics.LAST_GOOD_CYCLE) == at(0).timestamp()
    assert meter.get(metrics.FAILURES_NOW, "transient") == 1


def test_what_a_cycle_failed_with_is_gone_with_the_next():
    meter = Meter()
    for report in (make_report(failures=[make_failure()]), make_report()):
        count_report(meter, report, ended_at=NOON)

    assert meter.get(metrics.FAILURES_NOW, "config") == 0
    assert meter.get(metrics.FAILURES, "config") == 1


def test_loops_of_one_kind_are_shown_by_the_worst_of_them():
    meter = Meter()
    put_loops(
        meter,
        [
            make_loop("relay a", last_success_at=at(9), lag=dt.timedelta(seconds=3)),
            make_loop("relay secret", last_success_at=at(5), failures=2),
            make_loop("relay c", failures=1, is_stalled=True),
            make_loop("control"),
            make_loop("something new"),
        ],
    )

    assert dict(meter.values(metrics.LOOP_SUCCESS)) == {("relay",): at(5).timestamp()}
    assert meter.get(metrics.LOOP_LAG, "relay") == 3
    assert meter.get(metrics.LOOP_FAILURES, "relay") == 3
    assert dict(meter.values(metrics.LOOPS_STALLED)) == {
        ("relay",): 1,
        ("control",): 0,
        ("other",): 0,
    }


def test_restarts_of_loops_of_one_kind_are_added():
    meter = Meter()
    totals = RunningTotals(meter)
    for restarts in (1, 3):
        follow_loops(
            totals,
            [
                make_loop("relay a", restarts=restarts, stuck=1),
                make_loop("relay b", restarts=2),
            ],
        )

    assert meter.get(metrics.LOOP_RESTARTS, "relay") == 5
    assert meter.get(metrics.LOOP_STUCK, "relay") == 1


def test_ages_grow_between_looks_and_every_reason_is_shown():
    meter = Meter()
    ages = AgeReport(
        measured_at=at(0),
        oldest_at=at(-30),
        watches=2,
        overdue={StaleReason.LIMIT: 2},
    )
    put_ages(meter, ages, at(10))

    assert meter.get(metrics.OLDEST_OBSERVATION) == 40
    assert dict(meter.values(metrics.STALE_WATCHES)) == {
        ("circuit",): 0,
        ("limit",): 2,
        ("unexplained",): 0,
    }
    assert meter.get(metrics.AGES_MEASURED) == at(0).timestamp()


@pytest.mark.parametrize("oldest_at", [None, at(99)], ids=["none", "clock set back"])
def test_nothing_is_younger_than_now(oldest_at):
    meter = Meter()
    put_ages(meter, AgeReport(measured_at=at(0), oldest_at=oldest_at), at(10))

    assert meter.get(metrics.OLDEST_OBSERVATION) == 0
