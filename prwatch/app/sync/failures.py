"""What one pass reports of folders of watch files, and when that is all of them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from prwatch.app.runtime import Runtime
from prwatch.app.sync.memory import Followed
from prwatch.app.sync.outcome import FolderOutcome, SyncResult
from prwatch.app.sync.remedy import find_remedy
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import WatchFolder
from prwatch.errors import RateLimited
from prwatch.store import watch_files
from prwatch.store.database import Transaction
from prwatch.store.watch_files import StoredCircuit

_GENERAL: Final = frozenset(
    {FailureClass.AUTH, FailureClass.TRANSIENT, FailureClass.LIMIT}
)
"""What is no matter of the entry that names a folder."""


async def list_sync_failures(
    runtime: Runtime, outcomes: Sequence[FolderOutcome]
) -> list[Failure]:
    """
    List what keeps folders from being read, also where a circuit or a limit held back.

    Where no folder of a workspace could be read, failures are whole of which its
    entries are not the reason.

    Raises:
        StoreError: Why a circuit is open could not be read.
    """
    told = [(each, await _find_failure(runtime, each)) for each in outcomes]
    read = {each.workspace for each, failure in told if failure is None}
    return [
        replace(failure, is_whole=_is_general(failure) and each.workspace not in read)
        for each, failure in told
        if failure is not None
    ]


def _is_general(failure: Failure) -> bool:
    return failure.failure_class in _GENERAL and failure.scope != "organisation"


async def _find_failure(runtime: Runtime, outcome: FolderOutcome) -> Failure | None:
    if outcome.result is not SyncResult.SKIPPED:
        return outcome.failure
    if outcome.reason == "limit":
        return replace(
            outcome,
            failure_class=FailureClass.LIMIT,
            code=RateLimited.code,
            message="a rate limit forbids it",
        ).failure
    if outcome.reason != "circuit":
        return None  # a workspace without a token is told by itself
    folder = _find_folder(outcome, runtime.sync_memory.followed)
    stored = await _find_circuit(runtime, folder) if folder is not None else None
    if folder is None or stored is None:
        return None
    cause = stored.circuit.cause
    return replace(
        outcome,
        failure_class=cause.failure_class,
        code=cause.code,
        message=cause.message,
        remedy=find_remedy(cause.code, cause.message, folder),
    ).failure


def _find_folder(
    outcome: FolderOutcome, followed: Collection[Followed]
) -> WatchFolder | None:
    meant = (
        each.folder
        for each in followed
        if (each.workspace.name, each.folder.place)
        == (outcome.workspace, outcome.place)
    )
    return next(meant, None)


async def _find_circuit(runtime: Runtime, folder: WatchFolder) -> StoredCircuit | None:
    async def read(tx: Transaction) -> StoredCircuit | None:
        return await watch_files.find_circuit(tx, folder.id)

    return await runtime.database.read(read)
