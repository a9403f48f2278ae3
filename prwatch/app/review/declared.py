"""Bringing the stored review watches in line with what a source declares."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from prwatch.app.runtime import Runtime
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
from prwatch.domain.watch_file_plan import ORIGIN_WORDS
from prwatch.store import review_watches
from prwatch.store.database import Transaction

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class DeclaredReviews:
    """The plan that was applied, and the warnings about names that others have."""

    steps: tuple[ReviewStep, ...]
    warnings: tuple[str, ...]


async def put_declared_reviews(
    runtime: Runtime,
    workspace: Workspace,
    desired: Sequence[DesiredReviewWatch],
    *,
    origin: Origin,
    heirs: Sequence[DesiredReviewWatch] = (),
    is_final: bool = True,
) -> DeclaredReviews:
    """
    Plan and apply what one source declares in a workspace, and return the plan.

    `heirs` and `is_final` are those of `plan_review_watches`.
    """

    async def read(tx: Transaction) -> list[ReviewWatch]:
        return await review_watches.list_review_watches(tx, workspace.id)

    stored = await runtime.database.read(read)
    taken = list_taken(desired, stored, origin=origin)
    warnings = tuple(warn_of_taken(watch) for watch in taken)
    for text in warnings if origin is Origin.CONFIG else ():
        _log.warning("review_watch.taken", workspace=workspace.name, warning=text)
    steps = plan_review_watches(
        desired, stored, origin=origin, heirs=heirs, is_final=is_final
    )
    if steps:
        await _apply(runtime, workspace, steps)
    return DeclaredReviews(steps, warnings)


def warn_of_taken(watch: ReviewWatch) -> str:
    """Return what people are told of a declared name that another one has."""
    owner = ORIGIN_WORDS.get(watch.origin, "one who made it")
    what = f"review watch {watch.name} is left to the {owner}"
    if watch.origin is Origin.CONFIG:
        return f"{what}; take it out of one of the two, or choose another name"
    return (
        f"{what}; choose another name, or let it go: prwatch review remove {watch.name}"
    )


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
                    if not await review_watches.add_review_watch(tx, watch):
                        # The name is one whose row cannot be read.
                        await review_watches.mend_review_watch(tx, watch)
                case PutReviewWatch(watch=watch, wanted=wanted, origin=origin):
                    await review_watches.put_review_settings(
                        tx, watch.id, wanted.settings
                    )
                    await review_watches.put_review_owner(
                        tx, watch.id, origin, wanted.written_as
                    )
                case RemoveReviewWatch(watch=watch):
                    await review_watches.remove_review_watch(tx, watch)

    await runtime.database.transact(write)
