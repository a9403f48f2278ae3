"""The record of what was said and what became of it: read, sent again, pruned."""

import datetime as dt
from dataclasses import dataclass

from prwatch.domain.events import Event
from prwatch.domain.outbox import DeliveryState
from prwatch.errors import EventNotFound
from prwatch.store.columns import (
    from_microseconds,
    from_optional_microseconds,
    to_microseconds,
)
from prwatch.store.database import Row, Transaction
from prwatch.store.event_rows import to_event
from prwatch.store.query import load_queries

_QUERIES = load_queries("events")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRecord:
    """
    Where an event stands at one sink.

    `due_at` is the turn of a pending delivery, the end of the lease of an acquired
    one, and None for a settled one.
    """

    sink: str
    state: DeliveryState
    attempt: int
    first_due_at: dt.datetime
    due_at: dt.datetime | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """An event with its position, and its deliveries where they were asked for."""

    event: Event
    position: int
    deliveries: tuple[DeliveryRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events are meant: '' and 0 mean any."""

    workspace_id: str = ""
    task_id: str = ""
    repository_id: str = ""
    pr_number: int = 0
    type: str = ""


ANY_EVENT = EventFilter()


async def list_events(
    tx: Transaction,
    *,
    limit: int,
    after_position: int = 0,
    where: EventFilter = ANY_EVENT,
    newest: bool = False,
) -> list[EventRecord]:
    """
    Return up to `limit` events in order of their position, without deliveries.

    They are the first after `after_position`, or the last ones with `newest`.
    """
    rows = await tx.fetch(
        _QUERIES["list_newest_events" if newest else "list_events"],
        after_position=after_position,
        workspace_id=where.workspace_id,
        task_id=where.task_id,
        repository_id=where.repository_id,
        pr_number=where.pr_number,
        type=where.type,
        limit=limit,
    )
    return [EventRecord(event=to_event(row), position=row["position"]) for row in rows]


async def list_newest_of_pull_request(
    tx: Transaction, repository_id: str, pr_number: int, *, event_type: str, limit: int
) -> list[EventRecord]:
    """Return the newest events of one type about a pull request, oldest first."""
    rows = await tx.fetch(
        _QUERIES["list_newest_of_pull_request"],
        repository_id=repository_id,
        pr_number=pr_number,
        type=event_type,
        limit=limit,
    )
    return [EventRecord(event=to_event(row), position=row["position"]) for row in rows]


async def get_event(tx: Transaction, event_id: str) -> EventRecord:
    """
    Return one event with its deliveries, by sink.

    Raises:
        EventNotFound: No event has that id.
    """
    rows = await tx.fetch(_QUERIES["get_event"], id=event_id)
    if not rows:
        raise EventNotFound(f"no event {event_id}")
    deliveries = await tx.fetch(_QUERIES["list_deliveries"], event_id=event_id)
    return EventRecord(
        event=to_event(rows[0]),
        position=rows[0]["position"],
        deliveries=tuple(_to_record(row) for row in deliveries),
    )


async def retry_delivery(
    tx: Transaction, event_id: str, sink: str | None, now: dt.datetime
) -> int:
    """
    Make dead deliveries of an event due again, at one sink or, with None, at all.

    The event keeps its id and revision; the time to give up begins anew. Returns how
    many there were.
    """
    return await tx.execute(
        _QUERIES["retry"], event_id=event_id, sink=sink or "", now=to_microseconds(now)
    )


async def retry_dead_deliveries(
    tx: Transaction, sink: str | None, now: dt.datetime, *, limit: int
) -> int:
    """
    Make up to `limit` dead deliveries due again, of one sink or, with None, of all.

    The oldest come first. Events keep their ids and revisions. Returns how many there
    were; call it again while it returns `limit`.
    """
    return await tx.execute(
        _QUERIES["retry_dead"], sink=sink or "", now=to_microseconds(now), limit=limit
    )


async def count_deliveries(tx: Transaction) -> dict[tuple[str, DeliveryState], int]:
    """Return how many deliveries stand where, by sink and state, without zeros."""
    rows = await tx.fetch(_QUERIES["count_deliveries"])
    return {
        (row["sink"], DeliveryState(row["state"])): row["deliveries"] for row in rows
    }


async def prune_events(
    tx: Transaction,
    *,
    delivered_before: dt.datetime,
    dead_before: dt.datetime,
    limit: int = 500,
) -> int:
    """
    Remove old events with their deliveries, oldest first; return how many events.

    One made before `delivered_before` goes when all of its deliveries are settled and
    none is dead; one made before `dead_before` goes in any case. Call it again while
    it returns `limit`.
    """
    rows = await tx.fetch(
        _QUERIES["list_prunable"],
        delivered_before=to_microseconds(delivered_before),
        dead_before=to_microseconds(dead_before),
        limit=limit,
    )
    keys = [{"id": row["id"]} for row in rows]
    await tx.execute_many(_QUERIES["remove_deliveries"], keys)
    return await tx.execute_many(_QUERIES["remove_event"], keys)


def _to_record(row: Row) -> DeliveryRecord:
    return DeliveryRecord(
        sink=row["sink"],
        state=DeliveryState(row["state"]),
        attempt=row["attempt"],
        first_due_at=from_microseconds(row["first_due_at"]),
        due_at=from_optional_microseconds(row["due_at"]),
        error=row["error"],
    )
