"""`prwatch sync`: watch lists that are kept in repositories."""

from typing import TYPE_CHECKING, Any

import click

from prwatch.cli.bench import run_on_bench, run_with_config
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_count,
    format_time,
    print_json,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping

    from prwatch.app.command.sync import FolderRow, SyncStatus

FAILED_EXIT = 1
"""The exit code when a folder could not be read."""


class SyncGroup(click.Group):
    """Takes what is no command of its own for the workspace that `now` looks at."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return `now` for what is no command."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "now", self.commands["now"], args


@click.group("sync", cls=SyncGroup, invoke_without_command=True)
@global_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """
    Follow watch lists that are kept in repositories.

    `prwatch sync` alone, or with the name of a workspace, looks at them now.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(now, workspace="")


@command.command("now")
@click.argument("workspace", required=False, default="")
@global_options
@click.pass_context
def now(ctx: click.Context, *, workspace: str) -> None:
    """
    Look at the folders of WORKSPACE, or of all, whatever their time.

    A running daemon does it. Exits with 1 when a folder could not be read.
    """
    from prwatch.app.command.sync import run_sync  # noqa: PLC0415 - heavy

    found = run_with_config(
        ctx,
        lambda bench, loaded: run_sync(bench, loaded, workspace),
        level="error",  # what a turn would log is printed
    )
    if get_options(ctx).is_json:
        print_json({"folders": found})
    else:
        for folder in found:
            _print_outcome(folder)
    is_failed = any(each["result"] not in {"changed", "unchanged"} for each in found)
    ctx.exit(FAILED_EXIT if is_failed else 0)


def _print_outcome(folder: "Mapping[str, Any]") -> None:
    name = f"{folder['workspace']}: {folder['folder']}"
    match folder["result"]:
        case "changed":
            steps = format_count(folder["steps"], "step")
            print_text(f"{name} changed; {steps} taken")
        case "unchanged":
            print_text(f"{name} is unchanged")
        case "skipped":
            until = f" until {folder['until']}" if folder["until"] else ""
            print_text(f"{name} is left out ({folder['reason']}){until}")
        case _:
            print_text(f"{name} could not be read: {folder['message']}", err=True)
            if folder.get("remedy"):
                print_text(f"  {folder['remedy']}", err=True)
    for warning in folder["warnings"]:
        print_text(f"  {warning}", err=True)


@command.command("status")
@global_options
@click.pass_context
def status(ctx: click.Context) -> None:
    """Show the folders, their files, and what is wrong with them."""
    from prwatch.app.command.sync import read_sync_status  # noqa: PLC0415 - heavy

    found = run_on_bench(ctx, read_sync_status)
    if get_options(ctx).is_json:
        print_json(found.as_json())
        return
    if not found.folders:
        print_text("No folder is followed; a [[workspace.sync]] entry names one.")
        return
    print_table(
        ("workspace", "folder", "files", "last change", "state"),
        [
            (
                each.workspace,
                each.place,
                str(len(each.files)),
                format_time(each.changed_at) if each.changed_at else "",
                _tell_state(each),
            )
            for each in found.folders
        ],
    )
    for line in _list_warnings(found):
        print_text(line)


def _tell_state(row: "FolderRow") -> str:
    if row.circuit is not None:
        circuit = row.circuit.circuit
        return f"{circuit.cause.message}; {_tell_next_try(row, circuit.open_until)}"
    broken = sum(bool(each.problems) for each in row.files)
    if broken:
        return f"{format_count(broken, 'file')} with mistakes"
    if row.changed_at is None:
        return "no file yet"
    return "good" if row.entry.poll_enabled else "good, looked at by hand"


def _tell_next_try(row: "FolderRow", until: "dt.datetime") -> str:
    if not row.entry.poll_enabled:
        return "it is tried by hand alone"
    return "the next try is due" if row.is_due else f"next try {format_time(until)}"


def _list_warnings(found: "SyncStatus") -> "Iterator[str]":
    for folder in found.folders:
        if folder.remedy:
            yield f"{folder.place}: {folder.remedy}"
        for each in folder.files:
            yield from each.problems
    for told in found.warnings.values():
        yield from told
