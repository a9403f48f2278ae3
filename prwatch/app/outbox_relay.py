"""
One sink's relay: take what is due, hand it over, settle it.

A delivery is held under a lease while it is handed over. Whatever happens in
between, the row stays and is taken again when the lease has ended, with the event
id that it had.
"""

import contextlib
import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from prwatch.app.lease_owner import is_owner_gone
from prwatch.clock import Clock
from prwatch.domain.ids import build_id
from prwatch.domain.outbox import (
    Delivery,
    DeliveryOutcome,
    DeliveryState,
    Retry,
    Settlement,
    decide,
    drop_superseded,
)
from prwatch.errors import StoreError
from prwatch.sinks.sink import Sink
from prwatch.store import outbox
from prwatch.store.database import Database, Transaction

LEASE: Final = dt.timedelta(seconds=120)
ATTEMPT_SECONDS: Final = 90.0
"""No attempt outlives its lease, whatever its sink does."""
LONGEST_PAUSE: Final = 15.0
BATCH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkRoute:
    """A sink with what the relay has to know of its configuration."""

    sink: Sink
    is_dropping_superseded: bool = False


class OutboxRelay:
    """Delivers the events of one sink. One relay for each sink and process."""

    def __init__(
        self,
        route: SinkRoute,
        database: Database,
        *,
        clock: Clock,
        chance: random.Random,
        owner: str = "",
    ) -> None:
        """Relay for `owner`, which says in each lease whose it is."""
        self._route = route
        self._owner = owner
        self._database = database
        self._clock = clock
        self._chance = chance
        self._wake = anyio.Event()
        self._is_stopping = False
        self._held: set[str] = set()
        self._in_flight = 0
        self._ended: list[Settlement] = []
        self.delivered = 0
        """Deliveries that the sink took since the start."""
        self.outcomes: Counter[DeliveryState] = Counter()
        """How attempts ended since the start; `pending` is to be tried again."""
        self.is_failing = False
        """Whether the last attempt that ended did not bring its event out."""

    @property
    def name(self) -> str:
        """Return the sink's name."""
        return self._route.sink.name

    @property
    def kind(self) -> str:
        """Return the sink's kind."""
        return self._route.sink.kind

    def notify(self) -> None:
        """Look at once: something was committed, or has ended."""
        self._wake.set()

    def stop(self) -> None:
        """Take nothing more; `run` returns when what is under way has ended."""
        self._is_stopping = True
        self._wake.set()

    async def run(self, beat: Callable[[], None] = lambda: None) -> None:
        """
        Deliver until stopped or cancelled; what is held then is given back.

        `beat` is called at each turn, so that others see the loop move.
        """
        await self._loop(beat, is_once=False)

    async def run_once(self) -> int:
        """Deliver all that is due now, one attempt each; return what was taken."""
        before = self.delivered
        await self._loop(lambda: None, is_once=True)
        return self.delivered - before

    async def _loop(self, beat: Callable[[], None], *, is_once: bool) -> None:
        """
        Fill free places, settle what has ended, wait for either.

        One delivery that hangs holds back nothing but its own pull request.
        """
        limit = max(1, self._route.sink.limit)
        await self._reclaim()
        # Once means that what is to be tried again later waits for another run.
        until = self._clock.now() if is_once else None
        try:
            async with anyio.create_task_group() as group:
                while True:
                    beat()
                    self._wake = anyio.Event()
                    await self._settle()
                    taken: list[Delivery] = []
                    if self._in_flight < limit and not self._is_stopping:
                        taken = await self._acquire(limit - self._in_flight, until)
                    for delivery in taken:
                        self._in_flight += 1
                        group.start_soon(self._hand_over, delivery)
                    is_idle = not (taken or self._in_flight or self._ended)
                    if is_idle and (is_once or self._is_stopping):
                        return
                    if not taken and not self._ended:
                        await self._pause(is_once=is_once)
        finally:
            with anyio.move_on_after(2, shield=True):
                await self._release()

    async def _pause(self, *, is_once: bool) -> None:
        seconds = LONGEST_PAUSE
        if not is_once and self._in_flight == 0:
            due_at = await self._read_due_at()
            if due_at is not None:
                wait = (due_at - self._clock.now()).total_seconds()
                seconds = min(max(wait, 0.05), LONGEST_PAUSE)
        with anyio.move_on_after(seconds):
            await self._wake.wait()

    async def _hand_over(self, delivery: Delivery) -> None:
        try:
            settlement = await self._attempt(delivery)
            # Only now: the list may be another one than before the attempt.
            self._ended.append(settlement)
        finally:
            self._in_flight -= 1
            self._wake.set()

    async def _attempt(self, delivery: Delivery) -> Settlement:
        dropped = drop_superseded(
            delivery, is_dropping=self._route.is_dropping_superseded
        )
        if dropped is not None:
            return dropped
        outcome: DeliveryOutcome = Retry("the sink took too long")
        with anyio.move_on_after(ATTEMPT_SECONDS):
            outcome = await self._route.sink.deliver(delivery)
        return decide(
            outcome,
            delivery,
            self._clock.now(),
            chance_value=self._chance.random(),
        )

    async def _read_due_at(self) -> dt.datetime | None:
        name = self.name

        async def look(tx: Transaction) -> dt.datetime | None:
            return await outbox.next_due_at(tx, name)

        return await self._database.read(look)

    async def _acquire(self, limit: int, until: dt.datetime | None) -> list[Delivery]:
        """Take what is due now, or what was due at `until`."""
        now = self._clock.now()
        due_by = until or now
        name, token = self.name, f"{self._owner}/{build_id(now, self._chance)}"

        async def look(tx: Transaction) -> bool:
            return await outbox.has_due(tx, name, due_by)

        # A quiet relay writes nothing and waits for no writer.
        if not await self._database.read(look):
            return []

        async def take(tx: Transaction) -> list[Delivery]:
            return await outbox.acquire_deliveries(
                tx,
                sink=name,
                now=due_by,
                lease_until=now + LEASE,
                lease_token=token,
                limit=limit,
            )

        self._held.add(token)
        taken = await self._database.transact(take)
        if not taken:
            self._held.discard(token)
        return taken

    async def _settle(self) -> None:
        """Write down what has ended, a hundred at a time."""
        while self._ended:
            settlements, self._ended = self._ended[:BATCH], self._ended[BATCH:]

            async def write(
                tx: Transaction, settlements: Sequence[Settlement] = settlements
            ) -> list[Settlement]:
                return await outbox.settle_deliveries(tx, settlements)

            done = await self._database.transact(write)
            self._count(done)
        if self._in_flight == 0:
            self._held.clear()

    def _count(self, done: Sequence[Settlement]) -> None:
        self.outcomes.update(one.state for one in done)
        self.delivered += sum(one.state is DeliveryState.DELIVERED for one in done)
        if done:
            failed = {DeliveryState.PENDING, DeliveryState.DEAD}
            self.is_failing = done[-1].state in failed

    async def _reclaim(self) -> None:
        """Give back what processes held that do not live any more."""
        name = self.name

        async def look(tx: Transaction) -> list[str]:
            return await outbox.list_lease_tokens(tx, name)

        tokens = await self._database.read(look)
        gone = [token for token in tokens if is_owner_gone(token)]
        if not gone:
            return

        async def write(tx: Transaction) -> None:
            for token in gone:
                await outbox.release_deliveries(tx, name, token)

        await self._database.transact(write)

    async def _release(self) -> None:
        """Give back what is held, so that nobody waits for the lease to end."""
        if not self._held:
            return
        name, tokens = self.name, tuple(self._held)
        ended, self._ended = self._ended[:BATCH], []

        async def write(tx: Transaction) -> None:
            await outbox.settle_deliveries(tx, ended)
            for token in tokens:
                await outbox.release_deliveries(tx, name, token)

        # Without the store there is nobody to tell: the leases end by themselves.
        with contextlib.suppress(StoreError):
            await self._database.transact(write)
        self._held.clear()


async def deliver_once(relays: Sequence[OutboxRelay]) -> int:
    """
    Let each relay deliver what is due now, one attempt each; return what was taken.

    They run side by side: a sink that hangs delays no other.
    """
    taken: list[int] = []

    async def deliver(relay: OutboxRelay) -> None:
        taken.append(await relay.run_once())

    async with anyio.create_task_group() as group:
        for relay in relays:
            group.start_soon(deliver, relay)
    return sum(taken)
