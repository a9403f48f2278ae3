"""What is stored of a folder before its turn, and the storing of what was read."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace

from prwatch.app.runtime import Runtime
from prwatch.app.sync.memory import Followed
from prwatch.domain.connection import Connection
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file import WatchFile, WatchFolder
from prwatch.store import connections, watch_files
from prwatch.store.database import Transaction
from prwatch.store.watch_files import StoredCircuit


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFolder:
    """What is stored of a folder before its turn."""

    folder: WatchFolder
    files: Mapping[str, WatchFile]
    circuit: StoredCircuit | None
    connection: Connection


class Stored(enum.Enum):
    """What became of storing a reading."""

    DONE = enum.auto()
    REFUSED = enum.auto()
    """The workspace has another connection now, or follows the folder no more."""
    OUTRUN = enum.auto()
    """Somebody else has stored a reading since."""


async def load_folder(runtime: Runtime, followed: Followed) -> StoredFolder | None:
    """Return what is stored of a folder, None where it cannot be followed."""
    folder_id, workspace_id = followed.folder.id, followed.workspace.id

    async def load(tx: Transaction) -> StoredFolder | None:
        connection = await connections.find_connection(tx, workspace_id)
        folders = await watch_files.list_folders(tx, workspace_id)
        folder = next((each for each in folders if each.id == folder_id), None)
        if connection is None or folder is None:
            return None
        return StoredFolder(
            folder=folder,
            files=await watch_files.list_files(tx, folder_id),
            circuit=await watch_files.find_circuit(tx, folder_id),
            connection=connection,
        )

    return await runtime.database.read(load)


async def store_files(
    runtime: Runtime, stored: StoredFolder, tag: str, files: Mapping[str, WatchFile]
) -> Stored:
    """Store a folder's files, where nothing came between since it was loaded."""
    connection, before = stored.connection, stored.folder
    folder = replace(
        before,
        tag=tag,
        fingerprint=connection.fingerprint,
        changed_at=runtime.clock.now(),
    )

    async def write(tx: Transaction) -> Stored:
        # The first statement is the one that two writers wait for each other at.
        is_first = await watch_files.put_reading(tx, folder, before=before)
        if not await _is_accessible(tx, folder, connection):
            raise _AccessChanged
        if not is_first:
            return Stored.OUTRUN
        await watch_files.replace_files(tx, folder, files)
        return Stored.DONE

    try:
        return await runtime.database.transact(write)
    except _AccessChanged:
        return Stored.REFUSED


async def has_access(
    runtime: Runtime, workspace: Workspace, connection: Connection
) -> bool:
    """Return whether a workspace still has the connection that read its folders."""

    async def read(tx: Transaction) -> bool:
        now = await connections.find_connection(tx, workspace.id)
        return now is not None and now.fingerprint == connection.fingerprint

    return await runtime.database.read(read)


async def list_stored_folders(
    runtime: Runtime, workspace: Workspace
) -> tuple[WatchFolder, ...]:
    """Return the stored folders of a workspace; they differ once a file changed."""

    async def read(tx: Transaction) -> list[WatchFolder]:
        return await watch_files.list_folders(tx, workspace.id)

    return tuple(await runtime.database.read(read))


class _AccessChanged(Exception):
    """Ends a transaction without a trace."""


async def _is_accessible(
    tx: Transaction, folder: WatchFolder, connection: Connection
) -> bool:
    now = await connections.find_connection(tx, folder.workspace_id)
    left = await watch_files.list_folders(tx, folder.workspace_id)
    is_same = now is not None and now.fingerprint == connection.fingerprint
    return is_same and any(each.id == folder.id for each in left)
