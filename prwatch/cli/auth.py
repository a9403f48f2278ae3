"""`prwatch auth`: whose tokens the workspaces use. No token is ever shown."""

from typing import TYPE_CHECKING

import click

from prwatch.cli.options import get_options, global_options, load, run_async
from prwatch.cli.output import print_json, print_table, print_text

if TYPE_CHECKING:
    from prwatch.app.command.token_status import TokenStatus


@click.group("auth")
@global_options
def command() -> None:
    """Show the account of each workspace."""


@command.command("status")
@global_options
@click.pass_context
def status(ctx: click.Context) -> None:
    """
    Show which account each workspace uses.

    Asks GitHub once for each token. Exits with 1 when one cannot be used.
    """
    from prwatch.app.command.token_status import read_token_statuses  # noqa: PLC0415 - heavy
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.cli.surroundings import build_surroundings  # noqa: PLC0415 - heavy

    loaded = load(ctx)
    start_logging(ctx, loaded, level="warning")
    surroundings = build_surroundings(ctx)
    statuses = run_async(lambda: read_token_statuses(loaded.config, surroundings))
    if get_options(ctx).is_json:
        print_json({"workspaces": [each.as_json() for each in statuses]})
    else:
        print_statuses(statuses)
    ctx.exit(1 if any(each.problem for each in statuses) else 0)


def print_statuses(statuses: "tuple[TokenStatus, ...]") -> None:
    """Print a table, and what to do about each token that cannot be used."""
    print_table(
        ("workspace", "host", "login", "token", "from", "scopes", "expires"),
        [
            (
                each.workspace,
                each.host,
                each.viewer.login if each.viewer else None,
                each.kind,
                each.source,
                ", ".join(each.viewer.scopes or ()) if each.viewer else None,
                each.viewer.token_expires_at if each.viewer else None,
            )
            for each in statuses
        ],
        empty="No workspace is configured; `prwatch init` writes a configuration.",
    )
    for each in statuses:
        if each.problem:
            print_text(f"{each.workspace}: {each.problem}; {each.remedy}", err=True)
