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
    from collections.abc import Iterator, Mapping

    from prwatch.app.command.sync import FolderRow, SyncStatus

FAILED_EXIT = 1
"""The exit code when a folder could not be read."""


class SyncGroup(click.Group):
    """Takes a workspace, or nothing, for what `now` is to look at."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `now` before what is no command."""
        first = next((each for each in args if not each.startswith("-")), None)
        asks_help = any(each in {"-h", "--help"} for each in args)
        if first not in self.commands and not asks_help:
            args = ["now", *args]
        return super().parse_args(ctx, args)


@click.group("sync", cls=SyncGroup)
@global_options
def command() -> None:
    """
    Follow watch lists that are kept in repositories.

    `prwatch sync` alone, or with the name of a workspace, looks at them now.
    """


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
        ctx, lambda bench, loaded: run_sync(bench, loaded, workspace)
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
        until = format_time(circuit.open_until)
        return f"{circuit.cause.message}; next try {until}"
    broken = sum(bool(each.problems) for each in row.files)
    if broken:
        return f"{format_count(broken, 'file')} with mistakes"
    return "good" if row.entry.poll_enabled else "looked at by hand"


def _list_warnings(found: "SyncStatus") -> "Iterator[str]":
    for folder in found.folders:
        for each in folder.files:
            yield from each.problems
    for told in found.warnings.values():
        yield from told
