"""
Looks at the store and its disk from time to time, so that no probe has to.

What was found is kept with the time of the look; metrics and health are made of it.
"""

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.turns import pause
from prwatch.app.runtime import Runtime
from prwatch.app.store_place import DATABASE_NAME
from prwatch.errors import StoreError, StoreUnavailable
from prwatch.store.database import Transaction
from prwatch.store.gauges import (
    TableSize,
    Waiting,
    count_dead,
    list_table_sizes,
    list_waiting,
)

INTERVAL: Final = dt.timedelta(minutes=1)
TABLES_EVERY: Final = 60
"""Turns between two looks at all tables, which count every row."""
LOOK_SECONDS: Final = 30.0
"""A store that has not answered by then does not answer."""

_log = structlog.get_logger()


@dataclass(slots=True)
class StoreFacts:
    """What the last looks found; a time is None before the first."""

    is_writable: bool = True
    checked_at: dt.datetime | None = None
    waiting: list[Waiting] = field(default_factory=list)
    tables: list[TableSize] = field(default_factory=list)
    dead: int = 0
    tables_at: dt.datetime | None = None
    free_bytes: int | None = None
    database_bytes: int | None = None
    wal_bytes: int | None = None


class Gauges:
    """
    A service that looks once a minute, first when it starts; at the tables hourly.

    A store that fails is a finding here and no crash: it says so in `facts`.
    """

    name = "gauges"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(self, runtime: Runtime, registry: LoopRegistry) -> None:
        self.facts = StoreFacts()
        self._runtime = runtime
        self._registry = registry

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Look at each turn until cancelled."""
        task_status.started()
        late_by = dt.timedelta(0)
        turn = 0
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            await self.look(is_whole=turn % TABLES_EVERY == 0)
            turn += 1
            self._registry.succeed(self.name)
            late_by = await pause(self._runtime.clock, INTERVAL, beat)

    async def look(self, *, is_whole: bool) -> None:
        """Look at the disk and the store; `is_whole` at every table too."""
        self._look_at_disk()
        try:
            with anyio.fail_after(LOOK_SECONDS):
                await self._look_at_store(is_whole=is_whole)
        except TimeoutError:
            self._put_writable(StoreUnavailable("the store does not answer"))
        except StoreError as error:
            self._put_writable(error)
        else:
            self._put_writable(None)

    def _look_at_disk(self) -> None:
        """Read sizes; a folder that cannot be looked at leaves them unknown."""
        config, facts = self._runtime.config, self.facts
        facts.free_bytes = _read_free(config.state_dir)
        if not config.database_url:
            path = config.state_dir / DATABASE_NAME
            facts.database_bytes = _read_size(path)
            facts.wal_bytes = _read_size(path.with_name(path.name + "-wal"))

    async def _look_at_store(self, *, is_whole: bool) -> None:
        runtime, facts = self._runtime, self.facts
        sinks = [relay.name for relay in runtime.relays]

        async def read(tx: Transaction) -> list[Waiting]:
            return await list_waiting(tx, sinks)

        async def measure(tx: Transaction) -> tuple[list[TableSize], int]:
            return await list_table_sizes(tx), await count_dead(tx)

        # Nothing is written, and yet only a writer of a writable store gets so far.
        await runtime.database.transact(_write_nothing)
        facts.waiting = await runtime.database.read(read)
        if is_whole:
            facts.tables, facts.dead = await runtime.database.read(measure)
            facts.tables_at = runtime.clock.now()

    def _put_writable(self, error: StoreError | None) -> None:
        facts = self.facts
        was_writable, facts.is_writable = facts.is_writable, error is None
        facts.checked_at = self._runtime.clock.now()
        if error is not None and was_writable:
            _log.error("store.unwritable", code=error.code, message=str(error))
        elif error is None and not was_writable:
            _log.info("store.writable")


async def _write_nothing(_: Transaction) -> None:
    return


def _read_free(folder: Path) -> int | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def _read_size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
