"""Bringing the stored review watches in line with what a source declares."""

import contextlib
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from prwatch.app.review.leaving import remove_watch
from prwatch.app.runtime import Runtime
from prwatch.domain.ids import build_id
from prwatch.domain.review_watch import ReviewWatch, UnreadableReviewWatch
from prwatch.domain.review_watch_plan import (
    AddReviewWatch,
    DesiredReviewWatch,
    PutReviewWatch,
    RemoveReviewWatch,
    RenameReviewWatch,
    ReviewStep,
    list_ended,
    list_taken,
    plan_review_watches,
)
from prwatch.domain.task import Origin, Workspace
from prwatch.domain.watch_file_plan import ORIGIN_WORDS
from prwatch.errors import StoreConflict
from prwatch.store import review_watches
from prwatch.store.database import Transaction

TRIES: Final = 2
"""How often a plan is made anew when somebody changed a watch meanwhile."""
STEPS_AT_ONCE: Final = 100
"""Of one transaction; each writes up to three rows."""

_Named: TypeAlias = Sequence[tuple[ReviewStep, str]]
_Stored: TypeAlias = tuple[list[ReviewWatch], list[UnreadableReviewWatch]]
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class DeclaredReviews:
    """
    The plan that was applied, and the warnings about what of it was not.

    Those are about names that others have, and about watches that somebody changes all
    the time; unless `is_done` there are some of these. `held` are the watches that
    nothing declares any more, where they do not end yet.
    """

    steps: tuple[ReviewStep, ...]
    warnings: tuple[str, ...]
    is_done: bool = True
    held: tuple[str, ...] = ()


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

    `heirs` and `is_final` are those of `plan_review_watches`. A watch that cannot be
    written is warned of, and keeps no other one from being written.
    """

    async def read(tx: Transaction) -> _Stored:
        return await review_watches.read_review_watches(tx, workspace.id)

    def plan(found: _Stored) -> tuple[ReviewStep, ...]:
        return plan_review_watches(
            desired,
            found[0],
            origin=origin,
            heirs=heirs,
            unreadable={each.name for each in found[1]},
            is_final=is_final,
        )

    stored = await runtime.database.read(read)
    taken = list_taken(desired, stored[0], origin=origin)
    warnings = [warn_of_taken(watch) for watch in taken]
    conflicts: list[str] = []
    steps = plan(stored)
    for _ in range(TRIES):
        # Somebody else may change a watch between the reading and the writing.
        with contextlib.suppress(StoreConflict):
            await _apply(runtime, workspace, steps)
            break
        steps = plan(await runtime.database.read(read))
    else:
        conflicts = await _apply_one_by_one(runtime, workspace, steps)
    if origin is Origin.CONFIG:
        _tell(workspace, warnings, conflicts)
    ended = list_ended(desired, stored[0], origin=origin, heirs=heirs)
    return DeclaredReviews(
        steps,
        (*warnings, *conflicts),
        is_done=not conflicts,
        held=() if is_final else tuple(f"review watch {each.name}" for each in ended),
    )


def _tell(workspace: Workspace, taken: Sequence[str], conflicts: Sequence[str]) -> None:
    """Log what a file's look would have told."""
    for text in taken:
        _log.warning("review_watch.taken", workspace=workspace.name, warning=text)
    for text in conflicts:
        _log.warning("review_watch.not_written", workspace=workspace.name, warning=text)


async def _apply_one_by_one(
    runtime: Runtime, workspace: Workspace, steps: Sequence[ReviewStep]
) -> list[str]:
    """Apply what can be applied; return the warnings about what cannot."""
    conflicts = []
    for step in steps:
        try:
            await _apply(runtime, workspace, [step])
        except StoreConflict as error:
            conflicts.append(f"{error}; it is brought in line later")
    return conflicts


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
    removals = [each.watch for each in steps if isinstance(each, RemoveReviewWatch)]
    others = [each for each in steps if not isinstance(each, RemoveReviewWatch)]
    now, chance = runtime.clock.now(), runtime.surroundings.chance
    for at in range(0, len(others), STEPS_AT_ONCE):
        named = [(s, build_id(now, chance)) for s in others[at : at + STEPS_AT_ONCE]]

        async def write(tx: Transaction, named: _Named = named) -> None:
            for step, new_id in named:
                await _write_step(tx, workspace, step, new_id, now)

        await runtime.database.transact(write)
    for watch in removals:
        await remove_watch(runtime.database, watch)


async def _write_step(
    tx: Transaction,
    workspace: Workspace,
    step: ReviewStep,
    new_id: str,
    now: dt.datetime,
) -> None:
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
        case RenameReviewWatch(watch=watch, wanted=wanted, origin=origin):
            if not await review_watches.rename_review_watch(tx, watch, wanted.name):
                raise StoreConflict(f"somebody changed the review watch {watch.name}")
            await review_watches.put_review_owner(
                tx, watch.id, origin, wanted.written_as
            )
        case PutReviewWatch(watch=watch, wanted=wanted, origin=origin):
            is_put = await review_watches.put_review_settings(
                tx, watch, wanted.settings
            )
            if not is_put and wanted.settings != watch.settings:
                raise StoreConflict(f"somebody changed the review watch {watch.name}")
            await review_watches.put_review_owner(
                tx, watch.id, origin, wanted.written_as
            )
