"""Circuits for people: which are open, why, until when, and closing them by hand."""

from dataclasses import dataclass

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.command.circuit_row import CircuitRow, parse_row
from prwatch.app.command.folder_circuits import (
    list_folder_circuits,
    make_due,
    reset_folder_circuits,
)
from prwatch.app.command.review.circuits import (
    list_review_circuits,
    reset_review_circuits,
)
from prwatch.app.command.workbench import Workbench
from prwatch.app.guard.circuits import CircuitKey
from prwatch.app.runtime import Runtime
from prwatch.domain.circuit import Circuit, CircuitKind
from prwatch.domain.notice import CIRCUIT_TYPES
from prwatch.domain.timestamp import format_optional_time
from prwatch.errors import DaemonError, NotFound
from prwatch.store.database import Transaction
from prwatch.store.notices import list_last_notices


@dataclass(frozen=True, slots=True)
class Closed:
    """How many circuits were closed, and whether a daemon did it."""

    count: int
    is_live: bool


async def list_circuits(runtime: Runtime, cleanup: ReviewCleanup) -> list[CircuitRow]:
    """
    List the circuits of a running product: polling's widest first, then the others.

    A workspace whose secret gives nothing stands beside them: it is not asked either.

    Raises:
        StoreError: Those that are stored could not be read.
    """
    names = {row.id: row.name for row in runtime.wired.workspaces.values()}
    rows = [
        _build_row(runtime, key, circuit, names.get(key.workspace_id, ""))
        for key, circuit in runtime.circuits.items()
    ]
    unusable = [
        CircuitRow(
            kind=CircuitKind.WORKSPACE.value,
            workspace=each.name,
            name="",
            state="open",
            failure_class="auth",
            code="no_token",
            message=each.message,
            failures=1,
            opened_at=None,
            retry_at=None,
        )
        for each in runtime.wired.unusable
    ]
    workspaces = list(runtime.wired.workspaces.values())
    reviews = await list_review_circuits(runtime, cleanup)
    folders = await list_folder_circuits(runtime.database, workspaces)
    return [*unusable, *rows, *reviews, *folders]


async def reset_circuits(
    runtime: Runtime, cleanup: ReviewCleanup, workspace: str
) -> int:
    """
    Close the circuits of a workspace, or all with ''; return how many were not.

    Raises:
        NotFound: No workspace has that name.
        StoreError: Those that are stored could not be written.
    """
    wired = runtime.wired.workspaces
    if workspace and workspace not in wired:
        raise NotFound(f"no workspace {workspace} is configured")
    meant = [wired[workspace]] if workspace else list(wired.values())
    ids = {each.id for each in meant}
    folders = await reset_folder_circuits(runtime.database, meant)
    make_due(runtime, folders)
    reviews = await reset_review_circuits(cleanup, meant)
    keys = [
        key
        for key, _ in runtime.circuits.items()
        if not workspace or key.workspace_id in ids
    ]
    polled = sum(runtime.circuits.reset(key) for key in keys)
    return polled + reviews + len(folders)


async def read_circuits(bench: Workbench) -> tuple[list[CircuitRow], bool]:
    """
    Return the daemon's circuits, else those that were last told to be open.

    The second value says whether a daemon answered. Without one, a circuit that was
    told of may have closed since, as it lived in the daemon; those of folders of watch
    files are stored, and stand as they are.
    """
    answer = await bench.ask_daemon("circuits")
    if answer is not None:
        return [parse_row(each) for each in answer["circuits"]], True
    workspaces = await bench.list_workspaces()

    async def read(tx: Transaction) -> list[CircuitRow]:
        return [
            parse_row(
                {
                    **event.data,
                    "failures": 0,
                    "opened_at": format_optional_time(event.time),
                }
            )
            for workspace in workspaces
            for event in await list_last_notices(tx, workspace.id)
            if event.type in CIRCUIT_TYPES and event.data["state"] == "open"
        ]

    folders = await list_folder_circuits(bench.database, workspaces)
    return [*await bench.database.read(read), *folders], False


async def request_reset(bench: Workbench, workspace: str) -> Closed:
    """
    Let the daemon close circuits; without one, close those that are stored.

    Raises:
        NotFound: No workspace has that name.
        DaemonError: The daemon could not.
        StoreError: They could not be written.
    """
    try:
        answer = await bench.ask_daemon("circuit reset", workspace=workspace)
    except DaemonError as error:
        if error.reason == NotFound.code:
            raise NotFound(error.message) from error
        raise
    if answer is not None:
        return Closed(int(answer["closed"]), is_live=True)
    workspaces = await bench.list_workspaces(workspace)
    folders = await reset_folder_circuits(bench.database, workspaces)
    return Closed(len(folders), is_live=False)


def _build_row(
    runtime: Runtime, key: CircuitKey, circuit: Circuit, workspace: str
) -> CircuitRow:
    name = key.name
    if key.kind is CircuitKind.RECORD:
        name = runtime.circuits.describe(key)
    return CircuitRow(
        kind=key.kind.value,
        workspace=workspace,
        name=name,
        state=circuit.state.value,
        failure_class=circuit.cause.failure_class.value,
        code=circuit.cause.code,
        message=circuit.cause.message,
        failures=circuit.failures,
        opened_at=circuit.opened_at,
        retry_at=circuit.open_until,
    )
