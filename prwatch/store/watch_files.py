"""Rows of folders of watch files, of their files, and of the circuits that are open."""

from collections.abc import Mapping
from dataclasses import dataclass

from prwatch.domain.circuit import Cause, Circuit, CircuitState
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import WatchFile, WatchFolder
from prwatch.store.columns import (
    from_json,
    from_microseconds,
    from_optional_microseconds,
    to_json,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("watch_files")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCircuit:
    """A folder's circuit that is open, and the fingerprint that it holds for."""

    fingerprint: str
    circuit: Circuit


async def list_folders(tx: Transaction, workspace_id: str) -> list[WatchFolder]:
    """Return the folders of a workspace, by place."""
    rows = await tx.fetch(_QUERIES["list_folders"], workspace_id=workspace_id)
    return [_to_folder(row) for row in rows]


async def add_folder(tx: Transaction, folder: WatchFolder) -> bool:
    """Add a folder; return False, and write nothing, when its place is known."""
    written = await tx.execute(
        _QUERIES["add_folder"],
        id=folder.id,
        workspace_id=folder.workspace_id,
        repository=folder.repository,
        branch=folder.branch,
        path=folder.path,
        tag=folder.tag,
        fingerprint=folder.fingerprint,
        changed_at=to_optional_microseconds(folder.changed_at),
    )
    return written == 1


async def remove_folder(tx: Transaction, folder_id: str) -> None:
    """Remove a folder with its files and its circuit."""
    await tx.execute(_QUERIES["remove_circuit"], folder_id=folder_id)
    await tx.execute(_QUERIES["remove_files"], folder_id=folder_id)
    await tx.execute(_QUERIES["remove_folder"], id=folder_id)


async def list_files(tx: Transaction, folder_id: str) -> dict[str, WatchFile]:
    """Return the files of a folder, by name."""
    rows = await tx.fetch(_QUERIES["list_files"], folder_id=folder_id)
    return {
        row["name"]: WatchFile(
            name=row["name"],
            blob=row["blob"],
            declared=row["declared"],
            problems=tuple(from_json(row["problems"])),
            changed_at=from_microseconds(row["changed_at"]),
        )
        for row in rows
    }


async def put_reading(
    tx: Transaction, folder: WatchFolder, *, before: WatchFolder
) -> bool:
    """
    Store what vouches for a folder's list, and when a file last changed.

    Returns False, and writes nothing, when it is not as it was `before`.
    """
    written = await tx.execute(
        _QUERIES["put_folder_reading"],
        id=folder.id,
        tag=folder.tag,
        fingerprint=folder.fingerprint,
        changed_at=to_optional_microseconds(folder.changed_at),
        old_tag=before.tag,
        old_fingerprint=before.fingerprint,
        old_changed_at=to_optional_microseconds(before.changed_at),
    )
    return written == 1


async def has_any(tx: Transaction, workspace_id: str) -> bool:
    """Return whether a workspace has folders, or what a watch file declared."""
    (row,) = await tx.fetch(_QUERIES["has_any"], workspace_id=workspace_id)
    return bool(row["found"])


async def replace_files(
    tx: Transaction, folder: WatchFolder, files: Mapping[str, WatchFile]
) -> None:
    """Let just these be the files of a folder; those that are so are not written."""
    stored = await list_files(tx, folder.id)
    for name in sorted(stored.keys() - files.keys()):
        await tx.execute(_QUERIES["remove_file"], folder_id=folder.id, name=name)
    for each in files.values():
        await tx.execute(
            _QUERIES["put_file"],
            folder_id=folder.id,
            name=each.name,
            blob=each.blob,
            declared=each.declared,
            problems=to_json(each.problems),
            changed_at=to_microseconds(each.changed_at),
        )


async def find_circuit(tx: Transaction, folder_id: str) -> StoredCircuit | None:
    """Return the circuit of a folder, or None while it is closed."""
    rows = await tx.fetch(_QUERIES["find_circuit"], folder_id=folder_id)
    return _to_circuit(rows[0]) if rows else None


async def put_circuit(tx: Transaction, folder_id: str, stored: StoredCircuit) -> None:
    """Insert or replace the circuit of a folder."""
    circuit = stored.circuit
    await tx.execute(
        _QUERIES["put_circuit"],
        folder_id=folder_id,
        fingerprint=stored.fingerprint,
        failure_class=circuit.cause.failure_class,
        code=circuit.cause.code,
        message=circuit.cause.message,
        failures=circuit.failures,
        opened_at=to_microseconds(circuit.opened_at),
        open_until=to_microseconds(circuit.open_until),
    )


async def remove_circuit(tx: Transaction, folder_id: str) -> bool:
    """Close the circuit of a folder; return whether it was open."""
    return await tx.execute(_QUERIES["remove_circuit"], folder_id=folder_id) == 1


def _to_folder(row: Row) -> WatchFolder:
    return WatchFolder(
        id=row["id"],
        workspace_id=row["workspace_id"],
        repository=row["repository"],
        branch=row["branch"],
        path=row["path"],
        tag=row["tag"],
        fingerprint=row["fingerprint"],
        changed_at=from_optional_microseconds(row["changed_at"]),
    )


def _to_circuit(row: Row) -> StoredCircuit:
    # A probe that a crash cut off is not stored: what is kept is open.
    return StoredCircuit(
        fingerprint=row["fingerprint"],
        circuit=Circuit(
            state=CircuitState.OPEN,
            cause=Cause(
                failure_class=FailureClass(row["failure_class"]),
                code=row["code"],
                message=row["message"],
            ),
            failures=row["failures"],
            opened_at=from_microseconds(row["opened_at"]),
            open_until=from_microseconds(row["open_until"]),
        ),
    )
