import datetime as dt

import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.retention import CHUNK, EventRetention, Retention
from prwatch.domain.outbox import DeliveryState, Settlement
from prwatch.errors import StoreUnavailable
from prwatch.store import outbox
from prwatch.store.events import list_events
from prwatch.store.opening import open_database
from tests.contract.store_rows import GroundedStore, at, make_event, put_ground
from tests.daemon_parts import LoopClock

HOUR = 3600


class CountingDatabase:
    """A store in which `left` events are too old; each transaction is noted."""

    def __init__(self, *left):
        self.left = list(left)
        self.turns = []

    async def transact(self, fn):
        await anyio.lowlevel.checkpoint()
        self.turns.append(anyio.current_time())
        left = self.left[0]
        if isinstance(left, Exception):
            self.left.pop(0)
            raise left
        removed = min(CHUNK, left)
        self.left[0] -= removed
        if removed < CHUNK and len(self.left) > 1:
            self.left.pop(0)
        return removed


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


def build(database):
    clock = LoopClock()
    registry = LoopRegistry(clock)
    registry.begin_run("retention", Retention.deadline)
    service = Retention(database, kept=EventRetention(), clock=clock, registry=registry)
    return service, registry


async def test_a_turn_removes_all_in_short_transactions():
    database = CountingDatabase(2 * CHUNK + 7)
    beats = []
    service, _ = build(database)

    removed = await service.run_once(LoopClock().now(), lambda: beats.append(1))

    assert (removed, len(database.turns), len(beats)) == (2 * CHUNK + 7, 3, 3)


async def test_it_prunes_at_the_start_and_then_once_an_hour():
    database = CountingDatabase(0)
    service, _ = build(database)
    began = anyio.current_time()

    with anyio.move_on_after(2 * HOUR + 1):
        await service.run(lambda: None)

    assert [turn - began for turn in database.turns] == [0, HOUR, 2 * HOUR]


async def test_it_shows_each_minute_that_it_lives():
    beats = []
    service, _ = build(CountingDatabase(0))

    with anyio.move_on_after(HOUR - 1):
        await service.run(lambda: beats.append(1))

    assert len(beats) == 60


async def test_a_turn_that_fails_is_noted_and_the_next_one_comes():
    database = CountingDatabase(StoreUnavailable("full"), 0)
    service, registry = build(database)

    with structlog.testing.capture_logs() as logs:
        with anyio.move_on_after(HOUR - 1):
            await service.run(lambda: None)
        failing = registry.as_json()["retention"]
    with anyio.move_on_after(1):
        await service.run(lambda: None)
    facts = registry.as_json()["retention"]

    assert logs == [
        {
            "event": "retention.failed",
            "log_level": "warning",
            "code": "store_unavailable",
            "message": "full",
        }
    ]
    assert (failing["consecutive_failures"], failing["last_success_at"]) == (1, None)
    assert facts["consecutive_failures"] == 0


async def test_each_event_is_kept_for_its_time(tmp_path):
    """On a real store: who is delivered goes after 30 days, who is dead after 90."""
    now = at(0)
    ages = {"e1": 31, "e2": 29, "e3": 89, "e4": 91}
    dead = {"e3", "e4"}
    async with open_database(tmp_path / "prwatch.db", now=now, inline=True) as database:
        await database.transact(put_ground)
        store = GroundedStore(database, None)
        for number, (event_id, days) in enumerate(ages.items(), start=1):
            event = make_event(
                number, pr_number=number, time=now - dt.timedelta(days=days)
            )
            await store.write(outbox.add_events, [event], {event_id: ["log"]}, now)
        await store.write(
            outbox.acquire_deliveries,
            sink="log",
            now=now,
            lease_until=at(60),
            lease_token="l1",
            limit=9,
        )
        settlements = [
            Settlement(
                event_id=event_id,
                sink="log",
                lease_token="l1",
                state=DeliveryState.DEAD
                if event_id in dead
                else DeliveryState.DELIVERED,
            )
            for event_id in ages
        ]
        await store.write(outbox.settle_deliveries, settlements)
        service, _ = build(database)

        removed = await service.run_once(now)
        left = await store.read(list_events, limit=9)
        before = database.rows_written
        again = await service.run_once(now), database.rows_written - before

    assert (removed, [record.event.id for record in left]) == (2, ["e2", "e3"])
    assert again == (0, 0)
