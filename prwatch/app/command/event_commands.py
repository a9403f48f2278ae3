"""What `prwatch events` does: shows what was said, and sends dead deliveries again."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from prwatch.app.command.workbench import Workbench
from prwatch.domain.envelope import build_envelope
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.errors import NotFound
from prwatch.store import events
from prwatch.store.database import Transaction
from prwatch.store.events import DeliveryRecord, EventFilter, EventRecord

PAGE: Final = 200
FOLLOW_SECONDS: Final = 1.0
OVERLAP: Final = 500
"""Positions that are looked at again: on PostgreSQL a lower one may commit later."""
RETRIES_AT_ONCE: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class TailFilter:
    """Which events are meant: '' means any workspace, any type."""

    workspace: str = ""
    type: str = ""


async def list_recent(
    bench: Workbench, which: TailFilter, *, limit: int
) -> list[EventRecord]:
    """
    Return the newest events, oldest first.

    Raises:
        NotFound: There is no such workspace.
    """
    where = await _resolve(bench, which)

    async def read(tx: Transaction) -> list[EventRecord]:
        return await events.list_events(tx, limit=limit, where=where, newest=True)

    return await bench.database.read(read) if limit else []


async def follow(
    bench: Workbench, which: TailFilter, *, after: int = 0
) -> AsyncIterator[EventRecord]:
    """
    Yield events as they are written, those after a position first, each once.

    It ends when it is cancelled. A position that commits late is not missed.

    Raises:
        NotFound: There is no such workspace.
    """
    where = await _resolve(bench, which)
    seen: set[int] = set()
    last, token = after, None
    while True:
        now_token = await bench.database.change_token()
        if now_token == token:
            await bench.surroundings.clock.sleep(FOLLOW_SECONDS)
            continue
        token = now_token
        start = max(after, last - OVERLAP)
        while page := await _read_page(bench, where, start):
            for record in page:
                if record.position not in seen:
                    seen.add(record.position)
                    yield record
            start = page[-1].position
            last = max(last, start)
        seen = {position for position in seen if position > last - OVERLAP}


async def find_last_position(bench: Workbench) -> int:
    """Return the position of the newest event, 0 without any."""

    async def read(tx: Transaction) -> list[EventRecord]:
        return await events.list_events(tx, limit=1, newest=True)

    found = await bench.database.read(read)
    return found[0].position if found else 0


async def show_event(bench: Workbench, event_id: str) -> EventRecord:
    """
    Return an event with its deliveries.

    Raises:
        EventNotFound: There is none of that id.
    """

    async def read(tx: Transaction) -> EventRecord:
        return await events.get_event(tx, event_id)

    return await bench.database.read(read)


async def retry_event(bench: Workbench, event_id: str, *, sink: str = "") -> int:
    """
    Make the dead deliveries of an event due again; return how many.

    They keep the event's id. Deliveries that are not dead are left alone.

    Raises:
        EventNotFound: There is no event of that id.
        NotFound: It has no delivery to that sink.
    """
    record = await show_event(bench, event_id)
    if sink and sink not in {delivery.sink for delivery in record.deliveries}:
        raise NotFound(f"the event {event_id} has no delivery to the sink {sink}")
    now = bench.surroundings.clock.now()

    async def write(tx: Transaction) -> int:
        return await events.retry_delivery(tx, event_id, sink or None, now)

    count = await bench.database.transact(write)
    await bench.nudge()
    return count


async def retry_dead(bench: Workbench, *, sink: str = "") -> int:
    """Make every dead delivery due again, at one sink or at all; return how many."""
    now = bench.surroundings.clock.now()
    total = 0

    async def write(tx: Transaction) -> int:
        return await events.retry_dead_deliveries(
            tx, sink or None, now, limit=RETRIES_AT_ONCE
        )

    while count := await bench.database.transact(write):
        total += count
        if count < RETRIES_AT_ONCE:
            break
    await bench.nudge()
    return total


def describe_event(record: EventRecord) -> dict[str, object]:
    """Return the event as sinks get it, without what is computed at each delivery."""
    envelope = build_envelope(record.event, is_superseded=False)
    return {**envelope, "data": dict(record.event.data)}


def describe_delivery(delivery: DeliveryRecord) -> dict[str, object]:
    """Return where an event stands at one sink, as JSON."""
    return {
        "sink": delivery.sink,
        "state": delivery.state.value,
        "attempt": delivery.attempt,
        "first_due_at": format_time(delivery.first_due_at),
        "due_at": format_optional_time(delivery.due_at),
        "error": delivery.error or None,
    }


def list_changes(record: EventRecord) -> list[str]:
    """
    Return each change in words: `checks: pending → failure`.

    One about the watching itself has its state and cause instead.
    """
    data = record.event.data
    changes = data.get("changes")
    if not isinstance(changes, list):
        told = (data.get(key) for key in ("state", "message", "blocked_until"))
        return [": ".join(str(each) for each in told if each)]
    return [
        f"{change['field']}: {_tell(change['previous'])} → {_tell(change['current'])}"
        for change in changes
    ]


def _tell(value: object) -> str:
    if value is None:
        return "none yet"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    is_oid = len(text) in {40, 64} and all(c in "0123456789abcdef" for c in text)
    return text[:10] if is_oid else text


async def _resolve(bench: Workbench, which: TailFilter) -> EventFilter:
    workspace_id = ""
    if which.workspace:
        found = await bench.list_workspaces(which.workspace)
        # One that is configured and was never polled has no row and no event.
        workspace_id = found[0].id if found else "-"
    return EventFilter(workspace_id=workspace_id, type=which.type)


async def _read_page(
    bench: Workbench, where: EventFilter, after: int
) -> list[EventRecord]:
    async def read(tx: Transaction) -> list[EventRecord]:
        return await events.list_events(
            tx, limit=PAGE, after_position=after, where=where
        )

    return await bench.database.read(read)
