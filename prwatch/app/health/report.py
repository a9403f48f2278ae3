"""
How the daemon does, gathered from its parts: kinds and counts, and no names.

Nothing here waits or asks the store: what a look has found is used with its age, so
that probes cost the same however often they come.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from prwatch.app.daemon.loop_registry import LoopFacts
from prwatch.app.health.github_facts import (
    count_paused,
    count_refused,
    count_stretched,
    list_limits,
)
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.domain.freshness import AgeReport
from prwatch.domain.health import (
    Health,
    HealthFacts,
    LoopHealth,
    Reason,
    Verdict,
    judge,
)
from prwatch.domain.outcome import FailureClass
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.telemetry.labels import LOOPS, OTHER

if TYPE_CHECKING:
    from prwatch.app.daemon.daemon import Daemon

VITAL: Final = frozenset({"watch_cycle", "relay"})
"""The kinds of loops without which nothing is watched or told."""
_STORE_FAILED: Final = "store_"
"""How the codes of errors of the store begin."""


def gather_facts(daemon: "Daemon") -> HealthFacts:
    """Return what the daemon's verdict is made of, as of now."""
    shift = daemon.shift
    accounts = shift.runtime.wired.accounts
    loops = daemon.registry.list_facts()
    report = shift.loop.last_report
    failures = tuple(report.failures) if report else ()
    store = shift.gauges.facts
    return HealthFacts(
        has_started=daemon.has_started,
        has_polled=report is not None,
        loops=count_loops(loops),
        is_writable=store.is_writable and not _has_failed_store(loops),
        free_bytes=store.free_bytes,
        failures=Counter(each.failure_class for each in failures),
        lost_workspaces=count_lost(failures),
        lost_organisations=sum(
            each.scope == "organisation" and each.failure_class is FailureClass.AUTH
            for each in failures
        ),
        open_circuits=shift.runtime.circuits.count_open(),
        limits=list_limits(accounts),
        paused_workspaces=count_paused(accounts, shift.runtime.settings.read_path),
        failing_sinks=count_failing_sinks(shift.runtime),
        unexplained_stale=shift.canary.unexplained,
        is_reload_refused=daemon.reloader.is_refused,
        stretched=count_stretched(accounts),
        refused_fields=count_refused(accounts),
        unreadable_reviews=len(shift.reviews.queue.unreadable),
    )


def count_loops(loops: Iterable[LoopFacts]) -> dict[str, LoopHealth]:
    """Count loops by kind, and those of them that are not well."""
    kinds: defaultdict[str, list[LoopFacts]] = defaultdict(list)
    for loop in loops:
        kinds[loop.kind if loop.kind in LOOPS else OTHER].append(loop)
    return {
        kind: LoopHealth(
            count=len(own),
            failing=sum(loop.failures > 0 for loop in own),
            stalled=sum(loop.is_stalled for loop in own),
            is_vital=kind in VITAL,
        )
        for kind, own in kinds.items()
    }


def _has_failed_store(loops: Iterable[LoopFacts]) -> bool:
    return any(
        loop.kind in VITAL and loop.failure_code.startswith(_STORE_FAILED)
        for loop in loops
    )


def count_lost(failures: Iterable[Failure]) -> dict[FailureClass, int]:
    """Count the workspaces that could not be polled, each under its first failure."""
    lost: dict[str, FailureClass] = {}
    for failure in failures:
        if failure.is_whole_workspace:
            lost.setdefault(failure.workspace, failure.failure_class)
    return dict(Counter(lost.values()))


def count_failing_sinks(runtime: Runtime) -> dict[str, int]:
    """Count the sinks whose last attempt failed, by kind; those without are absent."""
    return dict(Counter(relay.kind for relay in runtime.relays if relay.is_failing))


def describe_health(daemon: "Daemon") -> dict[str, Any]:
    """Return the health of a daemon as plain JSON values, without a name."""
    facts = gather_facts(daemon)
    health = judge(facts)
    gauges = daemon.shift.gauges.facts
    return {
        **render_health(health),
        "checked_at": format_time(daemon.shift.runtime.clock.now()),
        "loops": {kind: _render_loop(loop) for kind, loop in facts.loops.items()},
        "failures": {str(each): count for each, count in facts.failures.items()},
        "circuits": [
            {"circuit": str(kind), "class": str(failure_class), "open": count}
            for (kind, failure_class), count in sorted(facts.open_circuits.items())
        ],
        "limits": [
            {
                "bucket": limit.bucket,
                "reason": "reserve" if limit.is_reserve else "limit",
                "accounts": limit.accounts,
                "until": format_time(limit.until),
            }
            for limit in facts.limits
        ],
        "sinks": dict(facts.failing_sinks),
        "store": {
            "writable": facts.is_writable,
            "checked_at": format_optional_time(gauges.checked_at),
        },
        "watches": render_watches(daemon.shift.loop.last_report),
        "observations": render_ages(
            daemon.shift.canary.ages, daemon.shift.runtime.clock.now()
        ),
        "stretched": facts.stretched,
        "refused_fields": facts.refused_fields,
    }


def render_health(health: Health) -> dict[str, Any]:
    """Return a verdict and its reasons as plain JSON values."""
    return {
        "verdict": health.verdict.value,
        "ok": health.verdict is Verdict.OK,
        "ready": health.is_ready,
        "reasons": render_reasons(health.reasons),
    }


def render_reasons(reasons: Sequence[Reason]) -> list[dict[str, Any]]:
    """Return reasons as plain JSON values, in their order."""
    return [
        {
            "reason": reason.code.value,
            "verdict": reason.verdict.value,
            "count": reason.count,
            "until": format_optional_time(reason.until),
            "remedy": reason.remedy,
        }
        for reason in reasons
    ]


def render_watches(report: CycleReport | None) -> Mapping[str, int]:
    """Return how many watches the last cycle had."""
    return {
        "searching": report.watches_searching if report else 0,
        "discovered": report.watches_discovered if report else 0,
    }


def render_ages(ages: AgeReport | None, now: dt.datetime) -> dict[str, Any]:
    """Return how long ago the watches were seen well, as far as that was looked at."""
    if ages is None:
        return {"oldest_age_seconds": None, "over_bound": {}}
    oldest = None if ages.oldest_at is None else (now - ages.oldest_at).total_seconds()
    return {
        "oldest_age_seconds": None if oldest is None else round(max(0.0, oldest), 3),
        "over_bound": {str(reason): n for reason, n in ages.overdue.items()},
    }


def _render_loop(loop: LoopHealth) -> dict[str, int]:
    return {"count": loop.count, "failing": loop.failing, "stalled": loop.stalled}
