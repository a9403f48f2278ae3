"""From the values that the parts of a daemon keep to the metrics that are shown."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from prwatch.app.cleanup.circuits import Counts as CleanupCounts
from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.daemon.loop_registry import LoopFacts
from prwatch.app.health.github_facts import find_stretch_level, list_smallest
from prwatch.app.meter.gauges import StoreFacts
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.clock import Clock
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.freshness import AgeReport, StaleReason
from prwatch.domain.health import Health, HealthFacts, Verdict
from prwatch.domain.outbox import DeliveryState
from prwatch.domain.outcome import FailureClass
from prwatch.telemetry import metrics
from prwatch.telemetry.labels import LOOPS, OTHER
from prwatch.telemetry.meter import Labels, Meter, RunningTotals

_OUTCOMES: Final[Mapping[DeliveryState, str]] = {
    DeliveryState.DELIVERED: "delivered",
    DeliveryState.PENDING: "failed",
    DeliveryState.DROPPED: "dropped",
    DeliveryState.DEAD: "dead",
}


def count_report(meter: Meter, report: CycleReport, *, ended_at: dt.datetime) -> None:
    """Count what one cycle did."""
    usage = report.usage
    meter.observe(metrics.CYCLE_DURATION, report.duration_ms / 1000)
    meter.count(metrics.CYCLES, 1, find_outcome(report))
    meter.put(metrics.LAST_CYCLE, ended_at.timestamp())
    if not report.failed_workspaces:
        meter.put(metrics.LAST_GOOD_CYCLE, ended_at.timestamp())
    meter.count(metrics.REFERENCES, len(report.references))
    meter.count(metrics.DETAILS, report.details)
    meter.count(metrics.LOOKUPS, report.lookups)
    meter.count(metrics.REJECTED, report.rejected_commits)
    meter.count(metrics.REQUESTS, usage.graphql, "graphql")
    meter.count(metrics.REQUESTS, usage.rest, "core")
    meter.count(metrics.POINTS, usage.points, "graphql")
    meter.count(metrics.POINTS, max(0, usage.rest - usage.not_modified), "core")
    meter.count(metrics.RECEIVED, usage.body_bytes)
    meter.count(metrics.CACHE_HITS, usage.not_modified, "not_modified")
    meter.count(metrics.CACHE_HITS, usage.equal_bytes, "equal_bytes")
    _count_each(meter, metrics.SKIPPED, report.skipped)
    _count_each(meter, metrics.CHANGES, report.changes_by_field)
    _count_each(meter, metrics.EVENTS, report.events_by_type)
    failures = Counter(each.failure_class.value for each in report.failures)
    _count_each(meter, metrics.FAILURES, failures)
    (classes,) = metrics.FAILURES_NOW.labels.values()
    for each in classes:
        meter.put(metrics.FAILURES_NOW, failures[each], each)
    meter.put(metrics.WATCHES, report.watches_searching, "searching")
    meter.put(metrics.WATCHES, report.watches_discovered, "discovered")


def find_outcome(report: CycleReport) -> str:
    """Return how a cycle ended: `ok`, `partial` or `failed`."""
    if report.failed_workspaces:
        return "failed"
    return "partial" if report.failures else "ok"


def _count_each(
    meter: Meter, metric: metrics.Metric, counts: Mapping[str, int]
) -> None:
    for value, count in counts.items():
        meter.count(metric, count, value)


def follow_totals(totals: RunningTotals, runtime: Runtime) -> None:
    """Count what the relays and the circuits of a runtime have counted since."""
    for relay in runtime.relays:
        counts: dict[Labels, float] = {
            (relay.kind, _OUTCOMES[state]): float(count)
            for state, count in relay.outcomes.items()
        }
        totals.follow(metrics.DELIVERIES, counts, source=relay.name)
    circuits = runtime.circuits
    totals.follow(metrics.CIRCUIT_SKIPS, _label(circuits.skips))
    totals.follow(metrics.CIRCUIT_OPENS, _label(circuits.opens))
    totals.follow(metrics.CIRCUIT_RESETS, _label(circuits.resets))
    totals.follow(metrics.CIRCUIT_FAILURES, _label(circuits.failures))


def follow_reviews(totals: RunningTotals, queue: ReviewQueue) -> None:
    """Count what searching review watches has counted since."""
    counts = queue.counts
    for metric, counted in (
        (metrics.REVIEW_SEARCHES, counts.searches),
        (metrics.REVIEW_HITS, counts.hits),
        (metrics.REVIEW_SKIPS, counts.skipped),
    ):
        totals.follow(metric, {(word,): float(n) for word, n in counted.items()})


def put_reviews(meter: Meter, queue: ReviewQueue) -> None:
    """Show how many review watches there are, and how they stand."""
    watches = queue.counts.watches
    meter.put_all(
        metrics.REVIEW_WATCHES, {(word,): float(n) for word, n in watches.items()}
    )


def follow_cleanup(totals: RunningTotals, cleanup: ReviewCleanup) -> None:
    """Count what cleaning up review tasks has counted since."""
    circuits = cleanup.circuits
    totals.follow(metrics.CLEANUP_DELETED, {(): float(cleanup.deleted)})
    totals.follow(metrics.CLEANUP_SKIPS, _label_cleanup(circuits.skips))
    totals.follow(metrics.CLEANUP_OPENS, _label_cleanup(circuits.opens))
    totals.follow(metrics.CLEANUP_RESETS, _label_cleanup(circuits.resets))
    totals.follow(metrics.CLEANUP_FAILURES, _label_cleanup(circuits.failures))


def put_cleanup(meter: Meter, cleanup: ReviewCleanup) -> None:
    """Show which circuits of cleaning up hold back now."""
    counts = cleanup.circuits.count_open()
    meter.put_all(metrics.CLEANUP_OPEN, _label_cleanup(counts))


def follow_loops(totals: RunningTotals, loops: Iterable[LoopFacts]) -> None:
    """Count the restarts of loops, and the runs that had to be cancelled."""
    for loop in loops:
        kind = (loop.kind if loop.kind in LOOPS else OTHER,)
        totals.follow(metrics.LOOP_RESTARTS, {kind: loop.restarts}, source=loop.name)
        totals.follow(metrics.LOOP_STUCK, {kind: loop.stuck}, source=loop.name)


def put_loops(meter: Meter, loops: Iterable[LoopFacts]) -> None:
    """Show how loops fare, those of one kind together."""
    kinds: defaultdict[Labels, list[LoopFacts]] = defaultdict(list)
    for loop in loops:
        kinds[(loop.kind if loop.kind in LOOPS else OTHER,)].append(loop)
    meter.put_all(
        metrics.LOOP_SUCCESS,
        {
            kind: min(at.timestamp() for at in known)
            for kind, own in kinds.items()
            if (known := [o.last_success_at for o in own if o.last_success_at])
        },
    )
    meter.put_all(
        metrics.LOOP_LAG,
        {
            kind: max(loop.lag.total_seconds() for loop in own)
            for kind, own in kinds.items()
        },
    )
    for metric, attribute in (
        (metrics.LOOP_FAILURES, "failures"),
        (metrics.LOOPS_STALLED, "is_stalled"),
    ):
        meter.put_all(
            metric,
            {
                kind: float(sum(getattr(loop, attribute) for loop in own))
                for kind, own in kinds.items()
            },
        )


def put_health(meter: Meter, facts: HealthFacts, health: Health) -> None:
    """Show the verdict and what it is made of."""
    for verdict in Verdict:
        meter.put(metrics.VERDICT, verdict is health.verdict, verdict.value)
    meter.put_all(metrics.CIRCUITS_OPEN, _label(facts.open_circuits))
    waits: Counter[Labels] = Counter()
    ends: dict[Labels, float] = {}
    for limit in facts.limits:
        key = (limit.bucket,)
        waits[key] += limit.accounts
        ends[key] = max(ends.get(key, 0.0), limit.until.timestamp())
    meter.put_all(metrics.LIMIT_BLOCKED, waits)
    meter.put_all(metrics.LIMIT_UNTIL, ends)
    meter.put_all(
        metrics.SINKS_FAILING,
        {(kind,): count for kind, count in facts.failing_sinks.items()},
    )
    meter.put(metrics.STRETCHED, facts.stretched)
    meter.put(metrics.REFUSED_FIELDS, facts.refused_fields)


def put_ages(meter: Meter, ages: AgeReport | None, now: dt.datetime) -> None:
    """Show how long ago the watches were seen well, as of the last look."""
    if ages is None:
        return
    meter.put(metrics.AGES_MEASURED, ages.measured_at.timestamp())
    oldest = now if ages.oldest_at is None else ages.oldest_at
    age = max(0.0, (now - oldest).total_seconds())
    meter.put(metrics.OLDEST_OBSERVATION, age)
    for reason in StaleReason:
        meter.put(metrics.STALE_WATCHES, ages.overdue.get(reason, 0), reason.value)


def put_budgets(meter: Meter, runtime: Runtime) -> None:
    """Show what is left of the budgets, and how far intervals give way for them."""
    meter.put(metrics.STRETCH_LEVEL, find_stretch_level(runtime.wired.accounts))
    smallest = list_smallest(runtime.wired.accounts)
    meter.put_all(
        metrics.LIMIT_REMAINING, {(each.bucket,): each.remaining for each in smallest}
    )
    meter.put_all(metrics.LIMIT_SIZE, {(each.bucket,): each.limit for each in smallest})


def put_store(
    meter: Meter, facts: StoreFacts, kinds: Mapping[str, str], clock: Clock
) -> None:
    """Show what the last looks at the store found; `kinds` are those of the sinks."""
    if facts.checked_at is None:
        return
    now = clock.now()
    meter.put(metrics.STORE_WRITABLE, facts.is_writable)
    meter.put(metrics.STORE_CHECKED, facts.checked_at.timestamp())
    for metric, value in (
        (metrics.FREE_SPACE, facts.free_bytes),
        (metrics.DATABASE_SIZE, facts.database_bytes),
        (metrics.WAL_SIZE, facts.wal_bytes),
    ):
        meter.put_all(metric, {} if value is None else {(): value})
    depths: Counter[Labels] = Counter()
    ages: dict[Labels, float] = {}
    for waiting in facts.waiting:
        key = (kinds.get(waiting.sink, ""),)
        since = waiting.oldest_at or now
        depths[key] += waiting.deliveries
        age = max(0.0, (now - since).total_seconds())
        ages[key] = max(ages.get(key, 0.0), age)
    meter.put_all(metrics.OUTBOX_DEPTH, depths)
    meter.put_all(metrics.OUTBOX_AGE, ages)
    if facts.tables_at is not None:
        meter.put(metrics.TABLES_MEASURED, facts.tables_at.timestamp())
        meter.put(metrics.DEAD, facts.dead)
        for table in facts.tables:
            meter.put(metrics.TABLE_ROWS, table.rows, table.name)
            meter.put(metrics.TABLE_SIZE, table.size_bytes, table.name)


def _label(
    counts: Mapping[tuple[CircuitKind, FailureClass], int],
) -> dict[Labels, float]:
    return {
        (kind.value, failure_class.value): float(count)
        for (kind, failure_class), count in counts.items()
    }


def _label_cleanup(counts: CleanupCounts) -> dict[Labels, float]:
    return {
        (kind.value, failure_class.value): float(count)
        for (kind, failure_class), count in counts.items()
    }
