"""Telling what became of the watching itself: circuits and limits, once each change."""

from collections.abc import Iterable, Mapping, Sequence

from prwatch.app.guard.circuits import CircuitKey, Transition
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.event_building import wants
from prwatch.domain.events import Event
from prwatch.domain.ids import build_id
from prwatch.domain.notice import (
    CIRCUIT_TYPES,
    CircuitNotice,
    Notice,
    build_notice,
    is_news,
)
from prwatch.domain.task import Workspace
from prwatch.store import notices as rows
from prwatch.store import outbox
from prwatch.store.database import Database, Transaction

CHUNK = 100
"""Notices in one transaction: an event and its deliveries each."""


async def tell_transitions(
    cycle: Cycle, accounts: Sequence[Account], transitions: Iterable[Transition]
) -> None:
    """Write the events of circuits that opened or closed; a host's for everybody."""
    by_id = {
        workspace.id: workspace
        for account in accounts
        for workspace in account.workspaces
    }
    found: list[Notice] = []
    for transition in transitions:
        key = transition.key
        concerned = [by_id[key.workspace_id]] if key.workspace_id in by_id else []
        if key.kind is CircuitKind.HOST:
            concerned = _list_workspaces(accounts, key.name)
        found += [
            CircuitNotice(
                workspace=workspace,
                kind=key.kind,
                name=key.name,
                circuit=transition.circuit,
            )
            for workspace in concerned
        ]
    await write_notices(cycle, found)


async def write_notices(cycle: Cycle, notices: Sequence[Notice]) -> None:
    """
    Write an event for each notice that is news, with its deliveries.

    What the last event about the same subject says already is left out, whoever
    wrote it: an earlier process, or another one.
    """
    now = cycle.now()
    for start in range(0, len(notices), CHUNK):
        chunk = [
            (
                notice,
                build_notice(
                    notice,
                    event_id=build_id(now, cycle.chance),
                    source=cycle.source,
                    now=now,
                ),
            )
            for notice in notices[start : start + CHUNK]
        ]

        async def write(
            tx: Transaction, chunk: Sequence[tuple[Notice, Event]] = chunk
        ) -> list[Event]:
            written = []
            for notice, event in chunk:
                last = await rows.find_last_notice(
                    tx, event.workspace_id, event.subject
                )
                if not is_news(notice, last.data if last else None):
                    continue
                sinks = [each.sink for each in cycle.interests if wants(each, event)]
                await outbox.add_events(tx, [event], {event.id: sinks}, now=now)
                written.append(event)
            return written

        written = await cycle.database.transact(write)
        cycle.report.events_by_type.update(event.type.value for event in written)
        if written:
            cycle.on_commit()


async def list_told(
    database: Database, workspaces: Iterable[Workspace]
) -> list[CircuitKey]:
    """List the circuits of which it was last told that they are open."""
    workspace_ids = [workspace.id for workspace in workspaces]

    async def read(tx: Transaction) -> list[CircuitKey]:
        return [
            _to_key(event.workspace_id, event.data)
            for workspace_id in workspace_ids
            for event in await rows.list_last_notices(tx, workspace_id)
            if event.type in CIRCUIT_TYPES and event.data.get("state") == "open"
        ]

    return await database.read(read)


def _to_key(workspace_id: str, data: Mapping[str, object]) -> CircuitKey:
    kind = CircuitKind(str(data["circuit"]))
    owner = "" if kind is CircuitKind.HOST else workspace_id
    return CircuitKey(kind, owner, str(data["name"]))


def _list_workspaces(accounts: Iterable[Account], host: str) -> list[Workspace]:
    return [
        workspace
        for account in accounts
        if account.host == host
        for workspace in account.workspaces
    ]
