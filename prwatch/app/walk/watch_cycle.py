"""One cycle: reconcile each workspace, then walk each account's references."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

import anyio

from prwatch.app.token_change import follow_token
from prwatch.app.walk.adoption_walk import FULL_WALK_EVERY, walk_repository_watches
from prwatch.app.walk.branch_walk import walk_searching
from prwatch.app.walk.cycle import Account, AccountRun, Cycle
from prwatch.app.walk.cycle_report import Failure, subtract_usage
from prwatch.app.walk.finished_walk import build_memory_key, walk_finished
from prwatch.app.walk.poll_settings import PollSettings
from prwatch.app.walk.probe_walk import walk_discovered
from prwatch.app.walk.reconciliation import Worktrees, reconcile
from prwatch.app.walk.repository_rows import ViewOutdated
from prwatch.app.walk.repository_walk import walk_unsettled
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reconcile import list_finished_links
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    RateLimited,
    StoreConflict,
)

ACCOUNTS_AT_ONCE = 8
ATTEMPTS = 3
"""How often an account is walked when its rows change under the walk."""


async def run_cycle(
    cycle: Cycle, accounts: Sequence[Account], worktrees: Worktrees
) -> None:
    """
    Poll every account once.

    A failure of one account is reported and leaves the others alone. What was
    committed before it stays.
    """
    started = cycle.clock.monotonic()
    await cycle.mirror.refresh()
    limiter = anyio.CapacityLimiter(ACCOUNTS_AT_ONCE)

    async def poll(account: Account) -> None:
        async with limiter:
            await _poll_account(cycle, account, worktrees)

    async with anyio.create_task_group() as group:
        for account in accounts:
            group.start_soon(poll, account)
    await _count_watches(cycle, accounts)
    cycle.report.duration_ms = round((cycle.clock.monotonic() - started) * 1000)


async def _poll_account(cycle: Cycle, account: Account, worktrees: Worktrees) -> None:
    await follow_token(cycle, account)
    for _ in range(ATTEMPTS):
        try:
            views: list[WorkspaceView] = []
            for workspace in account.workspaces:
                view = await cycle.mirror.view(workspace)
                views.append(await reconcile(cycle, view, worktrees))
            await _walk_account(cycle, account, views)
        except (ViewOutdated, StoreConflict):
            # Another process, or an answer, took a row away that the views show.
            # Whoever had its turn before that was not looked at to the end.
            cycle.mirror.forget()
            cycle = replace(cycle, is_forced=True)
        else:
            return
    _fail_all(cycle, account, "store_conflict", "others changed the rows all the time")


async def _walk_account(
    cycle: Cycle, account: Account, views: list[WorkspaceView]
) -> None:
    before = account.github.usage
    deadline = cycle.settings.progress_deadline.total_seconds()
    try:
        with anyio.fail_after(deadline) as scope:

            def progress() -> None:
                scope.deadline = anyio.current_time() + deadline
                cycle.on_progress()

            run = AccountRun(
                cycle=cycle, account=account, views=views, progress=progress
            )
            await _walk(run)
    except ProviderError as error:
        _report(cycle, account, error)
    except ConfigError as error:
        # The source of the token went bad while we ran: a file that others may read.
        _report(cycle, account, AuthenticationFailed(f"{error}; {error.hint}"))
    except TimeoutError:
        message = f"no request finished for {deadline:.0f} s"
        _fail_all(cycle, account, "no_progress", message)
    finally:
        cycle.report.add_usage(subtract_usage(account.github.usage, before))


async def _walk(run: AccountRun) -> None:
    """
    Walk in the order in which one finding rests on another.

    Branches come before adoptions, so that a task somebody named gets its pull
    request first; a pull request that a list has shown is not probed again.
    """
    if not _has_work(run):
        return
    if run.account.viewer is None and _wants_viewer(run):
        run.account.viewer = await run.reader.viewer()
    await walk_unsettled(run)
    await walk_searching(run)
    await run.refresh()
    seen = await _walk_lists(run)
    await walk_finished(run)
    await run.refresh()
    await walk_discovered(run, seen=seen)


async def _walk_lists(run: AccountRun) -> set[str]:
    """Walk the lists when they are due; each tenth time, and first, to their end."""
    account, now = run.account, run.cycle.now()
    if not run.cycle.is_forced and lists_due_at(account, run.cycle.settings, now) > now:
        return set()
    is_to_end = run.cycle.is_full or account.list_walks % FULL_WALK_EVERY == 0
    seen = await walk_repository_watches(run, is_to_end=is_to_end)
    account.listed_at = now
    account.list_walks += 1
    return seen


def lists_due_at(
    account: Account, settings: PollSettings, now: dt.datetime
) -> dt.datetime:
    """Return when the lists of an account's repository watches are due."""
    if account.listed_at is None or account.listed_at > now:  # the clock was set back
        return now
    return account.listed_at + settings.intervals.base


def _has_work(run: AccountRun) -> bool:
    return any(
        view.snapshot.watches
        or view.snapshot.repository_watches
        or view.snapshot.links
        or view.targets.unsettled
        for view in run.views
    )


def _wants_viewer(run: AccountRun) -> bool:
    return any(
        watch.author for view in run.views for watch in view.snapshot.repository_watches
    )


def _fail_all(cycle: Cycle, account: Account, code: str, message: str) -> None:
    """Report what kept all workspaces of an account from being polled, for now."""
    for workspace in account.workspaces:
        cycle.report.add_failure(
            Failure(
                workspace=workspace.name,
                scope="host",
                reference="",
                failure_class=FailureClass.TRANSIENT,
                code=code,
                message=message,
            )
        )


def _report(cycle: Cycle, account: Account, error: ProviderError) -> None:
    """Report a failure of a whole request for every workspace that it ended."""
    match error:
        case RateLimited():
            failure_class = FailureClass.LIMIT
        case AuthenticationFailed():
            failure_class = FailureClass.AUTH
        case _:
            failure_class = FailureClass.TRANSIENT
    if isinstance(error, RateLimited):
        cycle.report.skipped["limit"] += 1
    for workspace in account.workspaces:
        cycle.report.add_failure(
            Failure(
                workspace=workspace.name,
                scope=error.scope,
                reference="",
                failure_class=failure_class,
                code=error.code,
                message=str(error),
            )
        )


async def _count_watches(cycle: Cycle, accounts: Sequence[Account]) -> None:
    await cycle.mirror.refresh()
    kept: list[str] = []
    for account in accounts:
        for workspace in account.workspaces:
            view = await cycle.mirror.view(workspace)
            cycle.report.watches_searching += len(view.searching)
            cycle.report.watches_discovered += len(view.discovered)
            kept.extend(watch.id for watch in view.snapshot.watches)
            kept.extend(map(build_memory_key, list_finished_links(view.snapshot)))
    cycle.memory.keep_only(kept)
