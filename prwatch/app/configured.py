"""Bringing what is stored in line with the configuration file."""

import contextlib

from prwatch.app.review.declared import put_declared_reviews
from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import load_folders, unite_rows
from prwatch.app.task_sync import FILE_ORIGINS, WORKTREE_ORIGINS
from prwatch.app.worktrees import list_searched
from prwatch.config.desired import build_desired
from prwatch.config.entries import Workspace as ConfiguredWorkspace
from prwatch.config.review import list_desired_reviews
from prwatch.domain.configured_plan import plan_configured
from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.desired_steps import TaskPlan
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Workspace
from prwatch.domain.watch_file_plan import United
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
        is_final = workspace.id not in runtime.sync_memory.unsettled
        declared = await _find_declared(runtime, workspace)
        await _put_tasks(runtime, workspace, declared, is_final=is_final)


async def put_configured(
    runtime: Runtime, workspace: Workspace, *, is_final: bool
) -> None:
    """
    Bring the tasks and the review watches of one workspace in line.

    What the configuration names no more goes to the watch file that declares it, and
    ends without one. Unless `is_final` it only ends later.
    """
    declared = await _find_declared(runtime, workspace)
    await _put_tasks(runtime, workspace, declared, is_final=is_final)
    await put_declared_reviews(
        runtime,
        workspace,
        list_desired_reviews(runtime.config)[workspace.name],
        origin=Origin.CONFIG,
        heirs=declared.reviews,
        is_final=is_final,
    )


async def _find_declared(runtime: Runtime, workspace: Workspace) -> United:
    """Return what the stored watch files of a workspace declare."""
    united = United(desired=DesiredWorkspace(name=workspace.name))
    if _get_entry(runtime, workspace).syncs:
        rows = await load_folders(runtime.database, workspace)
        with contextlib.suppress(ConfigError):
            united = unite_rows(runtime.config, workspace, rows)
    return united


async def _put_tasks(
    runtime: Runtime, workspace: Workspace, declared: United, *, is_final: bool
) -> None:
    """Where no folder is searched for worktrees any more, their tasks end too."""
    entry = _get_entry(runtime, workspace)
    desired = build_desired(entry.name, entry.watches, entry.tasks)
    is_searched = entry.name in list_searched(runtime.config)
    origins = FILE_ORIGINS if is_searched else FILE_ORIGINS | WORKTREE_ORIGINS
    login = list_logins(runtime).get(entry.name, "")

    def build(stored: Snapshot) -> TaskPlan:
        return plan_configured(
            desired,
            stored,
            declared=declared.desired,
            origins=origins,
            is_final=is_final,
            login=login,
        )

    host = runtime.wired.hosts[entry.name]
    await runtime.task_sync.put_planned(workspace, build, host=host)


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
