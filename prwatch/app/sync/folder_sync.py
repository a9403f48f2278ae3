"""
One turn of one folder of watch files: ask, read what changed, store, apply.

Nothing is asked for that a limit or an open circuit forbids, and then no token is
fetched. A folder in which nothing changed costs one request that GitHub does not count,
and no row.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from prwatch.app.limit_blocks import store_limits
from prwatch.app.runtime import Runtime
from prwatch.app.sync.declared import apply_declared, is_app
from prwatch.app.sync.folder_circuit import (
    build_fingerprint,
    close_circuit,
    holds_back,
    open_circuit,
)
from prwatch.app.sync.folder_reading import FolderReader, FolderReading
from prwatch.app.sync.memory import Followed, KnownTag
from prwatch.app.sync.outcome import FolderOutcome, SyncResult, classify_sync_error
from prwatch.app.walk.cycle import Account
from prwatch.domain.circuit import Cause
from prwatch.domain.connection import Connection
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import WatchFile, WatchFolder
from prwatch.errors import ConfigError, ProviderError, RateLimited
from prwatch.store import connections, watch_files
from prwatch.store.database import Transaction
from prwatch.store.watch_files import StoredCircuit

_ACCESS_CHANGED: Final[dict[str, Any]] = {
    "failure_class": FailureClass.AUTH,
    "code": "access_changed",
    "message": "the workspace's connection changed while the folder was read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What is stored of a folder before its turn."""

    folder: WatchFolder
    files: Mapping[str, WatchFile]
    circuit: StoredCircuit | None
    connection: Connection


async def sync_folder(
    runtime: Runtime,
    followed: Followed,
    *,
    is_forced: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> FolderOutcome:
    """
    Look at a folder, and let what its files declare be watched.

    With `is_forced` an open circuit holds nothing back, and the tasks are compared
    although no file changed.

    Raises:
        StoreError: The store failed.
    """
    account = _find_account(runtime, followed)
    stored = await _load(runtime, followed)
    if account is None or stored is None:
        return _skip(followed, "no_token")
    fingerprint = build_fingerprint(followed, stored.connection)
    circuit = stored.circuit
    if not is_forced and holds_back(runtime, followed, circuit, fingerprint):
        return _skip(followed, "circuit", circuit)
    until = account.github.limits.blocked_until("core")
    if until is not None and not is_forced:
        return replace(_skip(followed, "limit"), until=until)
    is_first = followed.folder.id not in runtime.sync_memory.looked_at
    runtime.sync_memory.looked_at[followed.folder.id] = runtime.clock.now()
    try:
        reading = await _read(
            runtime, followed, account, stored, is_first=is_first, progress=progress
        )
    except (ProviderError, ConfigError) as error:
        return await _fail(runtime, followed, circuit, error, fingerprint)
    finally:
        await store_limits(runtime.database, runtime.clock, account)
    if circuit is not None:
        await close_circuit(runtime, followed)
    return await _take(runtime, followed, stored, reading, is_forced=is_forced)


def _find_account(runtime: Runtime, followed: Followed) -> Account | None:
    for account in runtime.wired.accounts:
        if followed.workspace in account.workspaces:
            return account
    return None


async def _load(runtime: Runtime, followed: Followed) -> _Stored | None:
    folder_id, workspace_id = followed.folder.id, followed.workspace.id

    async def load(tx: Transaction) -> _Stored | None:
        connection = await connections.find_connection(tx, workspace_id)
        folders = await watch_files.list_folders(tx, workspace_id)
        folder = next((each for each in folders if each.id == folder_id), None)
        if connection is None or folder is None:
            return None
        return _Stored(
            folder=folder,
            files=await watch_files.list_files(tx, folder_id),
            circuit=await watch_files.find_circuit(tx, folder_id),
            connection=connection,
        )

    return await runtime.database.read(load)


async def _read(
    runtime: Runtime,
    followed: Followed,
    account: Account,
    stored: _Stored,
    *,
    is_first: bool,
    progress: Callable[[], None],
) -> FolderReading:
    """Read the folder. What was unreadable is read again once by each process."""
    folder, files = stored.folder, stored.files
    fingerprint = stored.connection.fingerprint
    known = runtime.sync_memory.tags.get(
        folder.id, KnownTag(folder.tag, folder.fingerprint)
    )
    tag = known.tag if known.fingerprint == fingerprint else ""
    is_again = is_first and any(each.problems for each in files.values())
    reader = FolderReader(
        contents=account.github.contents,
        folder=folder,
        is_app=is_app(runtime.config, followed.workspace),
        progress=progress,
    )
    return await reader.read(
        files, tag="" if is_again else tag, now=runtime.clock.now(), is_again=is_again
    )


async def _fail(
    runtime: Runtime,
    followed: Followed,
    before: StoredCircuit | None,
    error: ProviderError | ConfigError,
    fingerprint: str,
) -> FolderOutcome:
    failure_class = classify_sync_error(error)
    outcome = FolderOutcome(
        workspace=followed.workspace.name,
        place=followed.folder.place,
        result=SyncResult.FAILED,
        failure_class=failure_class,
        code=error.code,
        message=str(error),
    )
    if failure_class is FailureClass.LIMIT:
        return replace(
            outcome, until=error.retry_at if isinstance(error, RateLimited) else None
        )
    cause = Cause(failure_class=failure_class, code=error.code, message=str(error))
    circuit = await open_circuit(runtime, followed, before, cause, fingerprint)
    return replace(outcome, until=circuit.open_until)


async def _take(
    runtime: Runtime,
    followed: Followed,
    stored: _Stored,
    reading: FolderReading,
    *,
    is_forced: bool,
) -> FolderOutcome:
    """Store what was read, if it is news, and apply what all files declare then."""
    outcome = FolderOutcome(
        workspace=followed.workspace.name,
        place=followed.folder.place,
        result=SyncResult.UNCHANGED,
    )
    memory = runtime.sync_memory
    files = stored.files if reading.files is None else reading.files
    is_changed = files != stored.files
    if is_changed:
        memory.applied.discard(followed.workspace.id)
        if not await _store(runtime, stored, reading.tag, files):
            return replace(outcome, result=SyncResult.FAILED, **_ACCESS_CHANGED)
    memory.tags[stored.folder.id] = KnownTag(reading.tag, stored.connection.fingerprint)
    warnings = _list_problems(files.values(), is_there=reading.is_there)
    if not is_forced and followed.workspace.id in memory.applied:
        before = memory.outcomes.get(followed.folder.id)
        return replace(outcome, warnings=before.warnings if before else warnings)
    applied = await apply_declared(runtime, followed.workspace)
    return replace(
        outcome,
        result=SyncResult.CHANGED if is_changed else SyncResult.UNCHANGED,
        steps=applied.steps,
        warnings=(*warnings, *applied.warnings),
    )


async def _store(
    runtime: Runtime, stored: _Stored, tag: str, files: Mapping[str, WatchFile]
) -> bool:
    """
    Store the files, if the workspace still has the connection that read them.

    Return False, and store nothing, where it has another one, or follows the folder
    no more.
    """
    connection, folder = stored.connection, stored.folder
    folder = replace(
        folder,
        tag=tag,
        fingerprint=connection.fingerprint,
        changed_at=runtime.clock.now(),
    )

    async def write(tx: Transaction) -> bool:
        now = await connections.find_connection(tx, folder.workspace_id)
        left = await watch_files.list_folders(tx, folder.workspace_id)
        if now is None or now.fingerprint != connection.fingerprint:
            return False
        if all(each.id != folder.id for each in left):
            return False
        await watch_files.replace_files(tx, folder, files)
        return True

    return await runtime.database.transact(write)


def _list_problems(files: Iterable[WatchFile], *, is_there: bool) -> tuple[str, ...]:
    found = tuple(problem for each in files for problem in each.problems)
    return found if is_there else (*found, "the folder is not there")


def _skip(
    followed: Followed, reason: str, stored: StoredCircuit | None = None
) -> FolderOutcome:
    return FolderOutcome(
        workspace=followed.workspace.name,
        place=followed.folder.place,
        result=SyncResult.SKIPPED,
        reason=reason,
        until=stored.circuit.open_until if stored else None,
    )
