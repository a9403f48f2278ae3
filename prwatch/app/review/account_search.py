"""
One account's share of a turn of the review queue: its watches, one after the other.

A failure of one watch leaves the next alone, unless it shows that the account cannot
be asked at all.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from prwatch.app.guard.admission import host_key
from prwatch.app.review.ended_hits import EndedHits
from prwatch.app.review.logins import Logins, Unfit, require_graphql
from prwatch.app.review.poll_outcome import PollOutcome, Strikes
from prwatch.app.review.queue_report import QueueReport
from prwatch.app.review.search_failure import (
    Due,
    build_failure,
    classify,
    is_general,
)
from prwatch.app.review.turns import Hold, SearchTurns, Setback
from prwatch.app.review.watch_poll import (
    WatchPoll,
    note_finding,
    poll_watch,
)
from prwatch.app.runtime import Runtime
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.walk.cycle import Account
from prwatch.domain.circuit import Circuit, is_open
from prwatch.domain.ids import build_id
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_search import list_problems
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    StoreError,
)

BUCKET: Final = "graphql"
"""What a search costs: through GraphQL it is points, and none of `search`."""
UNNAMED_WAIT: Final = dt.timedelta(minutes=1)
"""How long an account waits for a limit whose end nobody named."""


@dataclass(frozen=True, slots=True)
class QueueMemory:
    """What the queue remembers from turn to turn."""

    turns: SearchTurns = field(default_factory=SearchTurns)
    logins: Logins = field(default_factory=Logins)
    ended: EndedHits = field(default_factory=EndedHits)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSearch:
    """
    An account whose watches are searched, and what the queue remembers.

    One that `is_forced` asks also a host that answers nobody.
    """

    runtime: Runtime
    account: Account
    memory: QueueMemory
    report: QueueReport
    beat: Callable[[], None]
    is_forced: bool = False
    strikes: Strikes = field(default_factory=Strikes)
    answered: set[str] = field(default_factory=set)
    """The workspaces of which a search was answered."""
    silent: set[tuple[str, str]] = field(default_factory=set)
    """The watches of which none was, searched or not, and that is not their matter."""

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
        if (blocked := self._find_block()) is not None:
            self._leave(due, blocked)
            return
        for place, each in enumerate(due):
            failed = await self._search(each)
            if failed is None:
                continue
            rest = due[place + 1 :]
            if isinstance(failed, RateLimited):
                rest = due[place:]
            elif classify(failed) is FailureClass.AUTH or rest:
                self._hold_back(failed)
            self._leave(rest, failed)
            if classify(failed) is FailureClass.AUTH:
                await self._tell_all(rest, failed)
            return

    def _find_block(self) -> ProviderError | None:
        """Return why the account is not asked at all: its limit, or its host."""
        limits = self.account.github.limits
        if limits.blocked_until(BUCKET) is not None:
            try:
                limits.check(BUCKET)
            except RateLimited as error:
                return error
        circuit = find_host_block(self.runtime, self.account)
        if circuit is None or self.is_forced:
            return None
        return ProviderUnavailable(circuit.cause.message, scope="host")

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
            outcome = PollOutcome()
            outcome.fail(error)
            await note_finding(self._begin(each, login=""), outcome)
            self._note(each, outcome)
            if isinstance(error, Unfit):
                return None
            self._note_silence(each, error)
            return error
        self._note(each, outcome)
        return self.strikes.error if self.strikes.is_out else None

    def _note_silence(self, each: Due, error: ProviderError) -> None:
        if is_general(error):
            self.silent.add(each.key)

    def _note(self, each: Due, outcome: PollOutcome) -> None:
        self.report.outcomes[each.key] = outcome
        turns, now = self.memory.turns, self.runtime.clock.now()
        error = outcome.error
        if error is not None:
            self.report.failures.append(build_failure(each, error))
        if error is None and not outcome.is_transient:
            turns.note(each.watch, now)
            return
        # What passes decides: the part that is refused for good need not be asked soon.
        lasting = None if outcome.is_transient else error
        setback = self._build_setback(lasting, outcome.told)
        turns.fail(each.watch, now, setback, is_answered=outcome.is_answered)

    def _build_setback(self, error: ProviderError | None, message: str) -> Setback:
        return Setback(
            failure_class=classify(error) if error else FailureClass.TRANSIENT,
            message=message,
            chance_value=self.runtime.surroundings.chance.random(),
        )

    async def _poll(self, each: Due) -> PollOutcome:
        settings = each.watch.settings
        is_app = self.account.github.limits.is_fixed
        for key, problem in list_problems(settings, is_app=is_app):
            raise Unfit(f"{key} {problem}")
        require_graphql(self.account, self.runtime.settings.read_path)
        try:
            login = settings.target_login or await self.memory.logins.read(self.account)
            outcome = await poll_watch(self._begin(each, login=login))
        except ConfigError as error:
            # The source of the token went bad while we ran.
            raise AuthenticationFailed(f"{error}; {error.hint}") from error
        if outcome.is_answered:
            self.answered.add(each.workspace.name)
            self.memory.turns.release(self.account.key)
        elif outcome.error is not None:
            self._note_silence(each, outcome.error)
        return outcome

    def _begin(self, each: Due, *, login: str) -> WatchPoll:
        runtime = self.runtime
        turn = self.memory.turns.find_turn(each.watch.id)
        return WatchPoll(
            runtime=runtime,
            account=self.account,
            workspace=each.workspace,
            watch=each.watch,
            login=login,
            reserved_by=build_id(runtime.clock.now(), runtime.surroundings.chance),
            beat=self.beat,
            ended=self.memory.ended,
            strikes=self.strikes,
            earlier=turn.searches if turn else 0,
            generation=None
            if each.watch.settings.target_login
            else self.account.github.credential.generation,
        )

    def _leave(self, rest: Sequence[Due], error: ProviderError) -> None:
        """Leave watches that were not searched: they stay due until they can be."""
        if isinstance(error, RateLimited):
            self._hold_for_limit(error)
        reason = "limit" if isinstance(error, RateLimited) else "account"
        self.report.skipped[reason] += len(rest)
        for each in rest:
            self.report.failures.append(build_failure(each, error))
            self._note_silence(each, error)

    async def _tell_all(self, rest: Sequence[Due], error: ProviderError) -> None:
        """Let each watch of a dead token tell of it: a person must help."""
        for each in rest:
            outcome = PollOutcome()
            outcome.fail(error)
            await note_finding(self._begin(each, login=""), outcome)

    def _hold_back(self, error: ProviderError) -> None:
        account = self.account
        self.memory.turns.hold_back(
            account.key,
            self.runtime.clock.now(),
            self._build_setback(error, str(error)),
            generation=account.github.credential.generation,
        )

    def _hold_for_limit(self, error: RateLimited) -> None:
        until = self.account.github.limits.blocked_until(BUCKET) or error.retry_at
        now = self.runtime.clock.now()
        hold = Hold(
            failure_class=FailureClass.LIMIT,
            message=str(error),
            began_at=now,
            until=until or now + UNNAMED_WAIT,
            generation=self.account.github.credential.generation,
        )
        self.memory.turns.hold(self.account.key, hold)


def find_host_block(runtime: Runtime, account: Account) -> Circuit | None:
    """Return the circuit of polling that keeps a host from being asked, or None."""
    circuit = runtime.circuits.find(host_key(account.host))
    if circuit is None or not is_open(circuit, runtime.clock.now()):
        return None
    return circuit
