"""Circuits for people: which are open, why, until when, and closing them by hand."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prwatch.app.command.workbench import Workbench
from prwatch.app.runtime import Runtime
from prwatch.app.walk.circuits import CircuitKey
from prwatch.domain.circuit import Circuit, CircuitKind
from prwatch.domain.notice import CIRCUIT_TYPES
from prwatch.domain.timestamp import format_optional_time
from prwatch.errors import DaemonError, NotFound
from prwatch.store.database import Transaction
from prwatch.store.notices import list_last_notices


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitRow:
    """
    One circuit that is not closed.

    `workspace` is '' for a host. `name` is the host, the organisation or what was
    asked (`octo/hello#12`). `retry_at` is when it is tried again, None where only an
    edit of the configuration helps.
    """

    kind: str
    workspace: str
    name: str
    state: str
    failure_class: str
    code: str
    message: str
    failures: int
    opened_at: dt.datetime | None
    retry_at: dt.datetime | None

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints and the daemon answers."""
        return {
            "circuit": self.kind,
            "workspace": self.workspace,
            "name": self.name,
            "state": self.state,
            "class": self.failure_class,
            "code": self.code,
            "message": self.message,
            "failures": self.failures,
            "opened_at": format_optional_time(self.opened_at),
            "retry_at": format_optional_time(self.retry_at),
        }


def parse_row(told: Mapping[str, Any]) -> CircuitRow:
    """Return the row of such an object."""
    return CircuitRow(
        kind=told["circuit"],
        workspace=told["workspace"],
        name=told["name"],
        state=told["state"],
        failure_class=told["class"],
        code=told["code"],
        message=told["message"],
        failures=told["failures"],
        opened_at=_parse_time(told["opened_at"]),
        retry_at=_parse_time(told["retry_at"]),
    )


def list_circuits(runtime: Runtime) -> list[CircuitRow]:
    """
    List the circuits of a running product, widest first.

    A workspace whose secret gives nothing stands beside them: it is not asked either.
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
    return [*unusable, *rows]


def reset_circuits(runtime: Runtime, workspace: str) -> int:
    """
    Close the circuits of a workspace, or all with ''; return how many were not.

    Raises:
        NotFound: No workspace has that name.
    """
    if not workspace:
        keys = [key for key, _ in runtime.circuits.items()]
        return sum(runtime.circuits.reset(key) for key in keys)
    found = runtime.wired.workspaces.get(workspace)
    if found is None:
        raise NotFound(f"no workspace {workspace} is configured")
    owned = [key for key, _ in runtime.circuits.items() if key.workspace_id == found.id]
    return sum(runtime.circuits.reset(key) for key in owned)


async def read_circuits(bench: Workbench) -> tuple[list[CircuitRow], bool]:
    """
    Return the daemon's circuits, else those that were last told to be open.

    The second value says whether a daemon answered. A circuit that the store tells of
    may have closed since: they live in the daemon.
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

    return await bench.database.read(read), False


async def request_reset(bench: Workbench, workspace: str) -> int | None:
    """
    Let the daemon close circuits; None when no daemon runs, so none are open.

    Raises:
        NotFound: No workspace has that name.
        DaemonError: The daemon could not.
    """
    try:
        answer = await bench.ask_daemon("circuit reset", workspace=workspace)
    except DaemonError as error:
        if error.reason == NotFound.code:
            raise NotFound(error.message) from error
        raise
    return None if answer is None else int(answer["closed"])


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


def _parse_time(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None
