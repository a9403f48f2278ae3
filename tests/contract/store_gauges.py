"""What a store says of itself: what waits, what was given up, how large it is."""

from prwatch.domain.outbox import DeliveryState, Settlement
from prwatch.store import gauges, outbox, watches
from prwatch.store.gauges import Waiting
from prwatch.telemetry.labels import TABLES
from tests.contract.store_rows import at, make_event, make_watch


class GaugesContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    async def add(self, store, number, seconds=0, sinks=("hook",)):
        event = make_event(number)
        await store.write(outbox.add_events, [event], {event.id: sinks}, at(seconds))
        return event

    async def settle(self, store, event, state):
        await store.write(
            outbox.acquire_deliveries,
            sink="hook",
            now=at(100),
            lease_until=at(160),
            lease_token="l1",
            limit=1,
        )
        row = Settlement(event_id=event.id, sink="hook", lease_token="l1", state=state)
        await store.write(outbox.settle_deliveries, [row])

    async def test_an_empty_outbox_holds_nothing_for_each_sink(self, store):
        found = await store.read(gauges.list_waiting, ["hook", "file"])

        assert found == [Waiting("hook", 0, None), Waiting("file", 0, None)]

    async def test_what_waits_is_counted_by_sink_from_the_first_on(self, store):
        await self.add(store, 1, 5, sinks=("hook", "file"))
        await self.add(store, 2, 9)

        found = await store.read(gauges.list_waiting, ["hook", "file", "other"])

        assert found == [
            Waiting("hook", 2, at(5)),
            Waiting("file", 1, at(5)),
            Waiting("other", 0, None),
        ]

    async def test_what_is_settled_waits_no_longer(self, store):
        first = await self.add(store, 1, 5)
        await self.add(store, 2, 9)
        await self.settle(store, first, DeliveryState.DELIVERED)

        assert await store.read(gauges.list_waiting, ["hook"]) == [
            Waiting("hook", 1, at(9))
        ]

    async def test_what_was_given_up_is_counted(self, store):
        event = await self.add(store, 1)
        before = await store.read(gauges.count_dead)
        await self.settle(store, event, DeliveryState.DEAD)

        assert (before, await store.read(gauges.count_dead)) == (0, 1)

    async def test_watches_are_counted_by_workspace(self, store):
        before = await store.read(gauges.count_watches)
        for number in (1, 2):
            row = make_watch(number, branch=f"b{number}")
            await store.write(watches.add_watch, row)

        assert (before, await store.read(gauges.count_watches)) == ({}, {"w1": 2})

    async def test_every_table_is_measured_by_its_rows_and_their_length(self, store):
        await self.add(store, 1)
        sizes = {each.name: each for each in await store.read(gauges.list_table_sizes)}

        assert set(sizes) == set(TABLES)
        assert (sizes["tasks"].rows, sizes["events"].rows) == (2, 1)
        (row,) = await store.raw("SELECT length(data) AS length FROM events")
        assert row["length"] < sizes["events"].row_bytes < row["length"] + 1000
        assert sizes["events"].size_bytes == sizes["events"].row_bytes
        assert (sizes["sessions"].rows, sizes["sessions"].size_bytes) == (0, 0)
