"""
The review queue: each review watch at its own interval, account by account.

When a watch was last searched is held in memory alone. A failure here opens no circuit
of polling, and what a limit forbids is left out before a token is asked for.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from prwatch.app.limit_blocks import store_limits
from prwatch.app.review.logins import Logins, Unfit, require_graphql
from prwatch.app.review.watch_poll import (
    PollOutcome,
    WatchPoll,
    note_finding,
    poll_watch,
)
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.events import EventType
from prwatch.domain.ids import build_id
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_watch import ReviewWatch
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    PermissionDenied,
    ProviderError,
    RateLimited,
)
from prwatch.github.reserve import keep_reserve
from prwatch.store import review_watches
from prwatch.store.database import Transaction

BUCKET: Final = "graphql"
"""What a search costs: through GraphQL it is points, and none of `search`."""
SCOPE: Final = "review"


@dataclass(slots=True, kw_only=True)
class QueueReport:
    """
    What one turn of the queue did.

    `outcomes` are those of the watches that were searched, by workspace and name.
    """

    outcomes: dict[tuple[str, str], PollOutcome] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def created(self) -> int:
        """Return how many review tasks were made, each with its event."""
        return sum(each.created for each in self.outcomes.values())

    @property
    def events_by_type(self) -> Counter[str]:
        """Return the events that were written, by type."""
        created = self.created
        return Counter(
            {EventType.PR_REVIEW_REQUESTED.value: created} if created else {}
        )


@dataclass(frozen=True, slots=True)
class _Due:
    workspace: Workspace
    watch: ReviewWatch

    @property
    def key(self) -> tuple[str, str]:
        return self.workspace.name, self.watch.name


class ReviewQueue:
    """Searches the review watches of an open product."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._polled_at: dict[str, tuple[int, dt.datetime]] = {}
        """When each watch was searched last, under which revision of it."""
        self._logins = Logins()

    async def run_once(
        self,
        *,
        is_forced: bool = False,
        only: tuple[str, str] = ("", ""),
        beat: Callable[[], None] = lambda: None,
    ) -> QueueReport:
        """
        Search what is due; with `is_forced` all that are enabled.

        `only` are the names of a workspace and of a watch; '' is any.

        A person's request uses what polling leaves of a budget. A failure of one
        account leaves the others alone.

        Raises:
            StoreError: The store failed.
        """
        report = QueueReport()
        watches = await self._list_watches()
        self._forget_others(watches)
        for account in self._runtime.wired.accounts:
            due = [
                each
                for each in self._list_due(account, watches, is_forced=is_forced)
                if only[0] in ("", each.workspace.name)
                and only[1] in ("", each.watch.name)
            ]
            if not due:
                continue
            if is_forced:
                await self._poll_account(account, due, report, beat)
            else:
                with keep_reserve():
                    await self._poll_account(account, due, report, beat)
        return report

    async def next_due_at(self) -> dt.datetime | None:
        """Return when a watch is due next; None without any that is enabled."""
        now = self._runtime.clock.now()
        found = [
            self._due_at(watch, now)
            for watch in await self._list_watches()
            if watch.settings.is_enabled
        ]
        return min(found, default=None)

    async def _list_watches(self) -> list[ReviewWatch]:
        workspaces = [
            workspace
            for account in self._runtime.wired.accounts
            for workspace in account.workspaces
        ]

        async def read(tx: Transaction) -> list[ReviewWatch]:
            return [
                watch
                for workspace in workspaces
                for watch in await review_watches.list_review_watches(tx, workspace.id)
            ]

        return await self._runtime.database.read(read)

    def _forget_others(self, watches: Sequence[ReviewWatch]) -> None:
        present = {watch.id for watch in watches}
        for watch_id in self._polled_at.keys() - present:
            del self._polled_at[watch_id]

    def _due_at(self, watch: ReviewWatch, now: dt.datetime) -> dt.datetime:
        """Return when a watch is due: at `now` when it is new or was edited."""
        revision, polled_at = self._polled_at.get(watch.id, (0, now))
        if revision != watch.revision or polled_at > now:  # the clock was set back
            return now
        return polled_at + watch.settings.interval

    def _list_due(
        self, account: Account, watches: Sequence[ReviewWatch], *, is_forced: bool
    ) -> list[_Due]:
        now = self._runtime.clock.now()
        by_id = {workspace.id: workspace for workspace in account.workspaces}
        due = [
            _Due(by_id[watch.workspace_id], watch)
            for watch in watches
            if watch.workspace_id in by_id
            and watch.settings.is_enabled
            and (is_forced or self._due_at(watch, now) <= now)
        ]

        def order(each: _Due) -> tuple[dt.datetime, str]:
            return self._due_at(each.watch, now), each.watch.id

        return sorted(due, key=order)

    async def _poll_account(
        self,
        account: Account,
        due: Sequence[_Due],
        report: QueueReport,
        beat: Callable[[], None],
    ) -> None:
        """Search one account's watches until one shows that it cannot be asked."""
        limits = account.github.limits
        if limits.blocked_until(BUCKET) is not None:
            try:
                limits.check(BUCKET)
            except RateLimited as error:
                report.skipped["limit"] += len(due)
                report.failures += [_build_failure(each, error) for each in due]
                return
        try:
            for place, each in enumerate(due):
                failed = await self._poll_one(account, each, report, beat)
                if failed is not None:
                    self._leave_rest(due[place:], report, failed)
                    return
        finally:
            await store_limits(self._runtime.database, self._runtime.clock, account)

    async def _poll_one(
        self,
        account: Account,
        each: _Due,
        report: QueueReport,
        beat: Callable[[], None],
    ) -> ProviderError | None:
        """Search one watch; return what says that the account cannot be asked."""
        try:
            outcome = await self._search(account, each, beat)
        except RateLimited as error:
            return error
        except ProviderError as error:
            outcome = PollOutcome()
            outcome.fail(error)
            await note_finding(self._begin(account, each, beat, login=""), outcome)
            if not isinstance(error, Unfit):
                report.outcomes[each.key] = outcome
                return error
        report.outcomes[each.key] = outcome
        if outcome.error is not None:
            report.failures.append(_build_failure(each, outcome.error))
        self._note_polled(each.watch)
        return None

    async def _search(
        self, account: Account, each: _Due, beat: Callable[[], None]
    ) -> PollOutcome:
        try:
            login = each.watch.settings.target_login or await self._read_login(account)
            return await poll_watch(self._begin(account, each, beat, login=login))
        except ConfigError as error:
            # The source of the token went bad while we ran.
            raise AuthenticationFailed(f"{error}; {error.hint}") from error

    def _begin(
        self, account: Account, each: _Due, beat: Callable[[], None], *, login: str
    ) -> WatchPoll:
        runtime = self._runtime
        return WatchPoll(
            runtime=runtime,
            account=account,
            workspace=each.workspace,
            watch=each.watch,
            login=login,
            reserved_by=build_id(runtime.clock.now(), runtime.surroundings.chance),
            beat=beat,
        )

    def _leave_rest(
        self, rest: Sequence[_Due], report: QueueReport, error: ProviderError
    ) -> None:
        """Leave watches until their next turn; what a limit forbids stays due."""
        for each in rest:
            report.failures.append(_build_failure(each, error))
            if not isinstance(error, RateLimited):
                self._note_polled(each.watch)

    def _note_polled(self, watch: ReviewWatch) -> None:
        self._polled_at[watch.id] = (watch.revision, self._runtime.clock.now())

    async def _read_login(self, account: Account) -> str:
        require_graphql(account, self._runtime.settings.read_path)
        return await self._logins.read(account)


def _build_failure(each: _Due, error: ProviderError) -> Failure:
    return Failure(
        workspace=each.workspace.name,
        scope=SCOPE,
        reference=each.watch.name,
        failure_class=_classify(error),
        code=error.code,
        message=str(error),
    )


def _classify(error: ProviderError) -> FailureClass:
    match error:
        case RateLimited():
            return FailureClass.LIMIT
        case AuthenticationFailed():
            return FailureClass.AUTH
        case PermissionDenied() | Unfit():
            return FailureClass.CONFIG
        case _:
            return FailureClass.TRANSIENT
