"""
Looking at single watches now, whatever their turn: read, compare, commit, deliver.

A pull request is read through REST, conditionally. A branch without one is searched
as in a cycle, because REST cannot list what a branch's pull requests are.
"""

import copy
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prwatch.app.command.workbench import Workbench
from prwatch.app.guard.admission import record_key
from prwatch.app.outbox_relay import deliver_once
from prwatch.app.runtime import Runtime
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.sync.declared import restore_narrowings
from prwatch.app.walk.account_outcome import AccountOutcome, record_outcomes
from prwatch.app.walk.account_walk import ATTEMPTS
from prwatch.app.walk.branch_walk import walk_searching
from prwatch.app.walk.cycle import Account, AccountRun, Cycle
from prwatch.app.walk.cycle_report import CycleReport, subtract_usage
from prwatch.app.walk.reading import mark_asked, refer
from prwatch.app.walk.reconciliation import reconcile
from prwatch.app.walk.repository_rows import ViewOutdated
from prwatch.app.walk.rest_walk import check_reference
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.ids import build_id
from prwatch.domain.task import Workspace
from prwatch.domain.watch import Watch
from prwatch.errors import (
    AuthenticationFailed,
    DaemonError,
    PermissionDenied,
    ProtocolViolation,
    ProviderError,
    ProviderUnavailable,
    PrwatchError,
    RateLimited,
    ResourceGone,
    StoreConflict,
    StoreUnavailable,
    WatchNotFound,
)
from prwatch.store import watches
from prwatch.store.database import Transaction

CHECK_SECONDS: Final = 55.0
"""How long the daemon is waited for; it works on no command for a minute."""

_TOLD: Final[tuple[type[PrwatchError], ...]] = (
    ProviderUnavailable,
    AuthenticationFailed,
    PermissionDenied,
    ResourceGone,
    ProtocolViolation,
    WatchNotFound,
    StoreConflict,
    StoreUnavailable,
)
"""Errors that are made of a message and a hint, whoever met them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """
    What a check of one watch came to.

    `events` are numbers by type, `failures` are those of a cycle's report, and
    `requests` counts what was sent to GitHub.
    """

    watch_id: str
    events: Mapping[str, int]
    failures: tuple[Mapping[str, str], ...]
    requests: int
    delivered: int = 0

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints and the daemon answers."""
        return {
            "watch": self.watch_id,
            "events": dict(self.events),
            "failures": [dict(failure) for failure in self.failures],
            "requests": self.requests,
            "delivered": self.delivered,
        }


async def answer_check(
    runtime: Runtime, arguments: Mapping[str, Any]
) -> dict[str, object]:
    """
    Do what a command asks of the daemon: check the watch whose id is `watch`.

    Raises as `check_watch` does.
    """
    return (await check_watch(runtime, str(arguments.get("watch", "")))).as_json()


async def request_check(bench: Workbench, watch_id: str) -> CheckReport | None:
    """
    Let the daemon check a watch; None when no daemon runs.

    Raises:
        PrwatchError: It could not; what stopped it is the same error as here.
    """
    try:
        answer = await bench.ask_daemon("check", seconds=CHECK_SECONDS, watch=watch_id)
    except DaemonError as error:
        raise _translate(error) from error
    if answer is None:
        return None
    return CheckReport(
        watch_id=watch_id,
        events=answer.get("events", {}),
        failures=tuple(answer.get("failures", ())),
        requests=answer.get("requests", 0),
        delivered=answer.get("delivered", 0),
    )


def _translate(error: DaemonError) -> PrwatchError:
    """Return the error that the daemon met, as far as it is one of ours."""
    if error.reason == RateLimited.code:
        return RateLimited(error.message, bucket="unknown", retry_at=None)
    for kind in _TOLD:
        if kind.code == error.reason:
            return kind(error.message, hint=error.hint)
    return error


async def check_watch(runtime: Runtime, watch_id: str) -> CheckReport:
    """
    Look at one watch now, and commit what changed.

    Others that watch the same pull request in the workspace learn it too. Deliveries
    are left to the relays, which are woken.

    Raises:
        WatchNotFound: There is no such watch, or its workspace is not configured.
        AuthenticationFailed: Its workspace has no token that can be used.
        ProviderError: GitHub could not be asked.
        StoreError: The store could not be read or written, or others changed the
            rows each time.
    """
    watch = await _get_watch(runtime, watch_id)
    account, workspace = _find_account(runtime, watch)
    await _wake(runtime, watch)
    cycle = _build_cycle(runtime)
    before = account.github.usage
    for _ in range(ATTEMPTS):
        await cycle.mirror.refresh()
        # With its targets: a pull request that ends lets its branch be searched again.
        view = await cycle.mirror.view(workspace)
        view = await reconcile(cycle, view, runtime.worktrees)
        try:
            await _walk_and_record(cycle, account, view, watch_id)
        except ViewOutdated:
            continue
        finally:
            await store_limits(runtime.database, runtime.clock, account)
        break
    else:
        raise StoreConflict("others changed the rows all the time")
    used = subtract_usage(account.github.usage, before)
    return CheckReport(
        watch_id=watch_id,
        events=dict(sorted(cycle.report.events_by_type.items())),
        failures=tuple(failure.as_json() for failure in cycle.report.failures),
        requests=used.graphql + used.rest,
    )


async def check_and_deliver(
    runtime: Runtime, watch_ids: Sequence[str]
) -> tuple[CheckReport, ...]:
    """
    Check watches where no daemon does, then deliver what is due, one attempt each.

    What was delivered is counted with the last one. Raises as `check_watch` does.
    """
    await restore_narrowings(runtime)
    reports = [await check_watch(runtime, watch_id) for watch_id in watch_ids]
    delivered = await deliver_once(runtime.relays)
    if reports:
        last = reports[-1]
        reports[-1] = CheckReport(
            watch_id=last.watch_id,
            events=last.events,
            failures=last.failures,
            requests=last.requests,
            delivered=delivered,
        )
    return tuple(reports)


async def _get_watch(runtime: Runtime, watch_id: str) -> Watch:
    async def read(tx: Transaction) -> Watch:
        return await watches.get_watch(tx, watch_id)

    return await runtime.database.read(read)


def _find_account(runtime: Runtime, watch: Watch) -> tuple[Account, Workspace]:
    for account in runtime.wired.accounts:
        for workspace in account.workspaces:
            if workspace.id == watch.workspace_id:
                return account, workspace
    for unusable in runtime.wired.unusable:
        if runtime.wired.workspaces[unusable.name].id == watch.workspace_id:
            raise AuthenticationFailed(f"workspace {unusable.name}: {unusable.message}")
    raise WatchNotFound(f"the workspace of watch {watch.id} is not configured any more")


async def _wake(runtime: Runtime, watch: Watch) -> None:
    """Note that a person asked: a branch that rests is searched again."""
    now = runtime.clock.now()
    if not watch.is_searching or now - watch.last_sign_at < dt.timedelta(hours=1):
        return

    async def write(tx: Transaction) -> None:
        await watches.touch_searching(
            tx,
            watch,
            branch_head_oid=watch.branch_head_oid,
            last_sign_at=now,
            searching_since=watch.searching_since,
        )

    await runtime.database.transact(write)


def _build_cycle(runtime: Runtime) -> Cycle:
    now, chance = runtime.clock.now(), runtime.surroundings.chance
    return Cycle(
        database=runtime.database,
        mirror=runtime.mirror,
        memory=runtime.memory,
        settings=runtime.settings,
        clock=runtime.clock,
        chance=chance,
        source=runtime.source,
        interests=runtime.interests,
        report=CycleReport(cycle_id=build_id(now, chance), started_at=now),
        circuits=runtime.circuits,
        on_commit=runtime.notify_relays,
        on_progress=runtime.on_progress,
        is_forced=True,
        is_asked=True,
    )


async def _walk_and_record(
    cycle: Cycle, account: Account, view: WorkspaceView, watch_id: str
) -> None:
    """
    Walk one watch: what a person asks for is a probe of the circuits around it.

    That of the watch itself begins anew.
    """
    cycle.circuits.reset(record_key(view, watch_id))
    before = account.github.usage
    error: ProviderError | None = None
    try:
        await _walk(cycle, account, view, watch_id)
    except ProviderError as failed:
        error = failed
        raise
    finally:
        used = subtract_usage(account.github.usage, before)
        outcome = AccountOutcome(
            account=account,
            workspaces=(view.workspace,),
            is_answered=error is None and used.graphql + used.rest > 0,
            error=error,
        )
        record_outcomes(cycle, account.host, [outcome])


async def _walk(
    cycle: Cycle, account: Account, view: WorkspaceView, watch_id: str
) -> None:
    watch = next((row for row in view.snapshot.watches if row.id == watch_id), None)
    if watch is None:
        raise StoreConflict(f"the watch {watch_id} went away meanwhile")
    if watch.is_searching:
        narrow = copy.copy(view)
        narrow.searching = (watch,)
        await walk_searching(_build_run(cycle, account, narrow))
        return
    pairs = [(view, row) for row in view.discovered if _is_same(row, watch)]
    run = _build_run(cycle, account, view)
    for _, row in pairs:
        mark_asked(run, row, cycle.now())
    await check_reference(run, refer(view, watch), pairs)


def _is_same(row: Watch, watch: Watch) -> bool:
    """Return whether two watches ask for one pull request."""
    return (row.repository_id, row.pr_number) == (watch.repository_id, watch.pr_number)


def _build_run(cycle: Cycle, account: Account, view: WorkspaceView) -> AccountRun:
    return AccountRun(
        cycle=cycle, account=account, views=[view], progress=cycle.on_progress
    )
