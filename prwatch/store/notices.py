"""Events about the watching itself, found by their subject."""

from prwatch.domain.events import Event
from prwatch.store.database import Transaction
from prwatch.store.event_rows import to_event
from prwatch.store.query import load_queries

_QUERIES = load_queries("events")


async def find_last_notice(
    tx: Transaction, workspace_id: str, subject: str
) -> Event | None:
    """Return the newest event about the watching with that subject, or None."""
    rows = await tx.fetch(
        _QUERIES["find_last_notice"], workspace_id=workspace_id, subject=subject
    )
    return to_event(rows[0]) if rows else None


async def list_last_notices(tx: Transaction, workspace_id: str) -> list[Event]:
    """Return the newest event of each such subject of a workspace, by subject."""
    rows = await tx.fetch(_QUERIES["list_last_notices"], workspace_id=workspace_id)
    return [to_event(row) for row in rows]
