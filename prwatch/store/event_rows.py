"""How an event lies in a row of `events`."""

from prwatch.domain.events import Event, EventType
from prwatch.store.columns import from_json, from_microseconds, to_json, to_microseconds
from prwatch.store.database import Row, Value


def to_event(row: Row) -> Event:
    """Return the event of a row."""
    return Event(
        id=row["id"],
        type=EventType(row["type"]),
        source=row["source"],
        subject=row["subject"],
        time=from_microseconds(row["time"]),
        workspace_id=row["workspace_id"],
        task_id=row["task_id"],
        repository_id=row["repository_id"],
        pr_number=row["pr_number"],
        watch_id=row["watch_id"],
        revision=row["revision"],
        head_ref_oid=row["head_ref_oid"],
        is_terminal=bool(row["is_terminal"]),
        data=from_json(row["data"]),
    )


def from_event(event: Event) -> dict[str, Value]:
    """Return the row of an event, without its position."""
    return {
        "id": event.id,
        "type": event.type,
        "source": event.source,
        "subject": event.subject,
        "time": to_microseconds(event.time),
        "workspace_id": event.workspace_id,
        "task_id": event.task_id,
        "repository_id": event.repository_id,
        "pr_number": event.pr_number,
        "watch_id": event.watch_id,
        "revision": event.revision,
        "head_ref_oid": event.head_ref_oid,
        "is_terminal": event.is_terminal,
        "data": to_json(event.data),
    }
