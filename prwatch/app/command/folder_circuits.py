"""The stored circuits of folders of watch files: as rows, and closed by hand."""

from collections.abc import Collection

from prwatch.app.command.circuit_row import CircuitRow, Kind
from prwatch.app.runtime import Runtime
from prwatch.domain.task import Workspace
from prwatch.store import watch_files
from prwatch.store.database import Database, Transaction
from prwatch.store.watch_files import StoredCircuit


async def list_folder_circuits(
    database: Database, workspaces: Collection[Workspace]
) -> list[CircuitRow]:
    """
    List those of workspaces that are not closed, by folder.

    Raises:
        StoreError: They could not be read.
    """

    async def read(tx: Transaction) -> list[CircuitRow]:
        return [
            _build_row(workspace, folder.place, stored)
            for workspace in workspaces
            for folder in await watch_files.list_folders(tx, workspace.id)
            if (stored := await watch_files.find_circuit(tx, folder.id)) is not None
        ]

    return await database.read(read)


async def reset_folder_circuits(
    database: Database, workspaces: Collection[Workspace]
) -> frozenset[str]:
    """
    Close those of workspaces; return the ids of the folders of which one was open.

    Raises:
        StoreError: They could not be written.
    """

    async def write(tx: Transaction) -> frozenset[str]:
        return frozenset(
            [
                folder.id
                for workspace in workspaces
                for folder in await watch_files.list_folders(tx, workspace.id)
                if await watch_files.remove_circuit(tx, folder.id)
            ]
        )

    return await database.transact(write)


def make_due(runtime: Runtime, folder_ids: Collection[str]) -> None:
    """Let the next turn look at folders, as if their interval had passed."""
    memory, now = runtime.sync_memory, runtime.clock.now()
    for each in memory.followed:
        if each.folder.id in folder_ids and each.folder.id in memory.looked_at:
            memory.looked_at[each.folder.id] = now - each.entry.interval


def _build_row(workspace: Workspace, place: str, stored: StoredCircuit) -> CircuitRow:
    circuit = stored.circuit
    return CircuitRow(
        kind=Kind.WATCH_FOLDER.value,
        workspace=workspace.name,
        name=place,
        state=circuit.state.value,
        failure_class=circuit.cause.failure_class.value,
        code=circuit.cause.code,
        message=circuit.cause.message,
        failures=circuit.failures,
        opened_at=circuit.opened_at,
        retry_at=circuit.open_until,
    )
