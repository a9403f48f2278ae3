"""Making the stored watches equal to the work: read worktrees, plan, apply."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from prwatch.app.walk.cycle import Cycle
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.handover import plan_handovers
from prwatch.domain.ids import build_id
from prwatch.domain.reconcile import Move, NewWatch, Removal, plan
from prwatch.domain.targets import (
    LiveReading,
    ReadingKey,
    list_readings,
    resolve_targets,
)
from prwatch.domain.watch import Watch
from prwatch.store import tasks, watches
from prwatch.store.database import Transaction

S = TypeVar("S")

CHUNK = 400
"""Steps in one transaction; each changes one row, and 500 is the bound."""


class Worktrees(Protocol):
    """Who can say which branch a worktree is on now."""

    async def read(
        self, view: WorkspaceView, keys: Sequence[ReadingKey]
    ) -> Mapping[ReadingKey, LiveReading]:
        """Return a reading for each key; it never raises for a single worktree."""
        ...


async def reconcile(
    cycle: Cycle, view: WorkspaceView, worktrees: Worktrees
) -> WorkspaceView:
    """
    Bring a workspace's watches in line with its targets, and return its new view.

    Nothing is written when the plan is empty. The view that comes back knows the
    targets that it was planned for.
    """
    keys = list_readings(view.snapshot)
    readings = dict(await worktrees.read(view, keys)) if keys else {}
    if view.planned_for == readings:
        return view
    targets = resolve_targets(view.snapshot, readings)
    steps = plan(targets, view.snapshot)
    work: list[Removal | Move | NewWatch | str] = [
        *steps.removes,
        *steps.moves,
        *steps.creates,
        *_list_yielding(view),
    ]
    for chunk in _chunks(work):
        await _apply(cycle, view, chunk)
    if work:
        await cycle.mirror.refresh()
        view = await cycle.mirror.view(view.workspace)
    view.targets = targets
    view.planned_for = readings
    return view


def _list_yielding(view: WorkspaceView) -> Iterator[str]:
    """
    List the adopted tasks whose pull request a named task watches already.

    While that one was not read yet, its first reading takes the watermark over.
    """
    for handover in plan_handovers(view.snapshot):
        if handover.destination.watermark is not None:
            yield handover.task.id


def _chunks(work: Sequence[S]) -> Iterator[Sequence[S]]:
    for start in range(0, len(work), CHUNK):
        yield work[start : start + CHUNK]


async def _apply(
    cycle: Cycle,
    view: WorkspaceView,
    work: Sequence[Removal | Move | NewWatch | str],
) -> None:
    now = cycle.now()
    new = {
        step: _build_watch(cycle, view, step)
        for step in work
        if isinstance(step, NewWatch)
    }

    async def write(tx: Transaction) -> None:
        for step in work:
            match step:
                case Removal():
                    await watches.remove_watch(tx, step.watch)
                case Move():
                    await watches.move_branch(
                        tx,
                        step.watch,
                        branch=step.branch,
                        head_repository=step.head_repository,
                        now=now,
                    )
                case NewWatch():
                    await watches.add_watch(tx, new[step])
                case str():
                    await tasks.archive_task(tx, step, now)

    await cycle.database.transact(write)


def _build_watch(cycle: Cycle, view: WorkspaceView, step: NewWatch) -> Watch:
    now = cycle.now()
    return Watch(
        id=build_id(now, cycle.chance),
        workspace_id=view.workspace.id,
        task_id=step.task_id,
        repository_id=step.repository_id,
        branch=step.branch,
        head_repository=step.head_repository,
        pr_number=step.pr_number,
        session_id=step.session_id,
        searching_since=None if step.pr_number else now,
        last_sign_at=now,
        created_at=now,
    )
