"""
One account's share of a turn of the review queue: its watches, one after the other.

A failure of one watch leaves the next alone, unless it shows that the account cannot
be asked at all.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from prwatch.app.limit_blocks import store_limits
from prwatch.app.review.logins import Logins, Unfit, require_graphql
from prwatch.app.review.queue_report import QueueReport
from prwatch.app.review.turns import SearchTurns
from prwatch.app.review.watch_poll import (
    PollOutcome,
    WatchPoll,
    note_finding,
    poll_watch,
)
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.ids import build_id
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_search import list_problems
from prwatch.domain.review_watch import ReviewWatch
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    PermissionDenied,
    ProviderError,
    RateLimited,
    StoreError,
)

BUCKET: Final = "graphql"
"""What a search costs: through GraphQL it is points, and none of `search`."""
SCOPE: Final = "review"
UNNAMED_WAIT: Final = dt.timedelta(minutes=1)
"""How long an account waits for a limit whose end nobody named."""


_GENERAL: Final = frozenset(
    {FailureClass.AUTH, FailureClass.TRANSIENT, FailureClass.LIMIT}
)


@dataclass(frozen=True, slots=True)
class Due:
    """A watch that is to be searched now."""

    workspace: Workspace
    watch: ReviewWatch

    @property
    def key(self) -> tuple[str, str]:
        """Return the names of its workspace and of itself."""
        return self.workspace.name, self.watch.name


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSearch:
    """An account whose watches are searched, and what the queue remembers."""

    runtime: Runtime
    account: Account
    turns: SearchTurns
    logins: Logins
    report: QueueReport
    beat: Callable[[], None]
    answered: set[str] = field(default_factory=set)
    """The workspaces of which a search was answered."""
    silent: set[tuple[str, str]] = field(default_factory=set)
    """The watches of which none was, and that is no matter of theirs."""

    async def run(self, due: Sequence[Due]) -> None:
        """
        Search one watch after the other until one shows that it is of no use.

        What the store does not take ends it, and stands in the report.
        """
        try:
            await self._run(due)
            self._mark_whole()
            await store_limits(self.runtime.database, self.runtime.clock, self.account)
        except StoreError as error:
            self.report.error = error

    async def _run(self, due: Sequence[Due]) -> None:
        limits = self.account.github.limits
        if limits.blocked_until(BUCKET) is not None:
            try:
                limits.check(BUCKET)
            except RateLimited as error:
                await self._leave_rest(due, error)
                return
        self.turns.hold(self.account.key, None)
        for place, each in enumerate(due):
            failed = await self._search(each)
            if failed is not None:
                await self._leave_rest(due[place:], failed)
                return

    def _mark_whole(self) -> None:
        """Mark the failures of workspaces of which no search was answered."""
        whole = {key for key in self.silent if key[0] not in self.answered}
        self.report.failures[:] = [
            replace(each, is_whole=True)
            if (each.workspace, each.reference) in whole
            else each
            for each in self.report.failures
        ]

    async def _search(self, each: Due) -> ProviderError | None:
        """Search one watch; return what says that the account cannot be asked."""
        try:
            outcome = await self._poll(each)
        except RateLimited as error:
            return error
        except ProviderError as error:
            if not isinstance(error, Unfit):
                return error
            outcome = PollOutcome()
            outcome.fail(error)
            await note_finding(self._begin(each, login=""), outcome)
        self._note(each, outcome)
        return None

    def _note(self, each: Due, outcome: PollOutcome) -> None:
        self.report.outcomes[each.key] = outcome
        if outcome.error is not None:
            self.report.failures.append(_build_failure(each, outcome.error))
        self.turns.note(each.watch, self.runtime.clock.now())

    async def _poll(self, each: Due) -> PollOutcome:
        settings = each.watch.settings
        is_app = self.account.github.limits.is_fixed
        for key, problem in list_problems(settings, is_app=is_app):
            raise Unfit(f"{key} {problem}")
        require_graphql(self.account, self.runtime.settings.read_path)
        try:
            login = settings.target_login or await self.logins.read(self.account)
            points = self.account.github.usage.points
            outcome = await poll_watch(self._begin(each, login=login))
        except ConfigError as error:
            # The source of the token went bad while we ran.
            raise AuthenticationFailed(f"{error}; {error.hint}") from error
        # An answer costs points, though it shows nothing.
        is_paid = self.account.github.usage.points > points
        if outcome.error is None or outcome.hits or is_paid:
            self.answered.add(each.workspace.name)
        elif _is_general(outcome.error):
            self.silent.add(each.key)
        return outcome

    def _begin(self, each: Due, *, login: str) -> WatchPoll:
        runtime = self.runtime
        return WatchPoll(
            runtime=runtime,
            account=self.account,
            workspace=each.workspace,
            watch=each.watch,
            login=login,
            reserved_by=build_id(runtime.clock.now(), runtime.surroundings.chance),
            beat=self.beat,
        )

    async def _leave_rest(self, rest: Sequence[Due], error: ProviderError) -> None:
        """
        Leave watches until their next turn; what a limit forbids stays due.

        Of what fails for the account each watch tells: none of them is searched.
        """
        if isinstance(error, RateLimited):
            self._hold(error)
            self.report.skipped["limit"] += len(rest)
            self.report.failures += [_build_whole(each, error) for each in rest]
            return
        # The first was asked for and failed; the others were not even tried.
        self.report.skipped["account"] += len(rest) - 1
        for place, each in enumerate(rest):
            outcome = PollOutcome()
            outcome.fail(error)
            await note_finding(self._begin(each, login=""), outcome)
            if place == 0:
                self.report.outcomes[each.key] = outcome
            self.report.failures.append(_build_whole(each, error))
            self.turns.note(each.watch, self.runtime.clock.now())

    def _hold(self, error: RateLimited) -> None:
        until = self.account.github.limits.blocked_until(BUCKET) or error.retry_at
        now = self.runtime.clock.now()
        self.turns.hold(self.account.key, until or now + UNNAMED_WAIT)


def _build_failure(each: Due, error: ProviderError) -> Failure:
    return Failure(
        workspace=each.workspace.name,
        scope=SCOPE,
        reference=each.watch.name,
        failure_class=_classify(error),
        code=error.code,
        message=str(error),
    )


def _build_whole(each: Due, error: ProviderError) -> Failure:
    """Return the failure of a watch that is one of its account."""
    return replace(_build_failure(each, error), is_whole=_is_general(error))


def _is_general(error: ProviderError) -> bool:
    """Return whether an error is no matter of what is searched, or of one place."""
    return error.scope != "organisation" and _classify(error) in _GENERAL


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
