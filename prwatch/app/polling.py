"""Running cycles over an open product: once for `--cycle`, again and again in `run`."""

import datetime as dt

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.configured import (
    list_logins,
    put_all_configured,
    put_all_configured_tasks,
)
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.guard.limit_notices import remember_told_limits, tell_limits
from prwatch.app.guard.notices import list_told
from prwatch.app.outbox_relay import deliver_once
from prwatch.app.retention import EventRetention, Retention
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.runtime import Runtime
from prwatch.app.sync.failures import list_sync_failures
from prwatch.app.sync.folders import apply_stored, put_folders
from prwatch.app.sync.sync_loop import sync_due
from prwatch.app.task_sync import WORKTREE_ORIGINS
from prwatch.app.walk.ages import scan_ages
from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.cycle_report import CycleReport, Failure, subtract_usage
from prwatch.app.walk.watch_cycle import run_cycle
from prwatch.domain.ids import build_id
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reference import Usage
from prwatch.domain.schedule import has_passed
from prwatch.github.reserve import keep_reserve


async def scan_worktrees(runtime: Runtime) -> None:
    """Bring the tasks of local worktrees in line with what is on the disk."""
    if not runtime.config.checkouts:
        return
    for desired in await runtime.worktrees.discover(runtime.config, runtime.wired):
        await runtime.task_sync.put_desired(
            runtime.wired.workspaces[desired.name],
            desired,
            host=runtime.wired.hosts[desired.name],
            origins=WORKTREE_ORIGINS,
        )


async def start(runtime: Runtime) -> None:
    """Do what a start does once: tasks, and what was told about the watching."""
    await put_folders(runtime)
    await put_all_configured(runtime)
    await apply_stored(runtime)
    await remember_told_limits(runtime.database, runtime.wired.accounts)
    runtime.circuits.news.told.update(
        await list_told(runtime.database, runtime.wired.workspaces.values())
    )


def build_cycle(
    runtime: Runtime,
    now: dt.datetime,
    *,
    is_forced: bool = False,
    is_full: bool = False,
) -> Cycle:
    """Return a cycle that begins at `now`, with a report of its own; nothing runs."""
    return Cycle(
        database=runtime.database,
        mirror=runtime.mirror,
        memory=runtime.memory,
        settings=runtime.settings,
        clock=runtime.clock,
        chance=runtime.surroundings.chance,
        source=runtime.source,
        interests=runtime.interests,
        report=CycleReport(
            cycle_id=build_id(now, runtime.surroundings.chance), started_at=now
        ),
        circuits=runtime.circuits,
        on_commit=runtime.notify_relays,
        on_progress=runtime.on_progress,
        is_forced=is_forced,
        is_full=is_full,
    )


async def poll(
    runtime: Runtime, *, is_forced: bool = False, is_full: bool = False
) -> CycleReport:
    """Run one cycle over every workspace, and say what it did."""
    now = runtime.clock.now()
    written = runtime.database.rows_written
    interval = runtime.config.poll.scan_interval
    if is_forced or has_passed(runtime.scanned_at, interval, now=now):
        runtime.scanned_at = now
        await scan_worktrees(runtime)
    cycle = build_cycle(runtime, now, is_forced=is_forced, is_full=is_full)
    logins = list_logins(runtime)
    with keep_reserve():
        await run_cycle(
            cycle, runtime.wired.accounts, runtime.worktrees, runtime.stragglers
        )
    if list_logins(runtime) != logins:
        # Only now is it known whose adoptions an entry still asks for.
        await put_all_configured_tasks(runtime)
    await tell_limits(cycle, runtime.wired.accounts)
    measured_at = runtime.ages.measured_at if runtime.ages else None
    if not is_forced and has_passed(
        measured_at, runtime.config.poll.interval, now=cycle.now()
    ):
        runtime.ages = await scan_ages(cycle, runtime.wired.accounts)
    for unusable in runtime.wired.unusable:
        cycle.report.add_failure(
            Failure(
                workspace=unusable.name,
                scope="token",
                reference="",
                failure_class=FailureClass.AUTH,
                code="no_token",
                message=unusable.message,
            )
        )
    cycle.report.rows_written = runtime.database.rows_written - written
    return cycle.report


def build_retention(runtime: Runtime, registry: LoopRegistry) -> Retention:
    """Return the service that removes what is too old."""
    section = runtime.config.events
    return Retention(
        runtime.database,
        kept=EventRetention(
            delivered=section.delivered_retention, dead=section.dead_retention
        ),
        clock=runtime.clock,
        registry=registry,
    )


async def _poll_reviews(runtime: Runtime, report: CycleReport) -> None:
    """Search each review watch once, and add to the report what that came to."""
    accounts = runtime.wired.accounts
    before = [account.github.usage for account in accounts]
    found = await ReviewQueue(runtime).run_once(beat=runtime.on_progress)
    for account, usage in zip(accounts, before, strict=True):
        report.add_usage(subtract_usage(account.github.usage, usage))
    report.events_by_type.update(found.events_by_type)
    for failure in found.failures:
        report.add_failure(failure)
    if found.error is not None:
        raise found.error


async def _clean_reviews(runtime: Runtime, report: CycleReport) -> None:
    """Sweep the review tasks once, and add to the report what that came to."""
    accounts = runtime.wired.accounts
    before = [account.github.usage for account in accounts]
    found = await ReviewCleanup(runtime).run_once(beat=runtime.on_progress)
    for account, usage in zip(accounts, before, strict=True):
        report.add_usage(subtract_usage(account.github.usage, usage))
    report.events_by_type.update(found.events_by_type)
    for failure in found.failures:
        report.add_failure(failure)
    if found.error is not None:
        raise found.error


async def _sync_folders(runtime: Runtime) -> tuple[list[Failure], list[Usage]]:
    """Look at each folder of watch files once; return what failed, and the cost."""
    accounts = runtime.wired.accounts
    before = [account.github.usage for account in accounts]
    outcomes = await sync_due(runtime, progress=runtime.on_progress)
    used = [
        subtract_usage(account.github.usage, usage)
        for account, usage in zip(accounts, before, strict=True)
    ]
    return await list_sync_failures(runtime, outcomes), used


async def run_everything_once(
    runtime: Runtime, *, is_full: bool = False
) -> CycleReport:
    """
    Run every loop once, in order, and return what they did.

    That is: tasks, watch files, polling, reviews, their cleaning up,
    deliveries, retention. The report
    counts what all of them wrote.
    """
    written = runtime.database.rows_written
    await start(runtime)
    failures, used = await _sync_folders(runtime)
    report = await poll(runtime, is_forced=True, is_full=is_full)
    for usage in used:
        report.add_usage(usage)
    for failure in failures:
        report.add_failure(failure)
    await _poll_reviews(runtime, report)
    await _clean_reviews(runtime, report)
    report.delivered += await deliver_once(runtime.relays)
    await build_retention(runtime, LoopRegistry(runtime.clock)).run_once(
        runtime.clock.now()
    )
    report.rows_written = runtime.database.rows_written - written
    return report
