"""Rows of deliveries: order, leases, fencing, settling, and the record of events."""

from dataclasses import replace

import anyio
import pytest

from prwatch.domain.events import EventType
from prwatch.domain.outbox import Delivery, DeliveryState, Settlement
from prwatch.errors import EventNotFound
from prwatch.store import events, outbox, task_pull_requests, watches
from prwatch.store.events import DeliveryRecord, EventFilter, EventRecord
from tests.contract.store_rows import (
    at,
    make_discovered,
    make_event,
    make_observation,
    make_task_pull_request,
    make_watermark,
)

HOOK = "hook"


class OutboxContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    async def add(self, store, *rows, sinks=(HOOK,), now=None):
        wanted = {event.id: list(sinks) for event in rows}
        await store.write(outbox.add_events, rows, wanted, now or at(0))

    async def acquire(self, store, seconds=0, token="l1", limit=10, sink=HOOK):
        return await store.write(
            outbox.acquire_deliveries,
            sink=sink,
            now=at(seconds),
            lease_until=at(seconds + 60),
            lease_token=token,
            limit=limit,
        )

    async def acquired_ids(self, store, *values, **named):
        taken = await self.acquire(store, *values, **named)
        return [delivery.event.id for delivery in taken]

    async def settle(self, store, event_id, state, token="l1", **named):
        row = Settlement(
            event_id=event_id, sink=HOOK, lease_token=token, state=state, **named
        )
        return await store.write(outbox.settle_deliveries, [row])

    async def test_a_delivery_carries_its_event_as_it_was(self, store):
        event = make_event(1, is_terminal=True)
        await self.add(store, event)

        taken = await self.acquire(store)

        (row,) = await store.raw("SELECT position FROM events")
        assert taken == [
            Delivery(
                event=event,
                sink=HOOK,
                position=row["position"],
                attempt=1,
                first_due_at=at(0),
                lease_token="l1",
                is_superseded=False,
            )
        ]

    async def test_an_event_is_written_once(self, store):
        await self.add(store, make_event(1))
        await self.add(store, make_event(1), sinks=["other"])

        record = await store.read(events.get_event, "e1")
        assert [delivery.sink for delivery in record.deliveries] == [HOOK]

    async def test_an_event_that_no_sink_wants_is_recorded(self, store):
        await self.add(store, make_event(1), sinks=[])

        assert await self.acquire(store) == []
        assert (await store.read(events.get_event, "e1")).deliveries == ()

    async def test_deliveries_of_one_pull_request_leave_one_at_a_time(self, store):
        await self.add(store, *(make_event(number) for number in (2, 3, 1)))

        assert await self.acquired_ids(store) == ["e2"]
        assert await self.acquired_ids(store, token="l2") == []
        await self.settle(store, "e2", DeliveryState.DELIVERED)
        assert await self.acquired_ids(store) == ["e3"]

    async def test_different_pull_requests_leave_side_by_side(self, store):
        await self.add(
            store,
            make_event(1),
            make_event(2),
            make_event(3, pr_number=13),
            make_event(4, repository_id="r2"),
            make_event(5, task_id="t2"),
        )

        assert await self.acquired_ids(store, limit=3) == ["e1", "e3", "e4"]
        assert await self.acquired_ids(store, token="l2") == ["e5"]

    async def test_a_sink_does_not_delay_another(self, store):
        await self.add(store, make_event(1), sinks=[HOOK, "log"])
        await self.acquire(store)

        assert await self.acquired_ids(store, sink="log") == ["e1"]

    async def test_a_pull_request_that_waits_delays_nobody_else(self, store):
        await self.add(store, make_event(1), make_event(2), make_event(3, pr_number=13))
        await self.acquire(store, limit=1)
        await self.settle(store, "e1", DeliveryState.PENDING, due_at=at(500))

        assert await self.acquired_ids(store, 1, "l2") == ["e3"]
        assert await self.acquired_ids(store, 500, "l3") == ["e1", "e3"]

    async def test_reviews_of_a_pull_request_wait_for_each_other_whatever_task(
        self, store
    ):
        asked, gone = EventType.PR_REVIEW_REQUESTED, EventType.PR_REVIEW_TASK_DELETED
        first = {"repository_id": "PR_1", "watch_id": "", "head_ref_oid": ""}
        await self.add(
            store,
            make_event(1, type=asked, task_id="t1", **first),
            make_event(2, type=gone, task_id="t1", **first),
            make_event(3, type=asked, task_id="t2", **first),
            make_event(
                4, type=asked, task_id="t3", **first | {"repository_id": "PR_2"}
            ),
            make_event(5, type=asked, workspace_id="w2", task_id="t4", **first),
        )

        assert await self.acquired_ids(store) == ["e1", "e4", "e5"]
        await self.settle(store, "e1", DeliveryState.PENDING, due_at=at(5))
        assert await self.acquired_ids(store, 4, "l2") == []
        assert await self.acquired_ids(store, 5, "l3") == ["e1"]
        await self.settle(store, "e1", DeliveryState.DELIVERED, token="l3")
        assert await self.acquired_ids(store, 6, "l4") == ["e2"]
        await self.settle(store, "e2", DeliveryState.DEAD, token="l4")
        assert await self.acquired_ids(store, 7, "l5") == ["e3"]

    @pytest.mark.parametrize(
        "state", [DeliveryState.DEAD, DeliveryState.DROPPED, DeliveryState.DELIVERED]
    )
    async def test_a_settled_delivery_holds_no_successor(self, store, state):
        await self.add(store, make_event(1), make_event(2))
        await self.acquire(store)

        await self.settle(store, "e1", state, error="410 gone")

        assert await self.acquired_ids(store, 1, "l2") == ["e2"]
        record = await store.read(events.get_event, "e1")
        assert record.deliveries == (
            DeliveryRecord(
                sink=HOOK,
                state=state,
                attempt=1,
                first_due_at=at(0),
                due_at=None,
                error="410 gone",
            ),
        )

    async def test_a_later_attempt_counts_on(self, store):
        await self.add(store, make_event(1))
        await self.acquire(store)
        await self.settle(store, "e1", DeliveryState.PENDING, due_at=at(5), error="503")

        assert await self.acquire(store, 4, "l2") == []
        (again,) = await self.acquire(store, 5, "l2")
        assert (again.attempt, again.first_due_at, again.event.id) == (2, at(0), "e1")

    async def test_an_ended_lease_is_taken_over(self, store):
        await self.add(store, make_event(1))
        await self.acquire(store)

        assert await self.acquired_ids(store, 59, "l2") == []
        assert await self.acquired_ids(store, 60, "l2") == ["e1"]

    async def test_whoever_lost_the_lease_settles_nothing(self, store):
        await self.add(store, make_event(1))
        await self.acquire(store)
        await self.acquire(store, 60, "l2")

        assert await self.settle(store, "e1", DeliveryState.DELIVERED) == []
        (settled,) = await self.settle(store, "e1", DeliveryState.DELIVERED, token="l2")
        assert settled.lease_token == "l2"
        assert await self.settle(store, "e1", DeliveryState.DEAD, token="l2") == []
        assert await store.read(outbox.next_due_at, HOOK) is None

    async def test_too_many_settlements_are_refused(self, store):
        row = Settlement(
            event_id="e1", sink=HOOK, lease_token="l", state=DeliveryState.DEAD
        )

        with pytest.raises(ValueError, match="101"):
            await store.write(outbox.settle_deliveries, [row] * 101)

    async def test_of_many_workers_each_delivery_has_one(self, store):
        await self.add(
            store, *(make_event(number, pr_number=number) for number in range(1, 41))
        )
        taken = []

        async def work(number):
            taken.extend(await self.acquired_ids(store, token=f"l{number}", limit=7))

        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(work, number)
        taken.extend(await self.acquired_ids(store, token="rest", limit=50))

        assert sorted(taken) == sorted(f"e{number}" for number in range(1, 41))

    async def test_released_deliveries_are_due_at_once(self, store):
        await self.add(store, make_event(1), make_event(2, pr_number=13))
        await self.acquire(store, 3)
        await self.settle(store, "e2", DeliveryState.DELIVERED)

        assert await store.write(outbox.release_deliveries, HOOK, "l1") == 1
        assert await store.write(outbox.release_deliveries, HOOK, "l1") == 0

        assert await self.settle(store, "e1", DeliveryState.DELIVERED) == []
        (again,) = await self.acquire(store, 3, "l2")
        assert (again.event.id, again.attempt) == ("e1", 1)

    async def test_the_next_due_time_is_that_of_the_first_in_line(self, store):
        assert await store.read(outbox.next_due_at, HOOK) is None
        await self.add(store, make_event(1), make_event(2))
        assert await store.read(outbox.next_due_at, HOOK) == at(0)

        await self.acquire(store)
        assert await store.read(outbox.next_due_at, HOOK) == at(60)

        await self.settle(store, "e1", DeliveryState.PENDING, due_at=at(7))
        assert await store.read(outbox.next_due_at, HOOK) == at(7)

    async def test_something_is_due_when_the_first_in_line_may_be_taken(self, store):
        assert not await store.read(outbox.has_due, HOOK, at(0))
        await self.add(store, make_event(1), make_event(2))
        assert await store.read(outbox.has_due, HOOK, at(0))

        await self.acquire(store)
        assert not await store.read(outbox.has_due, HOOK, at(59))
        assert await store.read(outbox.has_due, HOOK, at(60))

        await self.settle(store, "e1", DeliveryState.DELIVERED)
        assert await store.read(outbox.has_due, HOOK, at(1))

    @pytest.mark.parametrize(
        ("head", "event", "is_superseded"),
        [
            pytest.param("oid0", {}, False, id="the same head"),
            pytest.param("oid1", {}, True, id="the head moved on"),
            pytest.param("oid1", {"is_terminal": True}, False, id="terminal"),
            pytest.param("oid1", {"watch_id": "gone"}, False, id="no such watch"),
            pytest.param(
                "oid1", {"pr_number": 11}, False, id="watch of another number"
            ),
            pytest.param(None, {}, False, id="watch without a watermark"),
        ],
    )
    async def test_a_delivery_says_whether_the_head_moved_on(
        self, store, head, event, is_superseded
    ):
        watermark = None if head is None else make_watermark(head_ref_oid=head)
        await store.write(watches.add_watch, make_discovered(1, watermark=watermark))
        await self.add(store, make_event(1, **event))

        (delivery,) = await self.acquire(store)

        assert delivery.is_superseded == is_superseded

    @pytest.mark.parametrize(
        ("head", "is_superseded"),
        [
            pytest.param("oid0", False, id="the last known head"),
            pytest.param("oid1", True, id="the head moved on before the watch went"),
        ],
    )
    async def test_without_its_watch_the_last_known_head_tells(
        self, store, head, is_superseded
    ):
        observation = make_observation(head_ref_oid=head)
        pull_request = make_task_pull_request(observation=observation)
        await store.write(task_pull_requests.put_task_pull_request, pull_request)
        await self.add(store, make_event(1))

        (delivery,) = await self.acquire(store)

        assert delivery.is_superseded == is_superseded

    async def test_a_dead_delivery_is_sent_again_by_hand(self, store):
        await self.add(store, make_event(1), sinks=[HOOK, "log"])
        await self.acquire(store)
        await self.settle(store, "e1", DeliveryState.DEAD, error="refused")

        assert await store.write(events.retry_delivery, "e1", "log", at(9)) == 0
        assert await store.write(events.retry_delivery, "e1", None, at(9)) == 1

        (again,) = await self.acquire(store, 9, "l2")
        assert (again.event, again.attempt, again.first_due_at) == (
            make_event(1),
            1,
            at(9),
        )

    async def test_all_dead_deliveries_are_sent_again_the_oldest_first(self, store):
        await self.add(store, make_event(1), make_event(2, pr_number=13))
        await self.add(store, make_event(3, pr_number=14), sinks=[HOOK, "log"])
        await self.acquire(store)
        for event_id in ("e1", "e2", "e3"):
            await self.settle(store, event_id, DeliveryState.DEAD, error="refused")
        retry = events.retry_dead_deliveries

        assert await store.write(retry, "log", at(9), limit=10) == 0
        assert await store.write(retry, None, at(9), limit=2) == 2
        assert await self.acquired_ids(store, 9, "l2") == ["e1", "e2"]
        assert await store.write(retry, HOOK, at(9), limit=2) == 1
        assert await self.acquired_ids(store, 9, "l3") == ["e3"]

    async def test_deliveries_are_counted(self, store):
        await self.add(store, make_event(1), make_event(2, pr_number=13))
        await self.add(store, make_event(3), sinks=["log"])
        await self.acquire(store, limit=1)

        assert await store.read(events.count_deliveries) == {
            (HOOK, DeliveryState.ACQUIRED): 1,
            (HOOK, DeliveryState.PENDING): 1,
            ("log", DeliveryState.PENDING): 1,
        }

    async def test_events_are_listed_after_a_position(self, store):
        rows = [make_event(number) for number in (3, 1, 2)]
        await self.add(store, *rows)

        listed = await store.read(events.list_events, limit=2)
        rest = await store.read(
            events.list_events, limit=2, after_position=listed[-1].position
        )
        newest = await store.read(events.list_events, limit=2, newest=True)

        assert [record.event for record in listed + rest] == rows
        assert [record.event for record in newest] == rows[1:]

    async def test_the_newest_about_one_pull_request_are_found_alone(self, store):
        rows = [
            make_event(1),
            make_event(2),
            make_event(3, pr_number=13),
            make_event(4, repository_id="r2"),
            make_event(5, type=EventType.PR_FEEDBACK),
            make_event(6),
        ]
        await self.add(store, *rows)

        found = await store.read(
            events.list_newest_of_pull_request,
            "r1",
            12,
            event_type="GitHubTaskPRUpdated",
            limit=2,
        )

        assert [each.event.id for each in found] == ["e2", "e6"]

    @pytest.mark.parametrize(
        "where",
        [
            pytest.param({"workspace_id": "w2"}, id="workspace"),
            pytest.param({"task_id": "t2"}, id="task"),
            pytest.param({"repository_id": "r2"}, id="repository"),
            pytest.param({"pr_number": 13}, id="number"),
            pytest.param({"type": "GitHubPRFeedback"}, id="type"),
        ],
    )
    async def test_events_are_filtered(self, store, where):
        meant = make_event(2, **where)
        await self.add(store, make_event(1), meant)

        (record,) = await store.read(
            events.list_events, limit=9, where=EventFilter(**where)
        )

        assert record.event == meant

    async def test_an_event_that_is_not_there_is_named_in_the_error(self, store):
        with pytest.raises(EventNotFound, match="e9"):
            await store.read(events.get_event, "e9")

    async def test_old_events_go_when_nobody_waits_for_them(self, store):
        rows = [make_event(number, pr_number=number) for number in range(1, 6)]
        await self.add(store, *rows[:4])
        await self.add(store, rows[4], sinks=[])
        await self.acquire(store, limit=3)
        await self.settle(store, "e1", DeliveryState.DELIVERED)
        await self.settle(store, "e2", DeliveryState.DEAD)
        young = replace(make_event(6), time=at(1000))
        await self.add(store, young, sinks=[])

        ages = {"delivered_before": at(500), "dead_before": at(-500)}
        assert await store.write(events.prune_events, **ages, limit=1) == 1
        assert await store.write(events.prune_events, **ages) == 1
        assert await store.write(events.prune_events, **ages) == 0

        left = await store.read(events.list_events, limit=9)
        assert [record.event.id for record in left] == ["e2", "e3", "e4", "e6"]

    async def test_at_the_later_age_all_events_go(self, store):
        await self.add(store, make_event(1), make_event(2))

        ages = {"delivered_before": at(500), "dead_before": at(500)}
        assert await store.write(events.prune_events, **ages) == 2

        assert await store.read(events.list_events, limit=9) == []
        assert await store.read(events.count_deliveries) == {}

    async def test_an_event_is_got_with_where_it_stands(self, store):
        await self.add(store, make_event(1), sinks=["log", HOOK])

        record = await store.read(events.get_event, "e1")

        pending = DeliveryRecord(
            sink=HOOK,
            state=DeliveryState.PENDING,
            attempt=0,
            first_due_at=at(0),
            due_at=at(0),
            error="",
        )
        assert record == EventRecord(
            event=make_event(1),
            position=record.position,
            deliveries=(pending, replace(pending, sink="log")),
        )

    async def test_an_empty_round_writes_nothing(self, store):
        assert await store.rows_written_by(
            outbox.acquire_deliveries,
            sink=HOOK,
            now=at(0),
            lease_until=at(60),
            lease_token="l1",
            limit=8,
        ) == (0, False)
        assert await store.rows_written_by(outbox.release_deliveries, HOOK, "l1") == (
            0,
            False,
        )
        assert await store.rows_written_by(
            events.prune_events, delivered_before=at(0), dead_before=at(0)
        ) == (0, False)
