"""
Making one review task of one hit, whoever else finds it at the same time.

The pull request is reserved first; the task, its place in the reservation and its
event are one transaction. What cannot be made is released, and what a crash leaves
reserved is taken over after a while: one task and one event in any case.
"""

import contextlib
import enum
from collections.abc import Awaitable
from typing import Final

import anyio

from prwatch.app.runtime import Runtime
from prwatch.domain.event_building import wants
from prwatch.domain.ids import build_id
from prwatch.domain.review_event import (
    ReviewRequest,
    build_review_requested,
    build_review_task,
)
from prwatch.domain.review_watch import RESERVED_FOR, ReviewTask
from prwatch.domain.task import Origin, Task
from prwatch.errors import StoreConflict, StoreError
from prwatch.store import outbox, review_audit, review_tasks, tasks
from prwatch.store.database import Transaction

RELEASE_SECONDS: Final = 5.0
CONFLICTS: Final = 2
"""How often it is tried again when somebody was in the way."""
MAX_NAMESAKES: Final = 100


class TakeUp(enum.StrEnum):
    """What became of a hit."""

    CREATED = "created"
    JOINED = "joined"
    """There was a task of it, such as that of another review watch: it is this one's
    too, and nothing is told again."""
    LEFT = "left"
    """Somebody else has it, or the watch was edited or removed meanwhile."""


async def take_up(
    runtime: Runtime, request: ReviewRequest, *, reserved_by: str
) -> TakeUp:
    """
    Reserve the pull request, then make its task and tell it.

    `reserved_by` must be another one for each poll.

    Raises:
        StoreConflict: No store takes this one; the reservation is given back.
        StoreError: It could not be made, nor could others; that is given back too.
    """
    now, chance = runtime.clock.now(), runtime.surroundings.chance
    row = ReviewTask(
        id=build_id(now, chance),
        workspace_id=request.workspace.id,
        review_watch_id=request.watch.id,
        policy=request.watch.settings.policy,
        pull_request=request.facts.pull_request,
        reserved_at=now,
        reserved_by=reserved_by,
        created_at=now,
    )

    async def reserve(tx: Transaction) -> bool:
        return await review_tasks.reserve_review_task(
            tx, row, request.watch, stale_before=now - RESERVED_FOR
        )

    if not await runtime.database.transact(reserve):
        return TakeUp.LEFT
    is_settled = False
    try:
        taken = await _create(runtime, request, row)
        is_settled = True
    finally:
        if not is_settled:
            await _release(runtime, row)
    if taken is TakeUp.CREATED:
        runtime.notify_relays()
    return taken


async def _create(runtime: Runtime, request: ReviewRequest, row: ReviewTask) -> TakeUp:
    for _ in range(CONFLICTS):
        # Whoever made the task in this instant has committed it: it is joined then.
        with contextlib.suppress(StoreConflict):
            return await _create_once(runtime, request, row)
    return await _create_once(runtime, request, row)


async def _create_once(
    runtime: Runtime, request: ReviewRequest, row: ReviewTask
) -> TakeUp:
    now, chance = row.reserved_at, runtime.surroundings.chance
    task_id, event_id = build_id(now, chance), build_id(now, chance)

    async def create(tx: Transaction) -> TakeUp:
        name, known = await _find_known(tx, row)
        if not await review_tasks.assign_review_task(
            tx, row, known.id if known else task_id
        ):
            return TakeUp.LEFT
        if known is not None:
            return TakeUp.JOINED
        task = build_review_task(request, task_id=task_id, name=name, now=now)
        event = build_review_requested(
            request, task, event_id=event_id, source=runtime.source
        )
        sinks = [each.sink for each in runtime.interests if wants(each, event)]
        if not await tasks.add_task(tx, task):
            raise StoreConflict(f"somebody made the task {name} meanwhile")
        await outbox.add_events(tx, [event], {event.id: sinks}, now=now)
        return TakeUp.CREATED

    return await runtime.database.transact(create)


async def _find_known(tx: Transaction, row: ReviewTask) -> tuple[str, Task | None]:
    """
    Return the name that its task has or gets, and the task if it is there.

    The pull request itself decides, under whatever name it was found first. A name may
    be that of another one's task: the repository was removed and made anew.
    """
    pull_request = row.pull_request
    node_id, name = pull_request.node_id, pull_request.external_id
    known = await _read_task(review_tasks.find_task_of(tx, row.workspace_id, node_id))
    for number in range(2, MAX_NAMESAKES):
        if known is None:
            known = await _read_task(tasks.find_task(tx, row.workspace_id, name))
        # Cleaning up may be removing it: what is gone then is made anew.
        if known and not await review_tasks.hold_joined_task(tx, known.id):
            known = None
        if known is None or not await _is_of_another(tx, known, node_id):
            return name, known
        name, known = f"{pull_request.external_id}~{number}", None
    raise StoreConflict(f"too many pull requests were named {name}")


async def _read_task(finding: Awaitable[Task | None]) -> Task | None:
    try:
        return await finding
    except (ValueError, OverflowError) as error:
        raise StoreConflict(f"the row of its task cannot be read: {error}") from error


async def _is_of_another(tx: Transaction, known: Task, node_id: str) -> bool:
    """
    Return whether a task was made of another pull request than that.

    One that became a person's may have no row that says so: the record does then.
    """
    if await review_tasks.is_of_another(tx, known.id, node_id):
        return True
    if known.origin is Origin.REVIEW:
        return False
    entries = await review_audit.list_audit_of_task(
        tx, known.workspace_id, known.external_id
    )
    return bool(entries) and entries[0].pull_request.node_id not in {"", node_id}


async def _release(runtime: Runtime, row: ReviewTask) -> None:
    """Give the reservation back, also when cancelled; else it ends by its age."""

    async def release(tx: Transaction) -> bool:
        return await review_tasks.release_review_task(tx, row)

    with (
        anyio.move_on_after(RELEASE_SECONDS, shield=True),
        contextlib.suppress(StoreError),
    ):
        await runtime.database.transact(release)
