"""
Keeps what GitHub allows one account that pays: budgets, and until when it refuses.

All tokens of the account share it. Times given out are on our own clock. Rule:
Retry-After, else the reset of an empty bucket plus two seconds, else 60 s doubling.
A good answer never ends a wait early. Source: GitHub's "Best practices for using the
REST API", "Handle rate limit errors".
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import anyio

from prwatch.clock import Clock
from prwatch.domain.rate_limit import (
    SECONDARY,
    BlockReason,
    BucketState,
    Budget,
    get_reserve,
    merge_budgets,
)
from prwatch.errors import RateLimited, ReserveKept
from prwatch.github.blocks import LONGEST, Blocks, holds
from prwatch.github.classify import find_limit
from prwatch.github.exchange import Exchange
from prwatch.github.rate_facts import read_budget

MARGIN: Final = dt.timedelta(seconds=2)
NO_MARGIN: Final = dt.timedelta(0)
SHORTEST: Final = dt.timedelta(seconds=1)


class Tracker:
    """
    The limits of one account, fed by every answer to any of its tokens.

    `probes` is held by the one request that tries whether a wait is really over.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        reserve: float = 0.0,
        blocks: Iterable[tuple[str, dt.datetime]] = (),
    ) -> None:
        """Begin with the blocks that an earlier process stored."""
        self.probes = anyio.Lock()
        self.clamped_resets = 0
        """Ends in the past or the far future that were not believed."""
        self.known_blocks = Blocks()
        self.skew = dt.timedelta(0)
        """By how much GitHub's clock was ahead of ours at the last answer."""
        self._clock = clock
        self._share = reserve
        self._budgets: dict[str, Budget] = {}
        self.add_blocks(blocks)

    @property
    def budgets(self) -> Mapping[str, Budget]:
        """Return what is known of each bucket. Some servers have no limits at all."""
        return dict(self._budgets)

    @property
    def blocks(self) -> Mapping[str, dt.datetime]:
        """Return until when each bucket is blocked, for those that still are."""
        return self.known_blocks.list_in_force(self._clock.now())

    @property
    def standing(self) -> Mapping[str, dt.datetime]:
        """Return the limits that are not known to be over (see `Blocks`)."""
        return self.known_blocks.list_standing(self._clock.now())

    def add_blocks(self, blocks: Iterable[tuple[str, dt.datetime]]) -> None:
        """Take over blocks of the account; the later time counts."""
        self.known_blocks.add(blocks, self._clock.now())

    def absorb(self, other: "Tracker") -> None:
        """Learn what another tracker knows that turned out to be of this account."""
        now = self._clock.now()
        self.known_blocks.absorb(other.known_blocks, now)
        self.clamped_resets += other.clamped_resets
        if other.budgets:
            self.skew = other.skew
        for bucket, budget in other.budgets.items():
            known = self._budgets.get(bucket)
            merged = merge_budgets(known, budget, now=now + self.skew)
            self._budgets[bucket] = merged

    def check(self, bucket: str, operation: str = "", *, for_people: bool) -> None:
        """
        Give way, or refuse a call that a limit forbids.

        Raises:
            RateLimited: with `retry_at` on our clock. Nothing was sent.
            ReserveKept: what is left is for people, and this is not for them.
        """
        blocks = self.blocks
        for name in (SECONDARY, bucket):
            if name in blocks:
                raise RateLimited(
                    "a rate limit of GitHub forbids calls",
                    bucket=name,
                    retry_at=max(blocks[name], blocks.get(bucket, blocks[name])),
                    operation=operation,
                )
        until = None if for_people else self._find_pause(bucket)
        if until is not None:
            self.known_blocks.unproven.add(bucket)
            raise ReserveKept(
                f"the rest of the {bucket} budget is kept for people",
                bucket=bucket,
                retry_at=until,
                operation=operation,
            )

    def blocked_until(self, bucket: str) -> dt.datetime | None:
        """Return until when polling may not use the bucket, or None."""
        blocks = self.blocks
        found = [blocks.get(bucket), blocks.get(SECONDARY), self._find_pause(bucket)]
        return max((each for each in found if each is not None), default=None)

    def needs_probe(self, bucket: str) -> bool:
        """Return whether nothing was answered yet since a wait of the bucket."""
        return not self.known_blocks.unproven.isdisjoint((bucket, SECONDARY))

    def observe(self, exchange: Exchange) -> RateLimited | None:
        """
        Learn from an answer, whatever its status.

        Returns the limit that it speaks of, `retry_at` set and on our clock.
        """
        told = read_budget(exchange)
        if told is not None:
            self.observe_budget(told, exchange)
        limit = find_limit(exchange)
        if limit is not None:
            until = limit.retry_at = self._find_end(limit, exchange)
            names = {limit.bucket}
            if limit.bucket != SECONDARY and exchange.asked_bucket:
                # Whatever GitHub calls the bucket: this may not be asked again.
                names.add(exchange.asked_bucket)
            self.add_blocks((name, until) for name in names)
        elif exchange.status < 500 and exchange.status != 401:
            # Those two come from before the limits are looked at.
            names = {exchange.bucket, SECONDARY}
            self.known_blocks.prove(names, self._clock.now())
        return limit

    def observe_budget(self, told: Budget, exchange: Exchange) -> None:
        """Learn what a reply says is left."""
        now = self._clock.now()
        theirs = exchange.date or now
        self.skew = theirs - now
        latest = theirs + LONGEST - MARGIN
        if told.reset_at > latest:
            self.clamped_resets += 1
            told = replace(told, reset_at=latest)
        known = self._budgets.get(told.bucket)
        merged = merge_budgets(known, told, now=theirs)
        self._budgets[told.bucket] = merged
        if merged.remaining == 0 and merged.limit > 0:
            until = self._clamp(merged.reset_at - self.skew + MARGIN)
            self.add_blocks([(merged.bucket, until)])

    def describe(self) -> tuple[BucketState, ...]:
        """Return each bucket of which something is known, by name, as it is now."""
        names = sorted({*self._budgets, *self.blocks})
        return tuple(self._describe(name) for name in names)

    def _describe(self, name: str) -> BucketState:
        until, reason = self._explain(name)
        budget = self._budgets.get(name)
        if budget is None:
            return BucketState(bucket=name, blocked_until=until, reason=reason)
        reset_at = budget.reset_at - self.skew
        is_over = reset_at <= self._clock.now()
        return BucketState(
            bucket=name,
            limit=budget.limit,
            remaining=budget.limit if is_over else budget.remaining,
            reset_at=None if is_over else reset_at,
            reserve=get_reserve(budget.limit, self._share),
            blocked_until=until,
            reason=reason,
        )

    def _explain(self, name: str) -> tuple[dt.datetime | None, BlockReason]:
        """Return until when and why; GitHub's refusal says more than our reserve."""
        blocks = self.blocks
        own, secondary = blocks.get(name), blocks.get(SECONDARY)
        if secondary is not None and (own is None or own <= secondary):
            return secondary, BlockReason.SECONDARY
        if own is not None:
            return own, BlockReason.LIMIT
        pause = self._find_pause(name)
        return pause, BlockReason.RESERVE if pause else BlockReason.NONE

    def _find_pause(self, bucket: str) -> dt.datetime | None:
        """Return until when the reserve stops polling, None while it does not."""
        budget = self._budgets.get(bucket)
        if budget is None or not self._share or not budget.limit:
            return None
        if budget.remaining > get_reserve(budget.limit, self._share):
            return None
        until = budget.reset_at - self.skew + MARGIN
        return until if holds(until, self._clock.now()) else None

    def _find_end(self, limit: RateLimited, exchange: Exchange) -> dt.datetime:
        """Return on our clock when the limit that was just met ends."""
        now = self._clock.now()
        theirs = exchange.date or now
        blocks, bucket, named = self.known_blocks, limit.bucket, limit.retry_at
        if named is not None and named <= theirs and blocks.was_passed(bucket):
            # We came back after a wait that was over, and were refused again.
            self.clamped_resets += 1
            named = None
        if named is None:
            return now + blocks.guess_wait(bucket)
        blocks.guessed.discard(bucket)
        is_told = "retry-after" in exchange.headers
        return self._clamp(named - theirs + now + (NO_MARGIN if is_told else MARGIN))

    def _clamp(self, until: dt.datetime) -> dt.datetime:
        now = self._clock.now()
        clamped = min(max(until, now + SHORTEST), now + LONGEST)
        if clamped != until:
            self.clamped_resets += 1
        return clamped
