"""
Removing a review task whose work is done, and rows whose task is gone.

The task, each row that speaks of it, the entries of its record and the event are one
transaction. It is the last to look: what is not as it was decided on stays.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from prwatch.app.runtime import Runtime
from prwatch.domain.event_building import wants
from prwatch.domain.ids import build_id
from prwatch.domain.review_cleanup import is_as_decided
from prwatch.domain.review_ending import (
    RECORD_KEPT,
    Ending,
    build_audit,
    build_review_deleted,
)
from prwatch.store import outbox, review_audit, review_sweep, review_tasks
from prwatch.store.database import Transaction
from prwatch.store.task_removal import find_bundle, remove_task

CHUNK: Final = 200
MOST_CHUNKS: Final = 50


async def remove_done(
    runtime: Runtime, ending: Ending, *, is_allowed: Callable[[], bool]
) -> bool:
    """
    Remove a task with all its rows; return False when it is not as it was.

    `is_allowed` is asked last, when nobody can change anything any more.

    Raises:
        StoreError: Nothing was removed.
    """
    chance, swept = runtime.surroundings.chance, ending.swept
    event = build_review_deleted(
        ending,
        event_id=build_id(ending.acted_at, chance),
        source=runtime.source,
    )
    sinks = [each.sink for each in runtime.interests if wants(each, event)]
    ids = [build_id(ending.acted_at, chance) for _ in swept.rows]

    async def remove(tx: Transaction) -> bool:
        # Held first: on an engine with many writers this is what stops them.
        if not await review_sweep.hold_task(
            tx, swept.workspace_id, swept.task_id, swept.policy
        ):
            return False
        now = await review_sweep.find_swept(tx, swept.workspace_id, swept.task_id)
        if swept.task is None or not is_as_decided(swept, now):
            return False
        if not is_allowed():
            return False
        bundle = replace(
            await find_bundle(tx, swept.task),
            # A watch may be gone when it comes back: what it had counts then.
            reviews=tuple(each.as_left() for each in swept.rows),
        )
        for entry in build_audit(ending, ids, bundle.as_json()):
            await review_audit.add_audit(tx, entry)
        for each in swept.rows:
            await review_tasks.remove_review_task(tx, each.row.id)
        await remove_task(tx, swept.task_id)
        await outbox.add_events(tx, [event], {event.id: sinks}, now=ending.acted_at)
        return True

    removed = await runtime.database.transact(remove)
    if removed:
        runtime.notify_relays()
    return removed


async def drop_rows(runtime: Runtime, ending: Ending) -> bool:
    """
    Forget the rows of a task that is gone; return False when it is there again.

    Raises:
        StoreError: Nothing was forgotten.
    """
    chance, swept = runtime.surroundings.chance, ending.swept
    ids = [build_id(ending.acted_at, chance) for _ in swept.rows]

    async def drop(tx: Transaction) -> bool:
        await review_sweep.hold_rows(tx, swept.workspace_id, swept.task_id)
        now = await review_sweep.find_swept(tx, swept.workspace_id, swept.task_id)
        if not is_as_decided(swept, now):
            return False
        for entry in build_audit(ending, ids, {}):
            await review_audit.add_audit(tx, entry)
        for each in swept.rows:
            await review_tasks.remove_review_task(tx, each.row.id)
        return True

    return await runtime.database.transact(drop)


async def forget_old_records(runtime: Runtime, now: dt.datetime) -> None:
    """
    Forget what would restore tasks whose time to undo is over, and old entries.

    One turn is bounded; what is left waits for the next.

    Raises:
        StoreError: What was forgotten until then stays forgotten.
    """

    async def forget(tx: Transaction) -> int:
        return await review_audit.forget_snapshots(tx, now, limit=CHUNK)

    async def prune(tx: Transaction) -> int:
        before = now - RECORD_KEPT
        return await review_audit.prune_audit(tx, before=before, now=now, limit=CHUNK)

    for write in (forget, prune):
        for _ in range(MOST_CHUNKS):
            if await runtime.database.transact(write) < CHUNK:
                break
