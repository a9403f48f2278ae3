"""
Keeps what GitHub allows one account: budgets by bucket, and until when it refuses.

One tracker belongs to one account that pays; all its tokens share it. Times given
out are on our own clock. Rule: Retry-After, else the reset of an empty bucket plus
two seconds, else 60 s doubling. A good answer never ends a wait early. Source:
GitHub's "Best practices for using the REST API", "Handle rate limit errors".
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import anyio

from prwatch.clock import Clock
from prwatch.errors import RateLimited
from prwatch.github.classify import find_limit, parse_epoch
from prwatch.github.exchange import Exchange

SECONDARY: Final = "secondary"
MARGIN: Final = dt.timedelta(seconds=2)
FIRST_WAIT: Final = dt.timedelta(seconds=60)
LONGEST_WAIT: Final = dt.timedelta(minutes=16)
SHORTEST: Final = dt.timedelta(seconds=1)
LONGEST: Final = dt.timedelta(minutes=65)
"""A window is an hour long: a reset further away than that is a mistake."""
MAX_DIGITS: Final = 15
SAME_WINDOW: Final = dt.timedelta(minutes=5)
"""Resets of one window differ a little between replies; a new window is an hour on."""


@dataclass(frozen=True, slots=True)
class Budget:
    """
    What is left in a bucket.

    `remaining` is the lowest that was told in this window. `reset_at` is on
    GitHub's clock.
    """

    bucket: str
    limit: int
    remaining: int
    reset_at: dt.datetime


class Limits:
    """
    The limits of one account, fed by every answer.

    `requests` is held around each GraphQL request: overlapping ones draw the
    secondary limit.
    """

    def __init__(
        self, clock: Clock, blocks: Iterable[tuple[str, dt.datetime]] = ()
    ) -> None:
        """Begin with the blocks that an earlier process stored."""
        self.requests = anyio.Lock()
        self.clamped_resets = 0
        """Resets in the past or the far future that were not believed."""
        self._clock = clock
        self._blocks = dict(blocks)
        self._budgets: dict[str, Budget] = {}
        self._waits: dict[str, int] = {}

    @property
    def budgets(self) -> Mapping[str, Budget]:
        """Return what is known of each bucket. Some servers have no limits at all."""
        return dict(self._budgets)

    @property
    def blocks(self) -> Mapping[str, dt.datetime]:
        """Return until when each bucket is blocked, for those that still are."""
        now = self._clock.now()
        # No block is set further ahead: the clock was set back since.
        last = now + LONGEST
        return {
            name: until for name, until in self._blocks.items() if now < until <= last
        }

    def blocked_until(self, bucket: str) -> dt.datetime | None:
        """Return until when calls that use the bucket are forbidden, or None."""
        found = [self.blocks.get(name) for name in (bucket, SECONDARY)]
        return max((each for each in found if each is not None), default=None)

    def add_blocks(self, blocks: Iterable[tuple[str, dt.datetime]]) -> None:
        """Take over blocks of the account that were stored; the later time counts."""
        for name, until in blocks:
            known = self._blocks.get(name)
            self._blocks[name] = until if known is None else max(known, until)

    def forget(self) -> None:
        """Forget everything: another account may pay from now on."""
        self._blocks.clear()
        self._budgets.clear()
        self._waits.clear()

    def check(self, bucket: str, operation: str = "") -> None:
        """
        Give way, or refuse a call that a limit forbids.

        Raises:
            RateLimited: with `retry_at` on our clock. Nothing was sent.
        """
        for name in (SECONDARY, bucket):
            until = self.blocks.get(name)
            if until is not None:
                raise RateLimited(
                    "a rate limit of GitHub forbids calls",
                    bucket=name,
                    retry_at=self.blocked_until(bucket),
                    operation=operation,
                )

    def observe(self, exchange: Exchange) -> RateLimited | None:
        """
        Learn from an answer, whatever its status.

        Returns the limit that it speaks of, `retry_at` set and on our clock.
        """
        self._learn_budget(exchange)
        limit = find_limit(exchange)
        if limit is None:
            if exchange.status < 400 and SECONDARY not in self.blocks:
                self._waits.clear()
            return None
        until = self._end_of(limit, exchange)
        limit.retry_at = until
        self.add_blocks([(limit.bucket, until)])
        return limit

    def observe_points(
        self, limit: int, remaining: int, reset_at: dt.datetime, exchange: Exchange
    ) -> None:
        """Learn from the `rateLimit` object of a GraphQL answer."""
        self._merge(Budget("graphql", limit, remaining, reset_at), exchange)

    def _learn_budget(self, exchange: Exchange) -> None:
        headers = exchange.headers
        limit = _count(headers.get("x-ratelimit-limit"))
        remaining = _count(headers.get("x-ratelimit-remaining"))
        reset_at = parse_epoch(headers.get("x-ratelimit-reset", ""))
        if limit is None or remaining is None or reset_at is None:
            return
        bucket = headers.get("x-ratelimit-resource") or (
            "graphql" if exchange.is_graphql else "core"
        )
        self._merge(Budget(bucket, limit, remaining, reset_at), exchange)

    def _merge(self, told: Budget, exchange: Exchange) -> None:
        known = self._budgets.get(told.bucket)
        if known is not None and told.reset_at < known.reset_at + SAME_WINDOW:
            told = replace(
                told,
                remaining=min(known.remaining, told.remaining),
                reset_at=max(known.reset_at, told.reset_at),
            )
        self._budgets[told.bucket] = told
        if told.remaining == 0 and told.limit > 0:
            until = self._clamp(self._to_ours(told.reset_at, exchange) + MARGIN)
            self.add_blocks([(told.bucket, until)])

    def _end_of(self, limit: RateLimited, exchange: Exchange) -> dt.datetime:
        if limit.retry_at is None:
            count = self._waits.get(limit.bucket, 0)
            self._waits[limit.bucket] = count + 1
            wait = FIRST_WAIT * (1 << min(count, 8))
            return self._clock.now() + min(wait, LONGEST_WAIT)
        until = self._to_ours(limit.retry_at, exchange)
        is_told = "retry-after" in exchange.headers
        return self._clamp(until if is_told else until + MARGIN)

    def _to_ours(self, moment: dt.datetime, exchange: Exchange) -> dt.datetime:
        now = self._clock.now()
        theirs = exchange.date or now
        return now + (moment - theirs)

    def _clamp(self, until: dt.datetime) -> dt.datetime:
        now = self._clock.now()
        clamped = min(max(until, now + SHORTEST), now + LONGEST)
        if clamped != until:
            self.clamped_resets += 1
        return clamped


def _count(text: str | None) -> int | None:
    if not text or not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        return None
    return int(text)
