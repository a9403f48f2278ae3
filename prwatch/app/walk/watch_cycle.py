"""One cycle: reconcile each workspace, then walk each account's references."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import anyio
import structlog

from prwatch.app.limit_blocks import store_limits
from prwatch.app.refused_fields import store_refused
from prwatch.app.token_change import follow_token
from prwatch.app.walk.account_outcome import (
    AccountOutcome,
    record_outcomes,
    report_outcome,
)
from prwatch.app.walk.admission import (
    host_key,
    name_list,
    name_repository,
    workspace_key,
)
from prwatch.app.walk.adoption_walk import FULL_WALK_EVERY, walk_repository_watches
from prwatch.app.walk.branch_walk import walk_searching
from prwatch.app.walk.cycle import Account, AccountRun, Cycle
from prwatch.app.walk.cycle_report import Failure, subtract_usage
from prwatch.app.walk.finished_walk import build_memory_key, walk_finished
from prwatch.app.walk.notices import tell_transitions
from prwatch.app.walk.poll_settings import PollSettings
from prwatch.app.walk.probe_walk import walk_discovered
from prwatch.app.walk.reconciliation import Worktrees, reconcile
from prwatch.app.walk.repository_rows import ViewOutdated
from prwatch.app.walk.repository_walk import walk_unsettled
from prwatch.app.walk.stretching import (
    adapt_settings,
    allow_for_early_wake,
    is_guessed,
    plan_stretches,
)
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reconcile import list_finished_links
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

ACCOUNTS_AT_ONCE = 8
ATTEMPTS = 3
"""How often an account is walked when its rows change under the walk."""


async def run_cycle(
    cycle: Cycle, accounts: Sequence[Account], worktrees: Worktrees
) -> None:
    """
    Poll every account once.

    A failure of one account is reported and leaves the others alone. What was
    committed before it stays. Connections are looked at first, and whatever circuit
    is open is left out before a token is asked for.
    """
    started = cycle.clock.monotonic()
    async with anyio.create_task_group() as group:
        for account in accounts:
            group.start_soon(follow_token, cycle, account)
    await cycle.mirror.refresh()
    cycle.circuits.begin_cycle(await _read_fingerprints(cycle, accounts))
    if not cycle.is_forced:
        await plan_stretches(cycle, accounts)
    limiter = anyio.CapacityLimiter(ACCOUNTS_AT_ONCE)
    hosts: defaultdict[str, list[Account]] = defaultdict(list)
    for account in accounts:
        hosts[account.host].append(account)
    async with anyio.create_task_group() as group:
        for host, residents in hosts.items():
            round_trip = HostRound(cycle, host, worktrees, limiter)
            group.start_soon(round_trip.poll, residents)
    await _count_watches(cycle, accounts)
    if not cycle.is_forced:
        await plan_stretches(cycle, [each for each in accounts if is_guessed(each)])
    cycle.circuits.keep_only(CircuitKind.HOST, hosts)
    for failure in cycle.circuits.list_shown():
        cycle.report.add_failure(failure)
    await tell_transitions(cycle, accounts, cycle.circuits.news.take())
    cycle.report.duration_ms = round((cycle.clock.monotonic() - started) * 1000)


async def _read_fingerprints(
    cycle: Cycle, accounts: Sequence[Account]
) -> dict[str, str]:
    """Return what each present workspace's connection is now."""
    found = {}
    for account in accounts:
        for workspace in account.workspaces:
            view = await cycle.mirror.view(workspace)
            connection = view.snapshot.connection
            found[workspace.id] = connection.fingerprint if connection else ""
    return found


class HostRound:
    """
    One cycle over the accounts of one host.

    While the host's circuit waits for its probe one account goes first, and the
    others follow when that got through.
    """

    def __init__(
        self,
        cycle: Cycle,
        host: str,
        worktrees: Worktrees,
        limiter: anyio.CapacityLimiter,
    ) -> None:
        self._cycle = cycle
        self._host = host
        self._worktrees = worktrees
        self._limiter = limiter

    async def poll(self, accounts: Sequence[Account]) -> None:
        """Poll those accounts that are not left out."""
        circuits, key = self._cycle.circuits, host_key(self._host)
        waiting = list(accounts)
        if circuits.find(key) is not None:
            is_admitted = circuits.admit(key)
            while is_admitted and waiting and circuits.find(key) is not None:
                outcome = await self._poll_account(waiting.pop(0))
                record_outcomes(self._cycle, self._host, [outcome], is_probe=True)
                is_admitted = not outcome.is_host_failure
            if circuits.find(key) is not None:
                for account in waiting:
                    await self._leave_out(account.workspaces)
                return
        outcomes: list[AccountOutcome] = []

        async def poll_one(account: Account) -> None:
            outcomes.append(await self._poll_account(account))

        async with anyio.create_task_group() as group:
            for account in waiting:
                group.start_soon(poll_one, account)
        record_outcomes(self._cycle, self._host, outcomes)

    async def _poll_account(self, account: Account) -> AccountOutcome:
        async with self._limiter:
            circuits = self._cycle.circuits
            admitted = tuple(
                workspace
                for workspace in account.workspaces
                if circuits.admit(workspace_key(workspace))
            )
            left = [each for each in account.workspaces if each not in admitted]
            await self._leave_out(left)
            if not admitted:
                return AccountOutcome(account=account, workspaces=(), is_answered=False)
            outcome = await _poll_account(
                self._cycle, account, admitted, self._worktrees
            )
            report_outcome(self._cycle, outcome)
            return outcome

    async def _leave_out(self, workspaces: Sequence[Workspace]) -> None:
        """Keep the rows in line with the tasks, and count what is not asked."""
        cycle = self._cycle
        for workspace in workspaces:
            view = await cycle.mirror.view(workspace)
            view = await reconcile(cycle, view, self._worktrees)
            cycle.report.skipped["circuit"] += len(view.snapshot.watches)


async def _poll_account(
    cycle: Cycle,
    account: Account,
    workspaces: tuple[Workspace, ...],
    worktrees: Worktrees,
) -> AccountOutcome:
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
            walked = await _walk_account(cycle, account, views)
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


async def _walk_account(
    cycle: Cycle, account: Account, views: list[WorkspaceView]
) -> tuple[bool, ProviderError | None]:
    """Return whether GitHub answered anything, and what ended the walk, if anything."""
    before = account.github.usage
    deadline = cycle.settings.progress_deadline.total_seconds()
    answers = 0
    error: ProviderError | None = None
    try:
        with anyio.fail_after(deadline) as scope:

            def progress() -> None:
                nonlocal answers
                answers += 1
                scope.deadline = anyio.current_time() + deadline
                cycle.on_progress()

            run = AccountRun(
                cycle=cycle, account=account, views=views, progress=progress
            )
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


async def _count_watches(cycle: Cycle, accounts: Sequence[Account]) -> None:
    await cycle.mirror.refresh()
    views = [
        await cycle.mirror.view(workspace)
        for account in accounts
        for workspace in account.workspaces
    ]
    for view in views:
        cycle.report.watches_searching += len(view.searching)
        cycle.report.watches_discovered += len(view.discovered)
    if all(view.is_counted for view in views):
        return  # nothing was written since: what is remembered is what is watched
    kept: list[str] = []
    for view in views:
        view.is_counted = True
        kept.extend(watch.id for watch in view.snapshot.watches)
        kept.extend(map(build_memory_key, list_finished_links(view.snapshot)))
        kept.extend(map(name_list, view.snapshot.repository_watches))
        kept.extend(name_repository(row.id) for row in view.snapshot.repositories)
    cycle.memory.keep_only(kept)
    if len(cycle.circuits):
        cycle.circuits.keep_only(CircuitKind.RECORD, set(kept))
