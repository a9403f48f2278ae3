"""
Rows of events on their way out: one delivery for each event and sink.

Inside a sink the deliveries of one `Event.order` leave one at a time, in the order of
their events' commits; its three parts are the columns `task_id`, `repository_id` and
`pr_number`, whatever stands in them. Whoever sends one holds it under a lease;
a lease that ended may be taken over, and its token then settles nothing any more.
"""

import datetime as dt
from collections.abc import Mapping, Sequence

from prwatch.domain.events import Event
from prwatch.domain.outbox import Delivery, Settlement
from prwatch.store.columns import (
    from_microseconds,
    from_optional_microseconds,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Transaction
from prwatch.store.event_rows import from_event, to_event
from prwatch.store.query import load_queries

_QUERIES = load_queries("outbox")

MAXIMUM_SETTLEMENTS = 100
"""How many deliveries one transaction may settle."""


async def add_events(
    tx: Transaction,
    events: Sequence[Event],
    sinks_by_event: Mapping[str, Sequence[str]],
    now: dt.datetime,
) -> None:
    """
    Write events, and a delivery due at `now` for each sink that wants one.

    Call it after the compare-and-set of the watch, in the same transaction: positions
    are taken here, and are in the order of the commits for one watch. An event that
    is there is left alone, with its deliveries.
    """
    for event in events:
        rows = await tx.fetch(_QUERIES["add_event"], **from_event(event))
        if not rows:
            continue
        position = int(rows[0]["position"])
        owner, place, number = event.order
        await tx.execute_many(
            _QUERIES["add_delivery"],
            [
                {
                    "event_id": event.id,
                    "sink": sink,
                    "position": position,
                    "task_id": owner,
                    "repository_id": place,
                    "pr_number": number,
                    "now": to_microseconds(now),
                }
                for sink in sinks_by_event.get(event.id, ())
            ],
        )


async def acquire_deliveries(
    tx: Transaction,
    *,
    sink: str,
    now: dt.datetime,
    lease_until: dt.datetime,
    lease_token: str,
    limit: int,
) -> list[Delivery]:
    """
    Take up to `limit` deliveries of a sink that are due, first come first.

    Due are pending ones whose time has come, and acquired ones whose lease has ended.
    Of each pull request only the first that is not settled is taken: a dead one holds
    nobody. `lease_token` must be new for each call. Concurrent callers never get the
    same delivery.
    """
    taken = await tx.fetch(
        _QUERIES["acquire"],
        sink=sink,
        now=to_microseconds(now),
        lease_until=to_microseconds(lease_until),
        lease_token=lease_token,
        limit=limit,
    )
    if not taken:
        return []
    rows = await tx.fetch(_QUERIES["list_held"], sink=sink, lease_token=lease_token)
    return [_to_delivery(row) for row in rows]


async def settle_deliveries(
    tx: Transaction, settlements: Sequence[Settlement]
) -> list[Settlement]:
    """
    Finish deliveries, and return the settlements that took effect.

    One whose lease was taken over, released or settled before has no effect. A
    settlement as pending is due again at its `due_at`, which must be there.

    Raises:
        ValueError: There are more than `MAXIMUM_SETTLEMENTS`.
    """
    if len(settlements) > MAXIMUM_SETTLEMENTS:
        raise ValueError(f"{len(settlements)} settlements in one transaction")
    effective = []
    for settlement in settlements:
        written = await tx.execute(
            _QUERIES["settle"],
            event_id=settlement.event_id,
            sink=settlement.sink,
            lease_token=settlement.lease_token,
            state=settlement.state,
            due_at=to_optional_microseconds(settlement.due_at),
            error=settlement.error,
        )
        if written:
            effective.append(settlement)
    return effective


async def release_deliveries(tx: Transaction, sink: str, lease_token: str) -> int:
    """Give back what is still held under a lease, due at once; return how many."""
    query = _QUERIES["release"]
    return await tx.execute(query, sink=sink, lease_token=lease_token)


async def list_lease_tokens(tx: Transaction, sink: str) -> list[str]:
    """Return the tokens under which deliveries of a sink are held, ended or not."""
    rows = await tx.fetch(_QUERIES["list_lease_tokens"], sink=sink)
    return sorted(str(row["lease_token"]) for row in rows)


async def next_due_at(tx: Transaction, sink: str) -> dt.datetime | None:
    """
    Return when the next delivery of a sink may be taken, or None without one.

    It may lie in the past. A delivery that waits for an earlier one does not count.
    """
    rows = await tx.fetch(_QUERIES["next_due_at"], sink=sink)
    return from_optional_microseconds(rows[0]["due_at"])


async def has_due(tx: Transaction, sink: str, now: dt.datetime) -> bool:
    """Return whether a delivery of a sink may be taken now, however many wait."""
    query = _QUERIES["has_due"]
    return bool(await tx.fetch(query, sink=sink, now=to_microseconds(now)))


def _to_delivery(row: Row) -> Delivery:
    return Delivery(
        event=to_event(row),
        sink=row["sink"],
        position=row["position"],
        attempt=row["attempt"],
        first_due_at=from_microseconds(row["first_due_at"]),
        lease_token=row["lease_token"],
        is_superseded=bool(row["is_superseded"]),
    )
