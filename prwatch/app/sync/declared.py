"""Bringing a workspace in line with what its stored watch files declare."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prwatch.app.review.declared import put_declared_reviews
from prwatch.app.runtime import Runtime
from prwatch.app.sync.next_look import list_unread
from prwatch.config.model import Config
from prwatch.config.watch_file import parse_watch_file
from prwatch.domain.desired_steps import TaskPlan
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Workspace
from prwatch.domain.watch_file import WatchFile, WatchFolder
from prwatch.domain.watch_file_plan import (
    Declaration,
    United,
    narrow_interests,
    plan_watch_files,
    unite,
    warn_of_held,
)
from prwatch.errors import ConfigError
from prwatch.store import watch_files
from prwatch.store.database import Database, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRows:
    """A folder with its files, as they are stored."""

    folder: WatchFolder
    files: tuple[WatchFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """How many steps it took, and what does not count although files declare it."""

    steps: int
    warnings: tuple[str, ...]


async def load_folders(database: Database, workspace: Workspace) -> list[FolderRows]:
    """Return the stored folders of a workspace with their files, by place."""

    async def load(tx: Transaction) -> list[FolderRows]:
        return [
            FolderRows(
                folder=folder,
                files=tuple((await watch_files.list_files(tx, folder.id)).values()),
            )
            for folder in await watch_files.list_folders(tx, workspace.id)
        ]

    return await database.read(load)


def unite_rows(
    config: Config, workspace: Workspace, rows: Iterable[FolderRows]
) -> United:
    """
    Return what the stored files of a workspace declare together.

    Raises:
        ConfigError: What a former version could read, this one cannot.
    """
    declarations: list[Declaration] = []
    for row in rows:
        declarations += [
            parse_watch_file(
                each.declared.encode(),
                name=each.name,
                place=f"{row.folder.place}/{each.name}",
                workspace=workspace.name,
                is_app=config.is_app(workspace.name),
            )
            for each in row.files
        ]
    return unite(workspace.name, declarations, {sink.name for sink in config.sinks})


async def is_declared(
    config: Config, database: Database, workspace: Workspace, external_id: str
) -> bool:
    """Return whether a stored file declares a task, as far as all can be read."""
    rows = await load_folders(database, workspace)
    try:
        united = unite_rows(config, workspace, rows)
    except ConfigError:
        return True
    return any(task.external_id == external_id for task in united.desired.tasks)


async def apply_declared(runtime: Runtime, workspace: Workspace) -> Applied:
    """
    Let the tasks and sinks of a workspace be what its stored files declare.

    Nothing is written when nothing differs. While a stored file cannot be read at all,
    nothing is taken away either: then nothing is done but to warn. While a folder is
    not read as a whole nothing ends, and all is compared anew in the next turn.
    """
    rows = await load_folders(runtime.database, workspace)
    try:
        united = unite_rows(runtime.config, workspace, rows)
    except ConfigError as error:
        return Applied(steps=0, warnings=error.problems)
    warnings: Sequence[str] = ()
    unread = list_unread(runtime.sync_memory, workspace.id)

    def build(stored: Snapshot) -> TaskPlan:
        nonlocal warnings
        login = find_login(runtime, workspace)
        found = plan_watch_files(united.desired, stored, login=login, unread=unread)
        warnings = found.warnings
        return found.plan

    plan = await runtime.task_sync.put_planned(
        workspace, build, host=runtime.wired.hosts[workspace.name]
    )
    reviews = await put_declared_reviews(
        runtime,
        workspace,
        united.reviews,
        origin=Origin.WATCH_FILE,
        is_final=not unread,
    )
    runtime.interests = narrow_interests(
        runtime.interests,
        workspace.name,
        united.narrowings,
        is_final=not unread,
    )
    runtime.sync_memory.applied.pop(workspace.id, None)
    if not unread and reviews.is_done:
        folders = tuple(row.folder for row in rows)
        runtime.sync_memory.applied[workspace.id] = folders
    held = [warn_of_held(what, unread) for what in reviews.held]
    return Applied(
        steps=len(plan.steps) + len(reviews.steps),
        warnings=(*united.warnings, *warnings, *reviews.warnings, *held),
    )


async def restore_narrowings(runtime: Runtime) -> None:
    """Let sinks leave out what stored files say, where no start has come before."""
    for entry in runtime.config.workspaces:
        if not entry.syncs:
            continue
        workspace = runtime.wired.workspaces[entry.name]
        rows = await load_folders(runtime.database, workspace)
        with contextlib.suppress(ConfigError):
            united = unite_rows(runtime.config, workspace, rows)
            runtime.interests = narrow_interests(
                runtime.interests, workspace.name, united.narrowings
            )


def find_login(runtime: Runtime, workspace: Workspace) -> str:
    """Return who `@me` is in a workspace, '' while GitHub was not asked."""
    for account in runtime.wired.accounts:
        if workspace in account.workspaces and account.viewer is not None:
            return account.viewer.login
    return ""
