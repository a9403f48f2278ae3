"""What `prwatch review restore` does: a review task that went comes back."""

from dataclasses import dataclass, replace
from typing import Any

from prwatch.app.command.workbench import Workbench
from prwatch.domain.ids import build_id
from prwatch.domain.review_undo import build_restored, build_restored_row, find_undo
from prwatch.domain.review_watch import AuditAction, AuditActor, ReviewAudit
from prwatch.domain.task import Origin, Task, Workspace
from prwatch.errors import ConfigError, NotFound, PrwatchError
from prwatch.store import (
    review_audit,
    review_sweep,
    review_tasks,
    review_watches,
    tasks,
)
from prwatch.store.database import Transaction
from prwatch.store.task_removal import TaskBundle, add_bundle, parse_bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A task that came back."""

    workspace: str
    external_id: str

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"id": self.external_id, "workspace": self.workspace, "restored": True}


async def restore_review(
    bench: Workbench, name: str, *, workspace: str = ""
) -> Restored:
    """
    Bring back the review task of that name, or of that entry of the record.

    It is the person's from then on: cleaning up leaves it alone.

    Raises:
        NotFound: No task of that name went, or its time to undo is over.
        ConfigError: Tasks of several workspaces are meant.
        PrwatchError: There is a task of its name, or what was kept of it is broken.
    """
    now = bench.surroundings.clock.now()
    found: list[tuple[Workspace, ReviewAudit]] = []
    for one in await bench.list_workspaces(workspace):

        async def read(tx: Transaction, one: Workspace = one) -> list[ReviewAudit]:
            return await review_audit.list_audit_of_task(tx, one.id, name)

        entry = find_undo(await bench.database.read(read), now)
        if entry is not None:
            found.append((one, entry))
    if not found:
        raise NotFound(
            f"there is nothing to restore of {name}",
            hint="`prwatch review show` tells what went, and how long it comes back",
        )
    if len(found) > 1:
        names = ", ".join(one.name for one, _ in found)
        raise ConfigError(f"choose one with --workspace: {names}")
    ((chosen, entry),) = found
    await _restore(bench, chosen, entry)
    await bench.nudge()
    return Restored(workspace=chosen.name, external_id=entry.external_id)


async def _restore(bench: Workbench, workspace: Workspace, entry: ReviewAudit) -> None:
    now, chance = bench.surroundings.clock.now(), bench.surroundings.chance
    try:
        bundle = parse_bundle(entry.snapshot)
    except ValueError as error:
        raise PrwatchError(
            f"what was kept of {entry.external_id} cannot be understood",
            hint="`prwatch review poll` makes it anew while its review is asked for",
        ) from error
    restored = replace(bundle, task=build_restored(bundle.task, now))
    told = replace(
        entry,
        id=build_id(now, chance),
        action=AuditAction.RESTORED,
        reason="asked_for",
        evidence={},
        acted_at=now,
        acted_by=AuditActor.PERSON,
        snapshot={},
        undo_until=None,
    )

    async def write(tx: Transaction) -> bool:
        # Held first: a row must not come back to a watch that is removed in between.
        await review_sweep.hold_watches(tx, workspace.id)
        if not await add_bundle(tx, restored):
            return False
        await _add_rows(tx, workspace, bundle)
        await review_audit.add_audit(tx, told)
        return True

    if not await bench.database.transact(write):
        raise await _find_refusal(bench, workspace, entry.external_id)


async def _find_refusal(
    bench: Workbench, workspace: Workspace, name: str
) -> PrwatchError:
    """Return why a task cannot come back: its name is that of one that is there."""

    async def read(tx: Transaction) -> Task | None:
        return await tasks.find_task(tx, workspace.id, name)

    found = await bench.database.read(read)
    if found is not None and found.origin is Origin.REVIEW:
        hint = "its review is asked for again, and it was made anew"
    else:
        hint = "it was brought back already, or somebody made one of that name"
    return PrwatchError(f"there is a task {name} in {workspace.name}", hint=hint)


async def _add_rows(tx: Transaction, workspace: Workspace, bundle: TaskBundle) -> None:
    watches, broken = await review_watches.read_review_watches(tx, workspace.id)
    ids = {each.id for each in watches} | {each.id for each in broken}
    for row in bundle.reviews:
        await review_tasks.add_review_task(tx, build_restored_row(row, ids))
