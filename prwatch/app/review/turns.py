"""
When review watches are due: kept in memory alone, so a restart searches all.

A search that got no answer is tried again on the backoff of its cause, and an account
that cannot be asked holds back all of its watches for as long: sooner than the interval
that somebody chose, or later where that is short and the failure lasts. One that was
answered in part is never later than its interval, for the part that answers.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prwatch.domain.circuit import BACKOFFS
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_watch import (
    LONGEST_INTERVAL,
    SHORTEST_INTERVAL,
    ReviewWatch,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    The last try to search a watch, under which revision of it.

    `searched_at` is when a search was answered last. `failures` counts those of one
    class in a row, `searches` the answered ones since the start.
    """

    revision: int
    tried_at: dt.datetime
    due_at: dt.datetime
    searched_at: dt.datetime | None = None
    searches: int = 0
    failures: int = 0
    failure_class: FailureClass | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Why an account is not asked, since when and until when, and under which token."""

    failure_class: FailureClass
    message: str
    began_at: dt.datetime
    until: dt.datetime
    generation: int = 0
    failures: int = 1

    def is_standing(self, now: dt.datetime, generation: int) -> bool:
        """Return whether it holds; a new token or a clock set back ends it."""
        is_same = generation == self.generation
        return is_same and self.began_at <= now < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """
    A failure as turns are told of it.

    `chance_value` lies between 0 and 1, for the jitter of the wait.
    """

    failure_class: FailureClass
    message: str
    chance_value: float


_BY_TIME: Final = frozenset({FailureClass.AUTH, FailureClass.TRANSIENT})
"""What is tried again on a backoff; an edit helps the rest, or an end."""


class SearchTurns:
    """Remembers when each watch was searched last, and which accounts have to wait."""

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._holds: dict[str, Hold] = {}

    def find_due(self, watch: ReviewWatch, now: dt.datetime) -> dt.datetime:
        """Return when a watch is due: at `now` when it is new or was edited."""
        turn = self._turns.get(watch.id)
        # A clock that was set back makes it due too.
        if turn is None or turn.revision != watch.revision or turn.tried_at > now:
            return now
        return turn.due_at

    def find_turn(self, watch_id: str) -> Turn | None:
        """Return the last try of a watch, None before the first."""
        return self._turns.get(watch_id)

    def has_failed(self, watch: ReviewWatch) -> bool:
        """Return whether the last try of a watch failed."""
        turn = self._turns.get(watch.id)
        return turn is not None and turn.failures > 0

    def note(self, watch: ReviewWatch, now: dt.datetime) -> None:
        """Note that a watch was searched."""
        self._turns[watch.id] = Turn(
            revision=watch.revision,
            tried_at=now,
            due_at=now + find_interval(watch),
            searched_at=now,
            searches=self._count(watch) + 1,
        )

    def fail(
        self,
        watch: ReviewWatch,
        now: dt.datetime,
        setback: Setback,
        *,
        is_answered: bool = False,
    ) -> None:
        """
        Note that a search failed, or a part of one that `is_answered`.

        Then only what passes makes it due sooner than its interval.
        """
        before, cause = self._turns.get(watch.id), setback.failure_class
        failures = 1
        if before and before.revision == watch.revision:
            failures += before.failures if before.failure_class is cause else 0
        wait = find_interval(watch)
        if cause in _BY_TIME:
            backoff = BACKOFFS[cause].delay(failures, setback.chance_value)
            sooner = min(wait, backoff) if cause is FailureClass.TRANSIENT else wait
            wait = sooner if is_answered else backoff
        searched_at = before.searched_at if before else None
        self._turns[watch.id] = Turn(
            revision=watch.revision,
            tried_at=now,
            due_at=now + wait,
            searched_at=now if is_answered else searched_at,
            searches=self._count(watch) + is_answered,
            failures=failures,
            failure_class=cause,
        )

    def hold(self, account_key: str, hold: Hold) -> None:
        """Note until when an account is not asked."""
        self._holds[account_key] = hold

    def hold_back(
        self,
        account_key: str,
        now: dt.datetime,
        setback: Setback,
        *,
        generation: int,
    ) -> None:
        """Note that an account cannot be asked: it waits by its cause."""
        before, cause = self._holds.get(account_key), setback.failure_class
        is_same = before is not None and (before.failure_class, before.generation) == (
            cause,
            generation,
        )
        failures = before.failures + 1 if before is not None and is_same else 1
        backoff = BACKOFFS[cause].delay(failures, setback.chance_value)
        self._holds[account_key] = Hold(
            failure_class=cause,
            message=setback.message,
            began_at=now,
            until=now + backoff,
            generation=generation,
            failures=failures,
        )

    def release(self, account_key: str) -> None:
        """Note that an account was answered: the next failure is the first again."""
        self._holds.pop(account_key, None)

    def find_hold(
        self, account_key: str, now: dt.datetime, generation: int
    ) -> Hold | None:
        """Return what keeps an account from being asked, or None."""
        hold = self._holds.get(account_key)
        return hold if hold and hold.is_standing(now, generation) else None

    def keep_only(
        self, watches: Iterable[ReviewWatch], account_keys: Iterable[str]
    ) -> None:
        """Forget the watches and the accounts that are gone."""
        present = {watch.id for watch in watches}
        for watch_id in self._turns.keys() - present:
            del self._turns[watch_id]
        for key in self._holds.keys() - set(account_keys):
            del self._holds[key]

    def _count(self, watch: ReviewWatch) -> int:
        turn = self._turns.get(watch.id)
        return turn.searches if turn else 0


def find_interval(watch: ReviewWatch) -> dt.timedelta:
    """Return how often a watch is searched, within what is allowed."""
    return min(max(watch.settings.interval, SHORTEST_INTERVAL), LONGEST_INTERVAL)
