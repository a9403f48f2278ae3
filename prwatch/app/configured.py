"""Bringing what is stored in line with the configuration file."""

from dataclasses import dataclass

from prwatch.app.review.declared import put_declared_reviews
from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import load_folders, unite_rows
from prwatch.app.task_sync import FILE_ORIGINS, WORKTREE_ORIGINS
from prwatch.app.worktrees import list_searched
from prwatch.config.desired import build_desired
from prwatch.config.entries import Workspace as ConfiguredWorkspace
from prwatch.config.review import list_desired_reviews
from prwatch.domain.configured_plan import list_ends, plan_configured
from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.desired_steps import TaskPlan
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Workspace
from prwatch.domain.watch_file_plan import United, name_ends
from prwatch.errors import ConfigError


async def put_all_configured(runtime: Runtime) -> None:
    """Bring the tasks and the review watches of every workspace in line."""
    for entry in runtime.config.workspaces:
        workspace = runtime.wired.workspaces[entry.name]
        is_final = workspace.id not in runtime.sync_memory.unsettled
        await put_configured(runtime, workspace, is_final=is_final)


async def put_all_configured_tasks(runtime: Runtime) -> None:
    """Bring the tasks of every workspace in line."""
    for entry in runtime.config.workspaces:
        workspace = runtime.wired.workspaces[entry.name]
        declared = await _find_declared(runtime, workspace)
        is_settled = workspace.id not in runtime.sync_memory.unsettled
        is_final = is_settled and declared.is_known
        await _put_tasks(runtime, workspace, declared.united, is_final=is_final)


async def put_configured(
    runtime: Runtime, workspace: Workspace, *, is_final: bool
) -> tuple[str, ...]:
    """
    Bring the tasks and the review watches of one workspace in line.

    What the configuration names no more goes to the watch file that declares it, and
    ends without one. Unless `is_final`, or while a stored file cannot be read at all,
    it only ends later: return what waits, as people know it.
    """
    declared = await _find_declared(runtime, workspace)
    is_final = is_final and declared.is_known
    tasks = await _put_tasks(runtime, workspace, declared.united, is_final=is_final)
    reviews = await put_declared_reviews(
        runtime,
        workspace,
        list_desired_reviews(runtime.config)[workspace.name],
        origin=Origin.CONFIG,
        heirs=declared.united.reviews,
        is_final=is_final,
    )
    return (*tasks, *reviews.held)


@dataclass(frozen=True, slots=True)
class _Declared:
    """What the stored watch files of a workspace declare, where all can be read."""

    united: United
    is_known: bool = True


async def _find_declared(runtime: Runtime, workspace: Workspace) -> _Declared:
    nothing = United(desired=DesiredWorkspace(name=workspace.name))
    if not _get_entry(runtime, workspace).syncs:
        return _Declared(nothing)
    rows = await load_folders(runtime.database, workspace)
    try:
        return _Declared(unite_rows(runtime.config, workspace, rows))
    except ConfigError:
        return _Declared(nothing, is_known=False)


async def _put_tasks(
    runtime: Runtime, workspace: Workspace, declared: United, *, is_final: bool
) -> tuple[str, ...]:
    """
    Bring the tasks in line; return what ends later.

    Where no folder is searched for worktrees any more, their tasks end too.
    """
    entry = _get_entry(runtime, workspace)
    desired = build_desired(entry.name, entry.watches, entry.tasks)
    is_searched = entry.name in list_searched(runtime.config)
    origins = FILE_ORIGINS if is_searched else FILE_ORIGINS | WORKTREE_ORIGINS
    login = list_logins(runtime).get(entry.name, "")

    held: tuple[str, ...] = ()

    def plan(stored: Snapshot, *, is_final: bool) -> TaskPlan:
        return plan_configured(
            desired,
            stored,
            declared=declared.desired,
            origins=origins,
            is_final=is_final,
            login=login,
        )

    def build(stored: Snapshot) -> TaskPlan:
        nonlocal held
        if not is_final:
            ends = list_ends(plan(stored, is_final=True))
            held = tuple(name_ends(ends, stored))
        return plan(stored, is_final=is_final)

    host = runtime.wired.hosts[entry.name]
    await runtime.task_sync.put_planned(workspace, build, host=host)
    return held


def _get_entry(runtime: Runtime, workspace: Workspace) -> ConfiguredWorkspace:
    return next(
        entry for entry in runtime.config.workspaces if entry.name == workspace.name
    )


def list_logins(runtime: Runtime) -> dict[str, str]:
    """List who `@me` is, by workspace, as far as GitHub was asked."""
    return {
        workspace.name: account.viewer.login
        for account in runtime.wired.accounts
        for workspace in account.workspaces
        if account.viewer is not None
    }
