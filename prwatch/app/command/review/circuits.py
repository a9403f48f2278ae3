"""The circuits of cleaning up review tasks, for people: as rows, and closed by hand."""

import datetime as dt
from collections.abc import Collection, Mapping

from prwatch.app.cleanup.circuits import CleanupCircuit, Standing
from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.command.circuit_row import CircuitRow, Kind
from prwatch.app.runtime import Runtime
from prwatch.domain.task import Workspace
from prwatch.store import review_tasks
from prwatch.store.database import Transaction


async def list_review_circuits(
    runtime: Runtime, cleanup: ReviewCleanup
) -> list[CircuitRow]:
    """
    List those that hold back now, the wide ones first.

    Raises:
        StoreError: What they are about could not be read.
    """
    shared: dict[str, Standing] = {}
    single: dict[str, Standing] = {}
    for kind, key, standing in cleanup.circuits.items():
        (shared if kind is CleanupCircuit.SHARED else single)[key] = standing
    rows: list[CircuitRow] = []
    for workspace in runtime.wired.workspaces.values() if shared else ():
        connection = await cleanup.find_connection(workspace)
        if connection is not None and connection.id in shared:
            standing = shared[connection.id]
            rows.append(_build_row(Kind.CLEANUP, workspace, "", standing))
    for workspace in runtime.wired.workspaces.values() if single else ():
        places = await _list_places(runtime, workspace, single)
        rows += [
            _build_row(Kind.REVIEW_TASK, workspace, place, single[row_id])
            for row_id, place in places.items()
        ]
    return rows


async def reset_review_circuits(
    cleanup: ReviewCleanup, workspaces: Collection[Workspace]
) -> int:
    """
    Close those of workspaces that hold back; return how many did.

    The next sweep asks again.

    Raises:
        StoreError: Whose they are could not be read.
    """
    found = [await cleanup.find_connection(each) for each in workspaces]
    circuits = cleanup.circuits
    standing = [(kind, key) for kind, key, _ in circuits.items()]
    count = 0
    for owner in [each.id for each in found if each is not None]:
        for kind, key in standing:
            if kind is CleanupCircuit.SHARED and key == owner:
                circuits.succeed(owner)
            elif circuits.find_record(owner, key) is not None:
                circuits.succeed_record(owner, key)
            else:
                continue
            count += 1
    return count


async def _list_places(
    runtime: Runtime, workspace: Workspace, row_ids: Collection[str]
) -> Mapping[str, str]:
    """Return how people know the pull requests of rows of a workspace, by row."""

    async def read(tx: Transaction) -> dict[str, str]:
        return {
            row.id: f"{row.pull_request.owner}/{row.pull_request.name}"
            f"#{row.pull_request.number}"
            for row in await review_tasks.list_review_tasks(tx, workspace.id)
            if row.id in row_ids
        }

    return await runtime.database.read(read)


def _build_row(
    kind: Kind, workspace: Workspace, name: str, standing: Standing
) -> CircuitRow:
    circuit, blow = standing.circuit, standing.blow
    began: dt.datetime = circuit.opened_at if circuit else standing.opened_at
    return CircuitRow(
        kind=kind.value,
        workspace=workspace.name,
        name=name,
        state="open",
        failure_class=blow.failure_class.value,
        code=blow.code,
        message=blow.message,
        failures=circuit.failures if circuit else 1,
        opened_at=began,
        retry_at=standing.open_until,
    )
