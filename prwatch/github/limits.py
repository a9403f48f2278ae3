"""
One token's way to the limits of the account that pays for it.

Whose tracker that is, is learnt: from what was stored, from the configuration of an
app's installation, or from the first answer that names the viewer. Until then the
token has a tracker of its own. When the token becomes another account's it leaves the
tracker of the old one as it is.

No call waits here: one that may not be made is refused, the walk gives up for that
account at the first such refusal, and comes back when the wait is over. So no cycle
waits even once, and GitHub's "stop after some attempts" holds without a counter.
"""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Iterable, Mapping

import anyio

from prwatch.clock import Clock
from prwatch.domain.rate_limit import (
    BucketState,
    Budget,
    LimitChange,
    LimitTransition,
    list_transitions,
)
from prwatch.errors import RateLimited
from prwatch.github.exchange import Exchange
from prwatch.github.reserve import keeps_reserve
from prwatch.github.tracker_book import TrackerBook


class Limits:
    """
    What one token may ask, and when.

    `requests` is held around each GraphQL request of the token: overlapping ones draw
    the secondary limit. `payer` is `user/ID` or `installation/ID` once it is known,
    and '' until then; a fixed one is known from the configuration and never changes.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        book: TrackerBook | None = None,
        host: str = "",
        payer: str = "",
        is_fixed: bool = False,
    ) -> None:
        self.requests = anyio.Lock()
        self.payer = payer
        self.is_fixed = is_fixed
        self._book = book or TrackerBook(clock)
        self._host = host
        self.tracker = self._book.get(host, payer) if payer else self._book.build()
        self.has_told_clamps = False
        """Whether somebody was told that ends were named which were not believed."""
        self._told: set[str] = set()

    @property
    def budgets(self) -> Mapping[str, Budget]:
        """Return what is known of each bucket. Some servers have no limits at all."""
        return self.tracker.budgets

    @property
    def blocks(self) -> Mapping[str, dt.datetime]:
        """Return until when GitHub forbids each bucket, for those that it does."""
        return self.tracker.blocks

    def blocked_until(self, bucket: str) -> dt.datetime | None:
        """Return until when polling may not use the bucket, or None."""
        return self.tracker.blocked_until(bucket)

    def describe(self) -> tuple[BucketState, ...]:
        """Return each bucket of which something is known, by name, as it is now."""
        return self.tracker.describe()

    def check(self, bucket: str, operation: str = "") -> None:
        """
        Give way, or refuse a call that a limit or, for polling, a reserve forbids.

        Raises:
            RateLimited: with `retry_at` on our clock. Nothing was sent.
        """
        self.tracker.check(bucket, operation, for_people=not keeps_reserve())

    @contextlib.asynccontextmanager
    async def passage(self, bucket: str, operation: str = "") -> AsyncIterator[None]:
        """
        Hold this around one request, from before it is sent until it is observed.

        After a wait that tokens and tasks share one request goes first, and the
        others when it was answered; if it was refused they do not go.

        Raises:
            RateLimited: as from `check`.
        """
        self.check(bucket, operation)
        tracker = self.tracker
        if not tracker.needs_probe(bucket):
            yield
            return
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(tracker.probes)
            self.check(bucket, operation)
            if not tracker.needs_probe(bucket):
                await stack.aclose()  # somebody else's probe was answered meanwhile
            yield

    def observe(self, exchange: Exchange, payer: str = "") -> RateLimited | None:
        """
        Learn from an answer, whatever its status; `payer` is whom it names, or ''.

        Returns the limit that it speaks of, `retry_at` set and on our clock.
        """
        self.learn_payer(payer)
        return self.tracker.observe(exchange)

    def learn_payer(self, payer: str) -> None:
        """Go over to the tracker of the account that pays. '' says nothing."""
        if not payer or payer == self.payer or self.is_fixed:
            return
        if self.payer:
            self.tracker = self._book.get(self._host, payer)
        else:
            self.tracker = self._book.join(self._host, payer, self.tracker)
        self.payer = payer

    def forget(self) -> None:
        """Forget who pays: the token was replaced. An installation stays the same."""
        if not self.is_fixed:
            self.payer = ""
            self.tracker = self._book.build()

    def remember_told(self, buckets: Iterable[str]) -> None:
        """Learn which limits were last told to be exhausted, by an earlier process."""
        self._told = set(buckets)

    def take_transitions(self) -> list[LimitTransition]:
        """
        Return what is news since the last call, by bucket.

        A limit that was reached counts once until it is over, however often it was
        met and however its end moved.
        """
        news = list_transitions(self._told, self.tracker.standing)
        for each in news:
            if each.change is LimitChange.EXHAUSTED:
                self._told.add(each.bucket)
            else:
                self._told.discard(each.bucket)
        return news
