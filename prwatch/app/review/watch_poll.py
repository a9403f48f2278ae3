"""
One search of one review watch: what it found, and what became of it.

Nothing is concluded from what a search does not show. What it shows is read directly
before a task is made of it.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from prwatch.app.review.taking_up import TakeUp, take_up
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.domain.outcome import Found
from prwatch.domain.review_event import ReviewRequest
from prwatch.domain.review_hit import HitVerdict, ReviewFacts, judge_hit
from prwatch.domain.review_search import build_searches
from prwatch.domain.review_watch import (
    IncompleteReason,
    ReviewAudit,
    ReviewScope,
    ReviewWatch,
)
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    StoreConflict,
)
from prwatch.store import review_audit, review_tasks, review_watches
from prwatch.store.database import Transaction

MAX_FAILED_RUNNING: Final = 3
"""So many searches running that get no answer are no matter of their filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPoll:
    """A watch that is searched now, for whom, and under which name it reserves."""

    runtime: Runtime
    account: Account
    workspace: Workspace
    watch: ReviewWatch
    login: str
    reserved_by: str
    beat: Callable[[], None]


@dataclass(slots=True, kw_only=True)
class PollOutcome:
    """
    What one search came to.

    `hits` are all that it found, `unread` those that could not be read directly, and
    `left` those that went to somebody else or to an edit. What makes the result
    incomplete is told by `reason` and, of several filters' errors, the first `error`.
    """

    hits: int = 0
    created: int = 0
    joined: int = 0
    ended: int = 0
    cleaned: int = 0
    left: int = 0
    unread: int = 0
    reason: IncompleteReason | None = None
    error: ProviderError | None = None
    node_ids: dict[str, None] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Return whether all was shown and read: only then a lack proves anything."""
        return self.reason is None

    @property
    def name(self) -> str:
        """Return how it ended: `complete`, `incomplete`, or `failed` with an error."""
        if self.error is not None:
            return "failed"
        return "complete" if self.is_complete else "incomplete"

    def lose(self, reason: IncompleteReason) -> None:
        """Note that a part of the result is missing."""
        order = list(IncompleteReason)
        self.reason = min(reason, self.reason or reason, key=order.index)

    def fail(self, error: ProviderError) -> None:
        """Note that a part of the result is missing because of an error."""
        self.lose(IncompleteReason.FAILED)
        self.error = self.error or error


async def poll_watch(poll: WatchPoll) -> PollOutcome:
    """
    Search, take up what is new, and write how it went where that changed.

    Raises:
        ProviderError: The account cannot be asked; nothing is written about it.
        StoreError: What was taken up before it stays.
    """
    outcome = PollOutcome()
    await _search(poll, outcome)
    outcome.hits = len(outcome.node_ids)
    new = await _list_new(poll, outcome.node_ids)
    try:
        await _read_and_take_up(poll, new, outcome)
    except ProviderError as error:
        if is_about_account(error):
            raise
        outcome.fail(error)
    if outcome.unread:
        outcome.lose(IncompleteReason.UNREAD)
    await note_finding(poll, outcome)
    return outcome


async def _read_and_take_up(
    poll: WatchPoll, new: Sequence[str], outcome: PollOutcome
) -> None:
    reader = poll.account.github.review_reader
    # A store that fails in between must not leave the walk of the answers open.
    counts_teams = poll.watch.settings.scope is ReviewScope.USER_AND_TEAMS
    async with contextlib.aclosing(
        reader.iter_facts(new, poll.login, counts_teams=counts_teams)
    ) as answers:
        async for outcomes in answers:
            poll.beat()
            read = [each for each in outcomes.values() if isinstance(each, Found)]
            found = [each.value for each in read]
            outcome.unread += len(outcomes) - len(found)
            await _take_up_all(poll, found, outcome)


def is_about_account(error: ProviderError) -> bool:
    """Return whether a failure is about more than what was searched for."""
    if isinstance(error, AuthenticationFailed):
        return error.scope != "organisation"
    return isinstance(error, RateLimited)


async def note_finding(poll: WatchPoll, outcome: PollOutcome) -> None:
    """Write how a search went, in polling's own columns and only what changed."""
    watch, now = poll.watch, poll.runtime.clock.now()
    since = None if outcome.is_complete else watch.incomplete_since or now
    last_error = str(outcome.error) if outcome.error else ""
    # What is left to somebody else may come back: it waited all the same.
    is_done = outcome.is_complete and not outcome.left and not watch.backlog_done_at
    noted = (watch.last_error, watch.incomplete_since, watch.incomplete_reason)
    if (last_error, since, outcome.reason) == noted and not is_done:
        return

    async def write(tx: Transaction) -> None:
        await review_watches.put_review_finding(
            tx,
            watch,
            last_error=last_error,
            incomplete_since=since,
            incomplete_reason=outcome.reason,
        )
        if is_done:
            await review_watches.put_backlog_done(tx, watch, now)

    await poll.runtime.database.transact(write)


async def _search(poll: WatchPoll, outcome: PollOutcome) -> None:
    failed = 0
    for query in build_searches(poll.watch.settings, poll.login):
        try:
            hits = await poll.account.github.review_reader.search(query)
        except ProviderError as error:
            if is_about_account(error):
                raise
            outcome.fail(error)
            failed = failed + 1 if isinstance(error, ProviderUnavailable) else 0
            if failed == MAX_FAILED_RUNNING:
                return
        else:
            failed = 0
            if hits.gap is not None:
                outcome.lose(hits.gap)
            outcome.node_ids |= dict.fromkeys(hits.node_ids)
        finally:
            poll.beat()


async def _list_new(poll: WatchPoll, node_ids: dict[str, None]) -> list[str]:
    """List the hits that have no task under this watch; a reservation is none."""
    watch = poll.watch

    async def read(tx: Transaction) -> set[str]:
        return await review_tasks.list_known(tx, watch.workspace_id, watch.id)

    known = await poll.runtime.database.read(read) if node_ids else set()
    return [node_id for node_id in node_ids if node_id not in known]


async def _take_up_all(
    poll: WatchPoll, found: Sequence[ReviewFacts], outcome: PollOutcome
) -> None:
    audits = await _list_audits(poll, found)
    for facts, last in zip(found, audits, strict=True):
        match judge_hit(facts, last):
            case HitVerdict.ENDED:
                outcome.ended += 1
            case HitVerdict.CLEANED:
                outcome.cleaned += 1
            case HitVerdict.TAKE_UP:
                request = ReviewRequest(
                    facts=facts,
                    watch=poll.watch,
                    workspace=poll.workspace,
                    login=poll.login,
                    is_backlog=poll.watch.backlog_done_at is None,
                )
                try:
                    taken = await take_up(
                        poll.runtime, request, reserved_by=poll.reserved_by
                    )
                except StoreConflict:
                    taken = TakeUp.LEFT  # one that no store takes harms no other
                outcome.created += taken is TakeUp.CREATED
                outcome.joined += taken is TakeUp.JOINED
                outcome.left += taken is TakeUp.LEFT
                poll.beat()


async def _list_audits(
    poll: WatchPoll, found: Sequence[ReviewFacts]
) -> list[ReviewAudit | None]:
    """Return what last became of each pull request under this watch."""
    watch = poll.watch

    async def read(tx: Transaction) -> list[ReviewAudit | None]:
        return [
            await review_audit.find_last_audit(
                tx, watch.workspace_id, watch.id, facts.pull_request.node_id
            )
            for facts in found
        ]

    return await poll.runtime.database.read(read) if found else []
