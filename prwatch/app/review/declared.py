"""Bringing the stored review watches in line with what a source declares."""

from collections.abc import Sequence

import structlog

from prwatch.app.runtime import Runtime
from prwatch.config.review import list_desired_reviews
from prwatch.domain.ids import build_id
from prwatch.domain.review_watch import ReviewWatch
from prwatch.domain.review_watch_plan import (
    AddReviewWatch,
    DesiredReviewWatch,
    PutReviewWatch,
    RemoveReviewWatch,
    ReviewStep,
    list_taken,
    plan_review_watches,
)
from prwatch.domain.task import Origin, Workspace
from prwatch.store import review_watches
from prwatch.store.database import Transaction

_log = structlog.get_logger()


async def put_configured_reviews(runtime: Runtime) -> None:
    """Bring the review watches of the configuration in line with its entries."""
    for name, desired in list_desired_reviews(runtime.config).items():
        await put_declared_reviews(
            runtime, runtime.wired.workspaces[name], desired, origin=Origin.CONFIG
        )


async def put_declared_reviews(
    runtime: Runtime,
    workspace: Workspace,
    desired: Sequence[DesiredReviewWatch],
    *,
    origin: Origin,
) -> tuple[ReviewStep, ...]:
    """
    Plan and apply what one source declares in a workspace, and return the plan.

    A name that is another source's watch is left to that one, with a warning.
    """

    async def read(tx: Transaction) -> list[ReviewWatch]:
        return await review_watches.list_review_watches(tx, workspace.id)

    stored = await runtime.database.read(read)
    for name in list_taken(desired, stored, origin=origin):
        _log.warning("review_watch.taken", workspace=workspace.name, name=name)
    steps = plan_review_watches(desired, stored, origin=origin)
    if steps:
        await _apply(runtime, workspace, steps)
    return steps


async def _apply(
    runtime: Runtime, workspace: Workspace, steps: Sequence[ReviewStep]
) -> None:
    now, chance = runtime.clock.now(), runtime.surroundings.chance
    named = [(step, build_id(now, chance)) for step in steps]

    async def write(tx: Transaction) -> None:
        for step, new_id in named:
            match step:
                case AddReviewWatch(wanted=wanted, origin=origin):
                    watch = ReviewWatch(
                        id=new_id,
                        workspace_id=workspace.id,
                        name=wanted.name,
                        settings=wanted.settings,
                        origin=origin,
                        written_as=wanted.written_as,
                        created_at=now,
                    )
                    await review_watches.add_review_watch(tx, watch)
                case PutReviewWatch(watch=watch, wanted=wanted):
                    await review_watches.put_review_settings(
                        tx, watch.id, wanted.settings
                    )
                    await review_watches.put_review_owner(
                        tx, watch.id, watch.origin, wanted.written_as
                    )
                case RemoveReviewWatch(watch=watch):
                    await review_watches.remove_review_watch(tx, watch)

    await runtime.database.transact(write)
