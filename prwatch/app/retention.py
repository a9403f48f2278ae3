"""Removing events that have been kept for their time."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.turns import pause
from prwatch.clock import Clock
from prwatch.errors import StoreError
from prwatch.store.database import Database, Transaction
from prwatch.store.events import prune_events

INTERVAL: Final = dt.timedelta(hours=1)
CHUNK: Final = 50
"""Events of one transaction: with nine deliveries each it writes 500 rows."""
MOST_CHUNKS: Final = 2000
"""One turn is bounded; what is left waits for the next."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRetention:
    """How long events are kept after every sink has them, and dead ones in any case."""

    delivered: dt.timedelta = dt.timedelta(days=30)
    dead: dt.timedelta = dt.timedelta(days=90)


class Retention:
    """A service that prunes events once an hour, first when it starts."""

    name = "retention"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(
        self,
        database: Database,
        *,
        kept: EventRetention,
        clock: Clock,
        registry: LoopRegistry,
    ) -> None:
        self._database = database
        self._kept = kept
        self._clock = clock
        self._registry = registry

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Prune at each turn until cancelled; a turn that fails waits for the next."""
        task_status.started()
        late_by = dt.timedelta(0)
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            try:
                removed = await self.run_once(self._clock.now(), beat)
            except StoreError as error:
                self._registry.fail(self.name, error)
                _log.warning("retention.failed", code=error.code, message=str(error))
            else:
                self._registry.succeed(self.name)
                _log.debug("retention.completed", removed=removed)
            late_by = await pause(self._clock, INTERVAL, beat)

    async def run_once(
        self, now: dt.datetime, beat: Callable[[], None] = lambda: None
    ) -> int:
        """
        Remove what is too old at `now`, in short transactions; return how many events.

        Raises:
            StoreError: The store failed. What was removed until then stays removed.
        """
        delivered_before = now - self._kept.delivered
        dead_before = now - self._kept.dead

        async def prune(tx: Transaction) -> int:
            return await prune_events(
                tx,
                delivered_before=delivered_before,
                dead_before=dead_before,
                limit=CHUNK,
            )

        removed = 0
        for _ in range(MOST_CHUNKS):
            chunk = await self._database.transact(prune)
            removed += chunk
            beat()
            if chunk < CHUNK:
                break
        return removed
