"""
Looking at one folder of watch files: ask, read what changed, store it.

Nothing is asked for that a limit or an open circuit forbids, and then no token is
fetched. A folder in which nothing changed costs one request that GitHub does not count,
and no row.
"""

import functools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from prwatch.app.runtime import Runtime
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.sync.folder_circuit import (
    build_fingerprint,
    close_circuit,
    holds_back,
    open_circuit,
)
from prwatch.app.sync.folder_reading import FolderReader, FolderReading
from prwatch.app.sync.folder_rows import Stored, StoredFolder, load_folder, store_files
from prwatch.app.sync.memory import FileCounts, Followed, KnownTag
from prwatch.app.sync.next_look import begin_look
from prwatch.app.sync.outcome import FolderOutcome, SyncResult, classify_sync_error
from prwatch.app.sync.remedy import find_remedy
from prwatch.app.walk.cycle import Account
from prwatch.domain.circuit import Cause
from prwatch.domain.connection import Connection
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import WatchFile
from prwatch.errors import ConfigError, ProviderError, RateLimited, StoreConflict
from prwatch.store.watch_files import StoredCircuit

ATTEMPTS: Final = 3
"""How often a folder is read while other processes store readings of it."""
ACCESS_CHANGED: Final[dict[str, Any]] = {
    "result": SyncResult.FAILED,
    "failure_class": FailureClass.AUTH,
    "code": "access_changed",
    "message": "the workspace's connection changed while the folder was read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLook:
    """
    What looking at a folder came to, before anything of it is applied.

    `connection` is the one that read it, None where it was not read.
    """

    followed: Followed
    outcome: FolderOutcome
    connection: Connection | None = None


async def look_at_folder(
    runtime: Runtime,
    followed: Followed,
    *,
    is_forced: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> FolderLook:
    """
    Look at a folder, and store what changed in it.

    With `is_forced` neither an open circuit, nor a limit that is known, nor a file's
    wait holds it back.

    Raises:
        StoreError: The store failed, or others stored readings all the time.
    """
    for _ in range(ATTEMPTS):
        account = _find_account(runtime, followed)
        stored = await load_folder(runtime, followed)
        runtime.sync_memory.whole.discard(followed.folder.id)
        if account is None or stored is None:
            return FolderLook(followed=followed, outcome=_skip(followed, "no_token"))
        held = None if is_forced else _hold_back(runtime, followed, account, stored)
        if held is not None:
            return FolderLook(followed=followed, outcome=held)
        read = functools.partial(
            _read, runtime, followed, account, is_forced=is_forced, progress=progress
        )
        look = await _look(runtime, followed, account, stored, read)
        if look is not None:
            return look
    raise StoreConflict(f"others read {followed.folder.place} all the time")


def _hold_back(
    runtime: Runtime, followed: Followed, account: Account, stored: StoredFolder
) -> FolderOutcome | None:
    fingerprint = build_fingerprint(followed, stored.connection)
    if holds_back(runtime, followed, stored.circuit, fingerprint):
        return _skip(followed, "circuit", stored.circuit)
    until = account.github.limits.blocked_until("core")
    if until is not None:
        return replace(_skip(followed, "limit"), until=until)
    return None


async def _look(
    runtime: Runtime,
    followed: Followed,
    account: Account,
    stored: StoredFolder,
    read: Callable[..., Awaitable[FolderReading]],
) -> FolderLook | None:
    """Ask, and store what is news; None where somebody else was first."""
    is_first = begin_look(runtime.sync_memory, followed, now=runtime.clock.now())
    try:
        reading = await read(stored, is_first=is_first)
    except (ProviderError, ConfigError) as error:
        failed = await _fail(runtime, followed, account, stored, error)
        return FolderLook(followed=followed, outcome=failed)
    finally:
        await store_limits(runtime.database, runtime.clock, account)
    if stored.circuit is not None:
        await close_circuit(runtime, followed)
    return await _keep(runtime, followed, stored, reading)


def _find_account(runtime: Runtime, followed: Followed) -> Account | None:
    for account in runtime.wired.accounts:
        if followed.workspace in account.workspaces:
            return account
    return None


async def _read(
    runtime: Runtime,
    followed: Followed,
    account: Account,
    stored: StoredFolder,
    *,
    is_first: bool,
    is_forced: bool,
    progress: Callable[[], None],
) -> FolderReading:
    """Read the folder. What was unreadable is read again once by each process."""
    folder, fingerprint = stored.folder, stored.connection.fingerprint
    known = runtime.sync_memory.tags.get(
        folder.id, KnownTag(folder.tag, folder.fingerprint)
    )
    if known.fingerprint != fingerprint:
        known = KnownTag("", fingerprint)
    reader = FolderReader(
        contents=account.github.contents,
        folder=folder,
        is_app=runtime.config.is_app(followed.workspace.name),
        progress=progress,
        chance=runtime.surroundings.chance,
        is_first=is_first,
        is_forced=is_forced,
    )
    reading = await reader.read(stored.files, known=known, now=runtime.clock.now())
    is_same = reading.files is None or (
        reading.absence is not None and reading.absence is known.absence
    )
    runtime.sync_memory.not_modified += is_same
    return reading


async def _fail(
    runtime: Runtime,
    followed: Followed,
    account: Account,
    stored: StoredFolder,
    error: ProviderError | ConfigError,
) -> FolderOutcome:
    failure_class = classify_sync_error(error)
    outcome = FolderOutcome(
        workspace=followed.workspace.name,
        place=followed.folder.place,
        result=SyncResult.FAILED,
        failure_class=failure_class,
        code=error.code,
        message=str(error),
        remedy=find_remedy(error.code, str(error), followed.folder) or error.hint,
    )
    if failure_class is FailureClass.LIMIT:
        known = error.retry_at if isinstance(error, RateLimited) else None
        return replace(
            outcome, until=known or account.github.limits.blocked_until("core")
        )
    cause = Cause(failure_class=failure_class, code=error.code, message=str(error))
    fingerprint = build_fingerprint(followed, stored.connection)
    circuit = await open_circuit(runtime, followed, stored.circuit, cause, fingerprint)
    return replace(outcome, until=circuit.open_until)


async def _keep(
    runtime: Runtime, followed: Followed, stored: StoredFolder, reading: FolderReading
) -> FolderLook | None:
    """Store what was read, if it is news; None where somebody else was first."""
    tags, key = runtime.sync_memory.tags, stored.folder.id
    files = stored.files if reading.files is None else reading.files
    outcome = FolderOutcome(
        workspace=followed.workspace.name,
        place=followed.folder.place,
        result=SyncResult.UNCHANGED,
    )
    if files != stored.files:
        became = await store_files(runtime, stored, reading.stored_tag, files)
        if became is not Stored.DONE:
            tags.pop(key, None)
        if became is Stored.OUTRUN:
            return None
        if became is Stored.REFUSED:
            refused = replace(outcome, **ACCESS_CHANGED)
            return FolderLook(followed=followed, outcome=refused)
        outcome = replace(outcome, result=SyncResult.CHANGED)
    frozen = sum(bool(each.problems) for each in files.values())
    runtime.sync_memory.files[key] = FileCounts(len(files) - frozen, frozen)
    fingerprint = stored.connection.fingerprint
    tags[key] = KnownTag(
        reading.tag, fingerprint, reading.absence, reading.waits, reading.listed
    )
    if reading.is_whole:
        runtime.sync_memory.whole.add(key)
    runtime.sync_memory.doubtful.discard(key)
    if reading.waits or any(each.is_mistaken for each in files.values()):
        runtime.sync_memory.doubtful.add(key)
    problems = _list_problems(files.values(), reading)
    return FolderLook(
        followed=followed,
        outcome=replace(outcome, warnings=problems),
        connection=stored.connection,
    )


def _list_problems(
    files: Iterable[WatchFile], reading: FolderReading
) -> tuple[str, ...]:
    found = [problem for each in files for problem in each.problems]
    if reading.absence is not None:
        found.append("the folder is not there")
    if reading.is_moved:
        found.append("the repository has another name now; write that one in its entry")
    return tuple(found)


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
