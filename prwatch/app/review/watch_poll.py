"""
One search of one review watch: what it found, and what became of it.

Nothing is concluded from what a search does not show. What it shows is read directly
before a task is made of it.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prwatch.app.review.ended_hits import EndedHits
from prwatch.app.review.poll_outcome import PollOutcome, Strikes
from prwatch.app.review.taking_up import TakeUp, take_up
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.domain.outcome import Found
from prwatch.domain.review_event import ReviewRequest
from prwatch.domain.review_hit import HitVerdict, ReviewFacts, judge_hit
from prwatch.domain.review_search import build_searches
from prwatch.domain.review_watch import (
    ReviewAudit,
    ReviewScope,
    ReviewWatch,
    ends_backlog,
)
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    StoreConflict,
)
from prwatch.github.search import Hit
from prwatch.store import review_audit, review_tasks, review_watches
from prwatch.store.database import Transaction


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
    ended: EndedHits
    strikes: Strikes
    earlier: int = 0
    """How many searches of it were answered since the start."""
    generation: int | None = None
    """Of the token whose owner is searched for; None when the watch names somebody."""

    def check_owner(self) -> None:
        """
        Refuse what was asked for the owner of a token that is another one now.

        Raises:
            ProviderUnavailable: It was replaced meanwhile.
        """
        generation = self.account.github.credential.generation
        if self.generation not in {None, generation}:
            raise ProviderUnavailable("the token was replaced while GitHub answered")


async def poll_watch(poll: WatchPoll) -> PollOutcome:
    """
    Search, take up what is new, and write how it went where that changed.

    Raises:
        ProviderError: The account cannot be asked; nothing is written about it.
        StoreError: What was taken up before it stays.
    """
    outcome = PollOutcome()
    await _search(poll, outcome)
    outcome.hits = len(outcome.found)
    new = _list_unknown(poll, await _list_new(poll, outcome), outcome)
    try:
        await _read_and_take_up(poll, new, outcome)
    except ProviderError as error:
        if is_about_account(error):
            raise
        outcome.fail(error)
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
            found = []
            for node_id, each in outcomes.items():
                if isinstance(each, Found):
                    found.append(each.value)
                else:
                    outcome.note_unread(node_id, each)
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
    last_error = outcome.told
    # What is left to somebody else may come back: it waited all the same.
    is_done = outcome.is_answered and ends_backlog(
        watch,
        outcome.reason,
        earlier=poll.earlier,
        has_left=outcome.left > 0,
        now=now,
    )
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
    for query in build_searches(poll.watch.settings, poll.login):
        try:
            hits = await poll.account.github.review_reader.search(query)
        except ProviderError as error:
            if is_about_account(error):
                raise
            outcome.fail(error)
            poll.strikes.note(error)
            if poll.strikes.is_out:
                return
        else:
            poll.strikes.note(None)
            outcome.is_answered = True
            if hits.gap is not None:
                outcome.lose(hits.gap)
            outcome.found |= {hit.node_id: hit for hit in hits.found}
        finally:
            poll.beat()


async def _list_new(poll: WatchPoll, outcome: PollOutcome) -> list[Hit]:
    """List the hits that have no task under this watch; a reservation is none."""
    watch = poll.watch

    async def read(tx: Transaction) -> set[str]:
        return await review_tasks.list_known(tx, watch.workspace_id, watch.id)

    known = await poll.runtime.database.read(read) if outcome.found else set()
    return [hit for hit in outcome.found.values() if hit.node_id not in known]


def _list_unknown(
    poll: WatchPoll, hits: Sequence[Hit], outcome: PollOutcome
) -> list[str]:
    """List the hits that must be read: all but those that ended and did not change."""
    unknown, now = [], poll.runtime.clock.now()
    for hit in hits:
        verdict = poll.ended.recall(poll.watch, poll.login, hit, now)
        if verdict is None:
            unknown.append(hit.node_id)
        else:
            outcome.count(verdict)
    return unknown


async def _take_up_all(
    poll: WatchPoll, found: Sequence[ReviewFacts], outcome: PollOutcome
) -> None:
    audits = await _list_audits(poll, found)
    now = poll.runtime.clock.now()
    is_for_requests = not poll.watch.settings.query
    for facts, last in zip(found, audits, strict=True):
        # Each time: taking up the one before took its while.
        poll.check_owner()
        verdict = judge_hit(facts, last, is_for_requests=is_for_requests)
        if verdict is HitVerdict.TAKE_UP:
            await _take_up_one(poll, facts, outcome)
            continue
        outcome.count(verdict)
        hit = outcome.found[facts.pull_request.node_id]
        poll.ended.note(poll.watch, poll.login, hit, verdict, now)


async def _take_up_one(
    poll: WatchPoll, facts: ReviewFacts, outcome: PollOutcome
) -> None:
    request = ReviewRequest(
        facts=facts,
        watch=poll.watch,
        workspace=poll.workspace,
        login=poll.login,
        is_backlog=poll.watch.backlog_done_at is None,
    )
    try:
        taken = await take_up(poll.runtime, request, reserved_by=poll.reserved_by)
    except StoreConflict as error:
        # One that no store takes harms no other.
        outcome.note_refused(facts.pull_request.node_id, error)
        return
    finally:
        poll.beat()
    outcome.created += taken is TakeUp.CREATED
    outcome.joined += taken is TakeUp.JOINED
    outcome.left += taken is TakeUp.LEFT


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
