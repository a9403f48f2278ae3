"""`prwatch circuit`: what is not asked for now, why, and asking again by hand."""

import click

from prwatch.cli.bench import run_on_bench
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import (
    format_count,
    format_time,
    print_json,
    print_table,
    print_text,
)


@click.group("circuit")
@global_options
def command() -> None:
    """
    Show what is left out after failures, and close circuits by hand.

    A circuit opens when something cannot be read, and lets a probe through after a
    while: seconds for a network that is down, minutes for a token that is refused.
    """


@command.command("list")
@global_options
@click.pass_context
def list_command(ctx: click.Context) -> None:
    """
    List the circuits that are not closed, with the reason and the next try.

    They live in the daemon. Where none runs, those are shown that were last told to
    be open. Those of folders of watch files are stored, and stand as they are.
    """
    from prwatch.app.command.circuits import read_circuits  # noqa: PLC0415 - heavy

    rows, is_live = run_on_bench(ctx, read_circuits)
    if get_options(ctx).is_json:
        print_json({"running": is_live, "circuits": [row.as_json() for row in rows]})
        return
    if not is_live:
        print_text("No daemon runs; this was told last.")
    if not rows:
        print_text("All circuits are closed.")
        return
    print_table(
        ("circuit", "workspace", "name", "class", "why", "failures", "next try"),
        [
            (
                row.kind,
                row.workspace,
                row.name,
                row.failure_class,
                row.message,
                str(row.failures or ""),
                format_time(row.retry_at) if row.retry_at else "after an edit",
            )
            for row in rows
        ],
    )


@command.command("reset")
@click.argument("workspace", required=False, default="")
@global_options
@click.pass_context
def reset_command(ctx: click.Context, *, workspace: str) -> None:
    """
    Close the circuits of WORKSPACE, or all, and ask again at once.

    Review tasks are looked at by the next sweep.
    """
    from prwatch.app.command.circuits import request_reset  # noqa: PLC0415 - heavy

    closed = run_on_bench(ctx, lambda bench: request_reset(bench, workspace))
    if get_options(ctx).is_json:
        print_json({"running": closed.is_live, "closed": closed.count})
        return
    if not closed.is_live and not closed.count:
        print_text("No daemon runs: no circuit is open.")
        return
    if closed.is_live:
        print_text(f"{format_count(closed.count, 'circuit')} closed.")
        return
    count = format_count(
        closed.count, "circuit of watch files", "circuits of watch files"
    )
    print_text(f"No daemon runs; {count} closed.")
