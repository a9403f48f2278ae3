"""Which folders of watch files are followed: rows for those that are configured."""

from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import apply_declared
from prwatch.app.sync.memory import Followed
from prwatch.config.sync import Sync
from prwatch.domain.ids import build_id
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file import WatchFolder
from prwatch.store import watch_files
from prwatch.store.database import Transaction


async def settle_folders(runtime: Runtime) -> None:
    """
    Let just the configured folders be stored and followed, in their order.

    What the files of another one declared ends with it, as if they were gone. What
    the stored ones narrow holds from now on. Done once a start, before any cycle.
    """
    followed: list[Followed] = []
    for entry in runtime.config.workspaces:
        workspace = runtime.wired.workspaces[entry.name]
        before, stored = await _put_folders(runtime, workspace, entry.syncs)
        followed += [
            Followed(workspace=workspace, entry=sync, folder=stored[sync.place])
            for sync in entry.syncs
        ]
        if before:
            await apply_declared(runtime, workspace)
    runtime.sync_memory.followed = tuple(followed)


async def _put_folders(
    runtime: Runtime, workspace: Workspace, syncs: tuple[Sync, ...]
) -> tuple[bool, dict[tuple[str, str, str], WatchFolder]]:
    """Return whether any was stored before, and those that are stored now, by place."""
    now = runtime.clock.now()
    wanted = {sync.place: sync for sync in syncs}

    async def load(tx: Transaction) -> dict[tuple[str, str, str], WatchFolder]:
        folders = await watch_files.list_folders(tx, workspace.id)
        return {(each.repository, each.branch, each.path): each for each in folders}

    stored = await runtime.database.read(load)
    if stored.keys() == wanted.keys():
        return bool(stored), stored
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
    return bool(stored), await runtime.database.read(load)
