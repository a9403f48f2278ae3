"""Folders of watch files for people: looking at them now, and how they stand."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prwatch.app.command.review.conflicts import list_declared_conflicts
from prwatch.app.command.workbench import Workbench
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.sync.declared import FolderRows, load_folders, unite_rows
from prwatch.app.sync.folders import put_folders
from prwatch.app.sync.remedy import find_remedy
from prwatch.app.sync.sync_loop import sync_now
from prwatch.config.loader import LoadedConfig
from prwatch.config.sync import Sync
from prwatch.domain.circuit import is_open
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Workspace
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.watch_file_plan import plan_watch_files
from prwatch.errors import ConfigError
from prwatch.store import tasks, watch_files
from prwatch.store.database import Transaction
from prwatch.store.watch_files import StoredCircuit

SYNC_SECONDS = 55.0
"""How long the daemon is waited for; it works on no command for a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One watch file: when it last changed, and what keeps it from being read."""

    name: str
    changed_at: dt.datetime
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "name": self.name,
            "changed_at": format_time(self.changed_at),
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRow:
    """
    A folder that is configured, as the store knows it.

    `circuit` is None while nothing is wrong; `remedy` is what a person can do about it,
    and `is_due` says that its time is over. `changed_at` is when a file last changed.
    """

    workspace: str
    place: str
    entry: Sync
    files: tuple[FileRow, ...] = ()
    changed_at: dt.datetime | None = None
    circuit: StoredCircuit | None = None
    remedy: str = ""
    is_due: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        circuit = self.circuit.circuit if self.circuit else None
        return {
            "workspace": self.workspace,
            "folder": self.place,
            "poll_enabled": self.entry.poll_enabled,
            "interval_seconds": int(self.entry.interval.total_seconds()),
            "changed_at": format_optional_time(self.changed_at),
            "files": [each.as_json() for each in self.files],
            "circuit": circuit
            and {
                "class": circuit.cause.failure_class.value,
                "code": circuit.cause.code,
                "message": circuit.cause.message,
                "remedy": self.remedy,
                "failures": circuit.failures,
                "opened_at": format_time(circuit.opened_at),
                "open_until": format_time(circuit.open_until),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStatus:
    """The folders, and what of their files does not count, by workspace."""

    folders: tuple[FolderRow, ...]
    warnings: Mapping[str, tuple[str, ...]]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "folders": [each.as_json() for each in self.folders],
            "warnings": {name: list(told) for name, told in self.warnings.items()},
        }


async def run_sync(
    bench: Workbench, loaded: LoadedConfig, workspace: str = ""
) -> list[Mapping[str, Any]]:
    """
    Look at the folders of a workspace, or of all, now; return an object for each.

    A running daemon does it; without one it is done here.

    Raises:
        ConfigError: No such workspace follows a folder.
        DaemonError: The daemon could not.
        StoreError: The store could not be read or written.
    """
    _refuse_without_folders(bench, workspace)
    answer = await bench.ask_daemon("sync", seconds=SYNC_SECONDS, workspace=workspace)
    if answer is not None:
        return list(answer.get("folders", ()))
    async with open_runtime(loaded, bench.surroundings) as runtime:
        await put_folders(runtime)
        return [each.as_json() for each in await sync_now(runtime, workspace)]


async def answer_sync(
    runtime: Runtime, arguments: Mapping[str, Any]
) -> dict[str, object]:
    """Do what a command asks of the daemon: look at the folders of `workspace`."""
    outcomes = await sync_now(runtime, str(arguments.get("workspace", "")))
    return {"folders": [each.as_json() for each in outcomes]}


def _refuse_without_folders(bench: Workbench, workspace: str) -> None:
    entries = bench.config.workspaces
    named = [each.name for each in entries if each.syncs]
    if workspace in named or (named and not workspace):
        return
    others = f"workspaces that follow a folder: {', '.join(named) or 'none'}"
    if workspace and workspace not in {each.name for each in entries}:
        raise ConfigError(
            f"there is neither a workspace nor a command {workspace}",
            hint=f"commands: now, status; {others}",
        )
    what = f"workspace {workspace}" if workspace else "the configuration"
    hint = "a [[workspace.sync]] entry does"
    raise ConfigError(
        f"{what} names no folder of watch files",
        hint=f"{hint}; {others}" if workspace else hint,
    )


async def read_sync_status(bench: Workbench) -> SyncStatus:
    """
    Return how each configured folder stands, from the store alone.

    Raises:
        StoreError: The store could not be read.
    """
    stored = {each.name: each for each in await bench.list_workspaces()}
    folders: list[FolderRow] = []
    warnings: dict[str, tuple[str, ...]] = {}
    for entry in bench.config.workspaces:
        workspace = stored.get(entry.name)
        rows = await load_folders(bench.database, workspace) if workspace else []
        by_place = {
            (row.folder.repository, row.folder.branch, row.folder.path): row
            for row in rows
        }
        for sync in entry.syncs:
            row = by_place.get(sync.place)
            folders.append(await _build_row(bench, entry.name, sync, row))
        if workspace is not None and rows:
            warnings[entry.name] = await _list_warnings(bench, workspace, rows)
    return SyncStatus(
        folders=tuple(folders),
        warnings={name: told for name, told in warnings.items() if told},
    )


async def _build_row(
    bench: Workbench, workspace: str, sync: Sync, row: FolderRows | None
) -> FolderRow:
    repository, branch, path = sync.place
    at = f"@{branch}" if branch else ""
    known = FolderRow(
        workspace=workspace, place=f"{repository}{at}:{path or '/'}", entry=sync
    )
    if row is None:
        return known
    folder = row.folder

    async def load(tx: Transaction) -> StoredCircuit | None:
        return await watch_files.find_circuit(tx, folder.id)

    stored = await bench.database.read(load)
    circuit = stored.circuit if stored else None
    cause = circuit.cause if circuit else None
    return FolderRow(
        workspace=workspace,
        place=folder.place,
        entry=sync,
        files=tuple(
            FileRow(name=each.name, changed_at=each.changed_at, problems=each.problems)
            for each in row.files
        ),
        changed_at=folder.changed_at,
        circuit=stored,
        remedy=find_remedy(cause.code, cause.message, folder) if cause else "",
        is_due=circuit is not None
        and not is_open(circuit, bench.surroundings.clock.now()),
    )


async def _list_warnings(
    bench: Workbench, workspace: Workspace, rows: list[FolderRows]
) -> tuple[str, ...]:
    """List what does not count although a file declares it, as the next turn would."""

    async def load(tx: Transaction) -> Snapshot:
        return await tasks.load_snapshot(tx, workspace, include_archived=True)

    try:
        united = unite_rows(bench.config, workspace, rows)
    except ConfigError as error:
        return error.problems
    plan = plan_watch_files(united.desired, await bench.database.read(load))
    reviews = await list_declared_conflicts(bench, workspace, united.reviews)
    return (*united.warnings, *plan.warnings, *reviews)
