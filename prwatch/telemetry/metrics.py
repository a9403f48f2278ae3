"""Every metric of the product: its name, what it counts, and its labels."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from prwatch.telemetry import labels
from prwatch.telemetry.labels import Label


class MetricKind(enum.StrEnum):
    """How a metric moves: only up, anywhere, or as a distribution."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """
    One metric. `labels` maps each label to its closed set of values.

    A histogram has `bounds`, the upper ends of its buckets but the last, infinite one.
    A metric equals itself alone, so that it can be a key.
    """

    name: str
    kind: MetricKind
    text: str
    labels: Mapping[Label, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    bounds: tuple[float, ...] = ()


_COUNTER, _GAUGE = MetricKind.COUNTER, MetricKind.GAUGE
_CIRCUIT: Final = {
    Label.CIRCUIT: labels.CIRCUITS,
    Label.CLASS: labels.CIRCUIT_CLASSES,
}
_CLEANUP: Final = {
    Label.CIRCUIT: labels.CLEANUP_CIRCUITS,
    Label.CLASS: labels.CLASSES,
}
_BUCKET: Final = {Label.BUCKET: labels.BUCKETS}
_PAID: Final = {Label.BUCKET: labels.PAID}
_LOOP: Final = {Label.LOOP: labels.LOOPS}
_SINK: Final = {Label.SINK_KIND: labels.SINK_KINDS}
_TABLE: Final = {Label.TABLE: labels.TABLES}

CYCLE_DURATION: Final = Metric(
    "prwatch_cycle_duration_seconds",
    MetricKind.HISTOGRAM,
    "how long cycles took",
    bounds=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
CYCLES: Final = Metric(
    "prwatch_cycles_total",
    _COUNTER,
    "cycles: without a failure, with failures of single references, or with a "
    "workspace that could not be polled",
    {Label.OUTCOME: labels.CYCLE_OUTCOMES},
)
LAST_CYCLE: Final = Metric(
    "prwatch_last_cycle_timestamp_seconds", _GAUGE, "when the last cycle ended"
)
LAST_GOOD_CYCLE: Final = Metric(
    "prwatch_last_successful_cycle_timestamp_seconds",
    _GAUGE,
    "when the last cycle ended that could poll every workspace",
)
REFERENCES: Final = Metric(
    "prwatch_references_asked_total",
    _COUNTER,
    "pull requests, branches and lists asked for, each once a cycle",
)
SKIPPED: Final = Metric(
    "prwatch_references_skipped_total",
    _COUNTER,
    "references left out of a cycle",
    {Label.REASON: labels.SKIP_REASONS},
)
FAILURES: Final = Metric(
    "prwatch_failures_total",
    _COUNTER,
    "failures that cycles met, by what helps",
    {Label.CLASS: labels.CLASSES},
)
FAILURES_NOW: Final = Metric(
    "prwatch_last_cycle_failures",
    _GAUGE,
    "failures of the last cycle",
    {Label.CLASS: labels.CLASSES},
)
DETAILS: Final = Metric(
    "prwatch_full_readings_total", _COUNTER, "pull requests read in full"
)
LOOKUPS: Final = Metric(
    "prwatch_branch_lookups_total", _COUNTER, "batched lookups of branches"
)
REQUESTS: Final = Metric(
    "prwatch_requests_total", _COUNTER, "requests sent to GitHub", _PAID
)
POINTS: Final = Metric(
    "prwatch_points_total",
    _COUNTER,
    "what GitHub charged: points of GraphQL, requests of REST but unmodified ones",
    _PAID,
)
RECEIVED: Final = Metric(
    "prwatch_received_bytes_total", _COUNTER, "decoded bytes of GitHub's answers"
)
CACHE_HITS: Final = Metric(
    "prwatch_cache_hits_total",
    _COUNTER,
    "answers that needed no decoding: equal to the last, or not modified",
    {Label.HIT: labels.HITS},
)
WATCHES: Final = Metric(
    "prwatch_watches",
    _GAUGE,
    "watches that are polled",
    {Label.STATE: labels.WATCH_STATES},
)
STRETCH_LEVEL: Final = Metric(
    "prwatch_stretch_level",
    _GAUGE,
    "how far idle references are stretched, 0 for not at all; the highest of all",
)
STRETCHED: Final = Metric(
    "prwatch_stretched_watches", _GAUGE, "watches asked less often to save the budget"
)
OLDEST_OBSERVATION: Final = Metric(
    "prwatch_oldest_observation_age_seconds",
    _GAUGE,
    "age of the oldest last good observation of a watch",
)
STALE_WATCHES: Final = Metric(
    "prwatch_stale_watches",
    _GAUGE,
    "watches whose last good observation is older than its bound, by why",
    {Label.REASON: labels.STALE_REASONS},
)
AGES_MEASURED: Final = Metric(
    "prwatch_observation_ages_timestamp_seconds",
    _GAUGE,
    "when the ages of observations were looked at",
)
REFUSED_FIELDS: Final = Metric(
    "prwatch_refused_fields",
    _GAUGE,
    "fields that a token or a server does not let be read",
)
CHANGES: Final = Metric(
    "prwatch_changes_total",
    _COUNTER,
    "changes found and committed",
    {Label.CHANGE_FIELD: labels.CHANGE_FIELDS},
)
EVENTS: Final = Metric(
    "prwatch_events_written_total",
    _COUNTER,
    "events written",
    {Label.EVENT_TYPE: labels.EVENT_TYPES},
)
REJECTED: Final = Metric(
    "prwatch_commits_rejected_total",
    _COUNTER,
    "observations dropped because somebody else had committed first",
)
DELIVERIES: Final = Metric(
    "prwatch_deliveries_total",
    _COUNTER,
    "attempts to deliver, by how they ended",
    {**_SINK, Label.OUTCOME: labels.DELIVERY_OUTCOMES},
)
OUTBOX_DEPTH: Final = Metric(
    "prwatch_outbox_pending_deliveries", _GAUGE, "deliveries that wait", _SINK
)
OUTBOX_AGE: Final = Metric(
    "prwatch_outbox_oldest_age_seconds",
    _GAUGE,
    "age of the delivery that has waited longest, 0 without one",
    _SINK,
)
SINKS_FAILING: Final = Metric(
    "prwatch_sinks_failing", _GAUGE, "sinks whose last attempt failed", _SINK
)
CIRCUITS_OPEN: Final = Metric(
    "prwatch_circuits_open", _GAUGE, "circuits that are open", _CIRCUIT
)
CIRCUIT_SKIPS: Final = Metric(
    "prwatch_circuit_skips_total",
    _COUNTER,
    "references left out because a circuit was open",
    _CIRCUIT,
)
CIRCUIT_OPENS: Final = Metric(
    "prwatch_circuit_opens_total", _COUNTER, "circuits opened", _CIRCUIT
)
CIRCUIT_RESETS: Final = Metric(
    "prwatch_circuit_resets_total", _COUNTER, "circuits closed again", _CIRCUIT
)
CIRCUIT_FAILURES: Final = Metric(
    "prwatch_circuit_failures_total", _COUNTER, "failures told to circuits", _CIRCUIT
)
REVIEW_SEARCHES: Final = Metric(
    "prwatch_review_searches_total",
    _COUNTER,
    "searches of review watches; an incomplete one did not show all",
    {Label.OUTCOME: labels.REVIEW_SEARCHES},
)
REVIEW_HITS: Final = Metric(
    "prwatch_review_hits_total",
    _COUNTER,
    "what became of hits that had no task yet, in each search that shows them",
    {Label.OUTCOME: labels.REVIEW_HITS},
)
REVIEW_SKIPS: Final = Metric(
    "prwatch_review_searches_skipped_total",
    _COUNTER,
    "searches that were due and not made: for a limit, or for what another one showed"
    " of the account",
    {Label.REASON: labels.REVIEW_SKIPS},
)
REVIEW_WATCHES: Final = Metric(
    "prwatch_review_watches",
    _GAUGE,
    "review watches, as of the last look",
    {Label.STATE: labels.REVIEW_STATES},
)
SYNC_TURNS: Final = Metric(
    "prwatch_sync_turns_total",
    _COUNTER,
    "looks at folders of watch files, by what came of them",
    {Label.OUTCOME: labels.SYNC_OUTCOMES},
)
SYNC_NOT_MODIFIED: Final = Metric(
    "prwatch_sync_not_modified_total",
    _COUNTER,
    "looks at folders of watch files that GitHub answered with: not modified",
)
WATCH_FILES: Final = Metric(
    "prwatch_watch_files",
    _GAUGE,
    "watch files: those that count as they are, and those that cannot be read and"
    " count as they last could, as of the last look at each folder",
    {Label.STATE: labels.WATCH_FILE_STATES},
)
CLEANUP_DELETED: Final = Metric(
    "prwatch_review_tasks_deleted_total",
    _COUNTER,
    "review tasks that went because their work was done",
)
CLEANUP_OPEN: Final = Metric(
    "prwatch_review_cleanup_circuits_open",
    _GAUGE,
    "circuits of cleaning up that hold back: of a connection, of a pull request",
    _CLEANUP,
)
CLEANUP_SKIPS: Final = Metric(
    "prwatch_review_cleanup_skips_total",
    _COUNTER,
    "review tasks that were not looked at because of one, or of a rate limit",
    _CLEANUP,
)
CLEANUP_OPENS: Final = Metric(
    "prwatch_review_cleanup_circuit_opens_total",
    _COUNTER,
    "circuits of cleaning up opened",
    _CLEANUP,
)
CLEANUP_RESETS: Final = Metric(
    "prwatch_review_cleanup_circuit_resets_total",
    _COUNTER,
    "circuits of cleaning up closed again",
    _CLEANUP,
)
CLEANUP_FAILURES: Final = Metric(
    "prwatch_review_cleanup_failures_total",
    _COUNTER,
    "failures told to circuits of cleaning up",
    _CLEANUP,
)
LIMIT_REMAINING: Final = Metric(
    "prwatch_rate_limit_remaining",
    _GAUGE,
    "what is left in the bucket of the account that has the smallest part left",
    _BUCKET,
)
LIMIT_SIZE: Final = Metric(
    "prwatch_rate_limit_limit", _GAUGE, "the size of that account's bucket", _BUCKET
)
LIMIT_BLOCKED: Final = Metric(
    "prwatch_rate_limit_blocked_accounts",
    _GAUGE,
    "accounts that do not call, for a limit or to keep the reserve",
    _BUCKET,
)
LIMIT_UNTIL: Final = Metric(
    "prwatch_rate_limit_blocked_until_timestamp_seconds",
    _GAUGE,
    "when the last of these waits ends; absent without one",
    _BUCKET,
)
LOOP_SUCCESS: Final = Metric(
    "prwatch_loop_last_success_timestamp_seconds",
    _GAUGE,
    "when a turn of the loop did its work; of several loops, the one longest ago",
    _LOOP,
)
LOOP_LAG: Final = Metric(
    "prwatch_loop_lag_seconds",
    _GAUGE,
    "how late the last turn began; the latest of several loops",
    _LOOP,
)
LOOP_FAILURES: Final = Metric(
    "prwatch_loop_consecutive_failures",
    _GAUGE,
    "failed turns and crashes since the last success",
    _LOOP,
)
LOOP_RESTARTS: Final = Metric(
    "prwatch_loop_restarts_total", _COUNTER, "restarts after a crash", _LOOP
)
LOOP_STUCK: Final = Metric(
    "prwatch_loop_stuck_total",
    _COUNTER,
    "runs cancelled because they made no progress",
    _LOOP,
)
LOOPS_STALLED: Final = Metric(
    "prwatch_loops_stalled", _GAUGE, "loops that make no progress now", _LOOP
)
RELOADS: Final = Metric(
    "prwatch_reloads_total",
    _COUNTER,
    "reloads of the configuration",
    {Label.OUTCOME: labels.RELOAD_OUTCOMES},
)
STORE_WRITABLE: Final = Metric(
    "prwatch_store_writable", _GAUGE, "1 when the store took a writing transaction"
)
STORE_CHECKED: Final = Metric(
    "prwatch_store_check_timestamp_seconds", _GAUGE, "when that was tried"
)
FREE_SPACE: Final = Metric(
    "prwatch_state_free_bytes", _GAUGE, "free space where the state folder is"
)
DATABASE_SIZE: Final = Metric(
    "prwatch_database_size_bytes", _GAUGE, "size of the SQLite file"
)
WAL_SIZE: Final = Metric(
    "prwatch_database_wal_size_bytes", _GAUGE, "size of its write-ahead log"
)
TABLE_ROWS: Final = Metric("prwatch_table_rows", _GAUGE, "rows of a table", _TABLE)
TABLE_SIZE: Final = Metric(
    "prwatch_table_size_bytes",
    _GAUGE,
    "its rows times the length of some of its rows: the logical size",
    _TABLE,
)
TABLES_MEASURED: Final = Metric(
    "prwatch_tables_timestamp_seconds", _GAUGE, "when the tables were measured"
)
DEAD: Final = Metric(
    "prwatch_outbox_dead_deliveries",
    _GAUGE,
    "deliveries given up, as far as they are kept; measured with the tables",
)
RESIDENT: Final = Metric(
    "prwatch_process_resident_bytes", _GAUGE, "memory of the process"
)
OPEN_FILES: Final = Metric(
    "prwatch_process_open_files", _GAUGE, "open file descriptors of the process"
)
STARTED: Final = Metric(
    "prwatch_process_start_timestamp_seconds", _GAUGE, "when the daemon started"
)
VERDICT: Final = Metric(
    "prwatch_health",
    _GAUGE,
    "1 for the verdict that holds, 0 for the others",
    {Label.VERDICT: labels.VERDICTS},
)

CATALOGUE: Final[tuple[Metric, ...]] = tuple(
    found for found in list(globals().values()) if isinstance(found, Metric)
)
"""All metrics, in the order in which they are shown and documented."""
