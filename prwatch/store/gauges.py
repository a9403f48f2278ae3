"""What the store says of itself: how much waits, how large it is. Bounded look-ups."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from prwatch.store.columns import from_optional_microseconds
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("gauges")


@dataclass(frozen=True, slots=True)
class Waiting:
    """The deliveries of one sink that are not settled, and since when the first is."""

    sink: str
    deliveries: int
    oldest_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many rows a table has, and how long one of them is on average."""

    name: str
    rows: int
    row_bytes: int

    @property
    def size_bytes(self) -> int:
        """Return the logical size: what is in the rows, without indexes and gaps."""
        return self.rows * self.row_bytes


async def list_waiting(tx: Transaction, sinks: Sequence[str]) -> list[Waiting]:
    """List for each of these sinks what waits; an index answers."""
    found = []
    for sink in sinks:
        counted = await tx.fetch(_QUERIES["count_waiting"], sink=sink)
        oldest = await tx.fetch(_QUERIES["find_oldest"], sink=sink)
        since = oldest[0]["first_due_at"] if oldest else None
        found.append(
            Waiting(sink, int(counted[0]["waiting"]), from_optional_microseconds(since))
        )
    return found


async def count_watches(tx: Transaction) -> dict[str, int]:
    """Return how many watches each workspace has, by its id; an index answers."""
    rows = await tx.fetch(_QUERIES["count_watches"])
    return {str(row["workspace_id"]): int(row["watches"]) for row in rows}


async def count_dead(tx: Transaction) -> int:
    """Return how many deliveries were given up. It looks at all rows: not often."""
    rows = await tx.fetch(_QUERIES["count_dead"])
    return int(rows[0]["dead"])


async def list_table_sizes(tx: Transaction) -> list[TableSize]:
    """List the tables with their sizes. It counts all rows: not more than hourly."""
    rows = await tx.fetch(_QUERIES["measure_tables"])
    return [
        TableSize(str(row["name"]), int(row["row_count"]), int(row["row_bytes"]))
        for row in rows
    ]
