"""Review tasks of removed review watches: as people see them, and what they decide."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prwatch.app.command.review.kept import list_kept, read_skips
from prwatch.app.command.review.listing import (
    AUDIT_LIMIT,
    ReviewTaskRow,
    build_task_row,
    render_audit,
)
from prwatch.app.command.workbench import Workbench
from prwatch.domain.ids import build_id
from prwatch.domain.review_cleanup import SweptRow, SweptTask
from prwatch.domain.review_ending import Ending, build_audit
from prwatch.domain.review_watch import (
    AuditAction,
    AuditActor,
    CleanupPolicy,
    ReviewAudit,
)
from prwatch.domain.task import Origin, Workspace
from prwatch.errors import ConfigError, NotFound, StoreConflict
from prwatch.store import (
    connections,
    review_audit,
    review_left,
    review_tasks,
    review_watches,
    tasks,
)
from prwatch.store.database import Transaction
from prwatch.store.review_sweep import find_swept, hold_task, list_swept


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTask:
    """A review task that a removed watch left, and under which policy."""

    workspace: str
    policy: CleanupPolicy
    task: ReviewTaskRow

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {**self.task.as_json(), "policy": self.policy.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftReviews:
    """
    What the removed review watches of a workspace left, with their newest record.

    `unreadable` are rows that cannot be understood.
    """

    workspace: str
    tasks: tuple[LeftTask, ...]
    audit: tuple[ReviewAudit, ...]
    unreadable: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "workspace": self.workspace,
            "tasks": [each.as_json() for each in self.tasks],
            "unreadable_tasks": self.unreadable,
            "audit": [render_audit(each) for each in self.audit],
        }


async def list_left(bench: Workbench, *, workspace: str = "") -> list[LeftReviews]:
    """
    List what removed review watches left, by workspace; nothing where they left none.

    Raises:
        NotFound: There is no such workspace.
    """
    skips = await read_skips(bench)
    found = [
        await _read_left(bench, one, skips)
        for one in await bench.list_workspaces(workspace)
    ]
    return [each for each in found if each.tasks or each.audit or each.unreadable]


async def put_policy(
    bench: Workbench, name: str, policy: CleanupPolicy, *, workspace: str = ""
) -> LeftTask:
    """
    Choose anew when a task goes that a removed review watch left.

    Raises:
        NotFound: No removed review watch left a task of that name.
        ConfigError: Several workspaces have one.
    """
    chosen, swept = await _find(bench, name, workspace)

    async def write(tx: Transaction) -> bool:
        return await review_left.put_left_policy(tx, chosen.id, swept.task_id, policy)

    await bench.database.transact(write)
    await bench.nudge()
    left = await list_left(bench, workspace=chosen.name)
    found = [each for one in left for each in one.tasks if each.task.id == name]
    if not found:
        raise StoreConflict(f"{name} went meanwhile")
    return found[0]


async def release_task(bench: Workbench, name: str, *, workspace: str = "") -> str:
    """
    Let a task that a removed review watch left be the person's own; it stays then.

    Returns the name of its workspace.

    Raises:
        NotFound: No removed review watch left a task of that name.
        ConfigError: Several workspaces have one.
        StoreConflict: It went in this moment.
    """
    chosen, swept = await _find(bench, name, workspace)
    now, chance = bench.surroundings.clock.now(), bench.surroundings.chance

    async def release(tx: Transaction) -> bool:
        if not await hold_task(tx, chosen.id, swept.task_id, CleanupPolicy.ALWAYS):
            return False
        found = await find_swept(tx, chosen.id, swept.task_id)
        left = _list_left(found) if found else ()
        if found is not None and left:
            ending = Ending(
                workspace=chosen,
                swept=replace(found, rows=left),
                action=AuditAction.RELEASED,
                reason="asked_for",
                acted_at=now,
                acted_by=AuditActor.PERSON,
            )
            for entry in build_audit(ending, [build_id(now, chance) for _ in left], {}):
                await review_audit.add_audit(tx, entry)
        await tasks.put_task_origin(tx, swept.task_id, Origin.COMMAND)
        await review_left.remove_left(tx, chosen.id, swept.task_id)
        return True

    if not await bench.database.transact(release):
        raise StoreConflict(f"{name} went meanwhile, or is somebody's own by now")
    await bench.nudge()
    return chosen.name


async def _read_left(
    bench: Workbench, workspace: Workspace, skips: Mapping[str, Any]
) -> LeftReviews:
    key = workspace.id

    async def read(tx: Transaction) -> LeftReviews:
        swept = await list_swept(tx, key)
        connection = await connections.find_connection(tx, key)
        kept = list_kept(swept, connection, skips)
        _, broken = await review_tasks.read_review_tasks(tx, key)
        present, odd = await review_watches.read_review_watches(tx, key)
        ids = {each.id for each in present} | {each.id for each in odd}
        entries = await review_left.list_audit_of_removed(tx, key, limit=AUDIT_LIMIT)
        return LeftReviews(
            workspace=workspace.name,
            tasks=tuple(
                LeftTask(
                    workspace=workspace.name,
                    policy=row.policy,
                    task=build_task_row(row.row, each.task, kept.get(row.row.id)),
                )
                for each in swept
                for row in _list_left(each)
            ),
            audit=tuple(entries),
            unreadable=sum(watch_id not in ids for watch_id in broken.values()),
        )

    return await bench.database.read(read)


async def _find(
    bench: Workbench, name: str, workspace: str
) -> tuple[Workspace, SweptTask]:
    found: list[tuple[Workspace, SweptTask]] = []
    for one in await bench.list_workspaces(workspace):

        async def read(tx: Transaction, one: Workspace = one) -> list[SweptTask]:
            return await list_swept(tx, one.id)

        found += [
            (one, each)
            for each in await bench.database.read(read)
            if each.task and each.task.external_id == name and _list_left(each)
        ]
    if not found:
        raise NotFound(
            f"no removed review watch left {name}",
            hint="`prwatch review show --removed` tells what they left; what a review"
            " watch has that is there goes by its policy",
        )
    if len(found) > 1:
        names = ", ".join(one.name for one, _ in found)
        raise ConfigError(f"choose one with --workspace: {names}")
    return found[0]


def _list_left(swept: SweptTask) -> tuple[SweptRow, ...]:
    return tuple(each for each in swept.rows if each.watch is None)
