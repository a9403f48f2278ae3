"""Which folders of watch files are followed: rows for those that are configured."""

import structlog

from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import apply_declared
from prwatch.app.sync.memory import Followed
from prwatch.config.sync import Sync
from prwatch.domain.ids import build_id
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file import WatchFolder
from prwatch.store import watch_files
from prwatch.store.database import Transaction

_log = structlog.get_logger()


async def put_folders(runtime: Runtime) -> None:
    """
    Let just the configured folders be stored and followed, in their order.

    Done once a start, before any cycle. Where some are looked at by themselves, what
    the configuration names no more waits until all were read: it may stand there now.
    """
    followed: list[Followed] = []
    for entry in runtime.config.workspaces:
        workspace = runtime.wired.workspaces[entry.name]
        stored = await _put_folders(runtime, workspace, entry.syncs)
        followed += [
            Followed(workspace=workspace, entry=sync, folder=stored[sync.place])
            for sync in entry.syncs
        ]
        if any(sync.poll_enabled for sync in entry.syncs):
            runtime.sync_memory.unsettled.add(workspace.id)
    runtime.sync_memory.followed = tuple(followed)


async def apply_stored(runtime: Runtime) -> None:
    """
    Let the tasks of each workspace be what its stored files declare.

    What the files of a folder declared that is followed no more ends with it, as if
    they were gone, also when a start that took it away was cut off.
    """
    for workspace in runtime.wired.workspaces.values():

        async def read(tx: Transaction, key: str = workspace.id) -> bool:
            return await watch_files.has_any(tx, key)

        if await runtime.database.read(read):
            applied = await apply_declared(runtime, workspace)
            # Where folders are followed, the first look at them tells it.
            is_told = _is_followed(runtime, workspace)
            for warning in () if is_told else applied.warnings:
                _log.warning("sync.warned", workspace=workspace.name, warning=warning)


def _is_followed(runtime: Runtime, workspace: Workspace) -> bool:
    followed = runtime.sync_memory.followed
    return any(each.workspace == workspace for each in followed)


async def _put_folders(
    runtime: Runtime, workspace: Workspace, syncs: tuple[Sync, ...]
) -> dict[tuple[str, str, str], WatchFolder]:
    """Return the folders that are stored now, by place."""
    now = runtime.clock.now()
    wanted = {sync.place: sync for sync in syncs}

    async def load(tx: Transaction) -> dict[tuple[str, str, str], WatchFolder]:
        folders = await watch_files.list_folders(tx, workspace.id)
        return {(each.repository, each.branch, each.path): each for each in folders}

    stored = await runtime.database.read(load)
    if stored.keys() == wanted.keys():
        return stored
    new = [
        WatchFolder(
            id=build_id(now, runtime.surroundings.chance),
            workspace_id=workspace.id,
            repository=repository,
            branch=branch,
            path=path,
        )
        for repository, branch, path in wanted
        if (repository, branch, path) not in stored
    ]
    gone = [folder.id for place, folder in stored.items() if place not in wanted]

    async def write(tx: Transaction) -> None:
        for folder_id in gone:
            await watch_files.remove_folder(tx, folder_id)
        for folder in new:
            await watch_files.add_folder(tx, folder)

    await runtime.database.transact(write)
    return await runtime.database.read(load)
