"""The names of all metrics, their labels and every value that a label may take."""

import re
from pathlib import Path

import pytest

from prwatch.config.sink import KINDS
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.health import Verdict
from prwatch.domain.rate_limit import BUCKETS as LIMITED
from prwatch.domain.rate_limit import SECONDARY
from prwatch.store.migrate import load_migrations
from prwatch.telemetry import labels
from prwatch.telemetry.metrics import CATALOGUE, MetricKind
from tests.test_docs import rows, section

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/reference/metrics.md"
CLASSES = "auth config transient limit"
CIRCUIT = {
    "circuit": "host workspace organisation record",
    "class": "transient config auth",
}
CLEANUP = {"circuit": "shared record", "class": CLASSES}
BUCKETS = "core graphql search secondary other"
LOOPS = (
    "watch_cycle relay retention review_queue review_cleanup sync gauges canary"
    " control metrics reload watchdog other"
)
SINKS = "stdout jsonl webhook command"
TABLES = (
    "workspaces connections repositories tasks task_repositories pull_request_links"
    " sessions checkouts repository_watches pr_watches task_pull_requests events"
    " deliveries rate_limit_blocks refused_fields"
    " watch_folders watch_files watch_folder_circuits"
    " review_watches review_tasks review_audit"
)
FIELDS = (
    "associated state is_draft checks review review_decision head_ref_oid mergeable"
    " merge_queue auto_merge comments activity archived"
)
TYPES = (
    "GitHubPRFeedback GitHubTaskPRUpdated GitHubPRReviewRequested"
    " GitHubPRReviewTaskDeleted ProviderCircuitOpened ProviderCircuitClosed"
    " GitHubRateLimitChanged"
)
EXPECTED = {
    "prwatch_cycle_duration_seconds": {},
    "prwatch_cycles_total": {"outcome": "ok partial failed"},
    "prwatch_last_cycle_timestamp_seconds": {},
    "prwatch_last_successful_cycle_timestamp_seconds": {},
    "prwatch_references_asked_total": {},
    "prwatch_references_skipped_total": {
        "reason": "circuit limit not_due resting archived"
    },
    "prwatch_failures_total": {"class": CLASSES},
    "prwatch_last_cycle_failures": {"class": CLASSES},
    "prwatch_full_readings_total": {},
    "prwatch_branch_lookups_total": {},
    "prwatch_requests_total": {"bucket": "core graphql"},
    "prwatch_points_total": {"bucket": "core graphql"},
    "prwatch_received_bytes_total": {},
    "prwatch_cache_hits_total": {"hit": "equal_bytes not_modified"},
    "prwatch_watches": {"state": "searching discovered"},
    "prwatch_stretch_level": {},
    "prwatch_stretched_watches": {},
    "prwatch_oldest_observation_age_seconds": {},
    "prwatch_stale_watches": {"reason": "circuit limit unexplained"},
    "prwatch_observation_ages_timestamp_seconds": {},
    "prwatch_refused_fields": {},
    "prwatch_changes_total": {"field": FIELDS},
    "prwatch_events_written_total": {"type": TYPES},
    "prwatch_commits_rejected_total": {},
    "prwatch_deliveries_total": {
        "sink_kind": SINKS,
        "outcome": "delivered failed dropped dead",
    },
    "prwatch_outbox_pending_deliveries": {"sink_kind": SINKS},
    "prwatch_outbox_oldest_age_seconds": {"sink_kind": SINKS},
    "prwatch_sinks_failing": {"sink_kind": SINKS},
    "prwatch_circuits_open": CIRCUIT,
    "prwatch_circuit_skips_total": CIRCUIT,
    "prwatch_circuit_opens_total": CIRCUIT,
    "prwatch_circuit_resets_total": CIRCUIT,
    "prwatch_circuit_failures_total": CIRCUIT,
    "prwatch_review_searches_total": {"outcome": "complete incomplete failed"},
    "prwatch_review_hits_total": {
        "outcome": "created joined ended unasked cleaned left unread refused"
    },
    "prwatch_review_searches_skipped_total": {"reason": "limit account"},
    "prwatch_review_watches": {"state": "enabled disabled unreadable"},
    "prwatch_sync_turns_total": {"outcome": "unchanged changed skipped failed"},
    "prwatch_sync_not_modified_total": {},
    "prwatch_watch_files": {"state": "good frozen"},
    "prwatch_review_tasks_deleted_total": {},
    "prwatch_review_cleanup_circuits_open": CLEANUP,
    "prwatch_review_cleanup_skips_total": CLEANUP,
    "prwatch_review_cleanup_circuit_opens_total": CLEANUP,
    "prwatch_review_cleanup_circuit_resets_total": CLEANUP,
    "prwatch_review_cleanup_failures_total": CLEANUP,
    "prwatch_rate_limit_remaining": {"bucket": BUCKETS},
    "prwatch_rate_limit_limit": {"bucket": BUCKETS},
    "prwatch_rate_limit_blocked_accounts": {"bucket": BUCKETS},
    "prwatch_rate_limit_blocked_until_timestamp_seconds": {"bucket": BUCKETS},
    "prwatch_loop_last_success_timestamp_seconds": {"loop": LOOPS},
    "prwatch_loop_lag_seconds": {"loop": LOOPS},
    "prwatch_loop_consecutive_failures": {"loop": LOOPS},
    "prwatch_loop_restarts_total": {"loop": LOOPS},
    "prwatch_loop_stuck_total": {"loop": LOOPS},
    "prwatch_loops_stalled": {"loop": LOOPS},
    "prwatch_reloads_total": {"outcome": "applied refused"},
    "prwatch_store_writable": {},
    "prwatch_store_check_timestamp_seconds": {},
    "prwatch_state_free_bytes": {},
    "prwatch_database_size_bytes": {},
    "prwatch_database_wal_size_bytes": {},
    "prwatch_table_rows": {"table": TABLES},
    "prwatch_table_size_bytes": {"table": TABLES},
    "prwatch_tables_timestamp_seconds": {},
    "prwatch_outbox_dead_deliveries": {},
    "prwatch_process_resident_bytes": {},
    "prwatch_process_open_files": {},
    "prwatch_process_start_timestamp_seconds": {},
    "prwatch_health": {"verdict": "ok degraded failing"},
}
"""Whoever adds a metric or a value says here that it names nobody's work."""


def test_these_are_all_metrics_with_all_values_of_their_labels():
    found = {
        metric.name: {str(n): " ".join(v) for n, v in metric.labels.items()}
        for metric in CATALOGUE
    }

    assert found == EXPECTED


def test_the_reference_shows_every_metric_as_it_is():
    shown = [tuple(row) for row in rows(section(PAGE, "## What is measured"))]

    assert shown == [
        (
            metric.name,
            metric.kind.value,
            "; ".join(f"{n}: {', '.join(v)}" for n, v in metric.labels.items()) or "-",
            metric.text,
        )
        for metric in CATALOGUE
    ]


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_a_name_says_whose_it_is_and_how_it_counts(metric):
    assert re.fullmatch(r"prwatch_[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)
    assert bool(metric.bounds) == (metric.kind is MetricKind.HISTOGRAM)
    assert list(metric.bounds) == sorted(set(metric.bounds))


def test_no_label_can_hold_what_somebody_has_named():
    forbidden = re.compile(
        r"workspace(?!s?$)|_id$|name|login|user|host(?!$)|repo(?!sitories$)|task(?!s$|_)|watch_id"
    )
    names = {name for metric in CATALOGUE for name in metric.labels}

    assert {str(name) for name in names if forbidden.search(str(name))} == set()


def test_every_kind_of_sink_has_its_value():
    assert set(labels.SINK_KINDS) == set(KINDS)


def test_every_verdict_circuit_and_bucket_has_its_value():
    assert set(labels.VERDICTS) == {each.value for each in Verdict}
    assert set(labels.CIRCUITS) == {each.value for each in CircuitKind}
    assert set(labels.BUCKETS) == LIMITED | {SECONDARY, "other"}


def test_every_table_is_measured():
    made = re.findall(r"CREATE TABLE (\w+)", load_migrations("sqlite")[0].text)

    assert set(labels.TABLES) == set(made)
