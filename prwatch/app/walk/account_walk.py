"""The walk of one account: its references in order, within a deadline for progress."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

import anyio
import structlog

from prwatch.app.refused_fields import store_refused
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.spending.stretching import (
    adapt_settings,
    allow_for_early_wake,
)
from prwatch.app.walk.account_outcome import (
    AccountOutcome,
)
from prwatch.app.walk.adoption_walk import walk_repository_watches
from prwatch.app.walk.branch_walk import walk_searching
from prwatch.app.walk.cycle import Account, AccountRun, Cycle
from prwatch.app.walk.cycle_report import Failure, subtract_usage
from prwatch.app.walk.finished_walk import walk_finished
from prwatch.app.walk.poll_settings import PollSettings
from prwatch.app.walk.probe_walk import walk_discovered
from prwatch.app.walk.reconciliation import Worktrees, reconcile
from prwatch.app.walk.repository_rows import ViewOutdated
from prwatch.app.walk.repository_walk import walk_unsettled
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.forecast import FULL_WALK_EVERY
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    NoProgress,
    ProtocolViolation,
    ProviderError,
    StoreConflict,
)

_log = structlog.get_logger()

ATTEMPTS = 3
"""How often an account is walked when its rows change under the walk."""


async def walk_account(
    cycle: Cycle,
    account: Account,
    workspaces: tuple[Workspace, ...],
    worktrees: Worktrees,
) -> AccountOutcome:
    """Walk the references of these workspaces, and return what it came to."""
    is_answered = False
    error: ProviderError | None = None
    settings = allow_for_early_wake(
        adapt_settings(cycle.settings, account), cycle.settings
    )
    cycle = replace(cycle, settings=settings)
    for _ in range(ATTEMPTS):
        views: list[WorkspaceView] = []
        try:
            for workspace in workspaces:
                view = await cycle.mirror.view(workspace)
                views.append(await reconcile(cycle, view, worktrees))
            walked = await _walk_bounded(cycle, account, views)
        except (ViewOutdated, StoreConflict):
            # Another process, or an answer, took a row away that the views show.
            # Whoever had its turn before that was not looked at to the end.
            cycle.mirror.forget()
            cycle = replace(cycle, is_forced=True)
        else:
            is_answered, error = walked
            break
    else:
        _report_conflict(cycle, workspaces)
    return AccountOutcome(
        account=account, workspaces=workspaces, is_answered=is_answered, error=error
    )


async def _walk_bounded(
    cycle: Cycle, account: Account, views: list[WorkspaceView]
) -> tuple[bool, ProviderError | None]:
    """Return whether GitHub answered anything, and what ended the walk, if anything."""
    before = account.github.usage
    deadline = cycle.settings.progress_deadline.total_seconds()
    answers = 0
    error: ProviderError | None = None
    try:
        with anyio.fail_after(deadline) as scope:

            def push() -> None:
                scope.deadline = anyio.current_time() + deadline
                cycle.on_progress()

            def progress() -> None:
                nonlocal answers
                answers += 1
                push()

            run = AccountRun(
                cycle=cycle, account=account, views=views, progress=progress
            )
            # One pull request may take many requests: each is progress.
            with account.github.sender.followed_by(push):
                await _walk_either_way(run)
    except ProviderError as failed:
        error = failed
    except ConfigError as failed:
        # The source of the token went bad while we ran: a file that others may read.
        error = AuthenticationFailed(f"{failed}; {failed.hint}")
    except TimeoutError:
        error = NoProgress(f"no request finished for {deadline:.0f} s", scope="host")
    finally:
        cycle.report.add_usage(subtract_usage(account.github.usage, before))
        await store_limits(cycle.database, cycle.clock, account)
        await store_refused(cycle.database, account)
    return answers > 0, error


async def _walk_either_way(run: AccountRun) -> None:
    """Walk, and once more through REST where the host turned out to know no other."""
    is_rest = run.is_rest
    try:
        await _walk(run)
    except ProtocolViolation:
        if is_rest or not run.is_rest:
            raise
        _log.warning("graphql.missing", host=run.account.host)
        await _walk(run)


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


def _report_conflict(cycle: Cycle, workspaces: Sequence[Workspace]) -> None:
    """Report what kept workspaces from being polled, although GitHub would answer."""
    for workspace in workspaces:
        cycle.report.add_failure(
            Failure(
                workspace=workspace.name,
                scope="host",
                reference="",
                failure_class=FailureClass.TRANSIENT,
                code="store_conflict",
                message="others changed the rows all the time",
            )
        )
