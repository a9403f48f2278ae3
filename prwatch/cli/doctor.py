"""`prwatch doctor`: what is well, what is not, and what to do about it."""

from typing import TYPE_CHECKING

import click

from prwatch.cli.options import get_options, global_options, load, run_async
from prwatch.cli.output import print_json, print_text
from prwatch.errors import ConfigError

if TYPE_CHECKING:
    from prwatch.app.command.finding import Finding

_MARKS = {"ok": "ok     ", "warning": "warning", "broken": "BROKEN "}


@click.command("doctor")
@global_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """
    Check what prwatch needs and say what to do.

    Looks at the configuration, the database, each token and what it can read, the
    budget, webhooks, the clock, proxies and systemd units. Changes nothing. Exits with
    1 when something is broken.
    """
    findings = _examine(ctx)
    is_broken = any(each.health == "broken" for each in findings)
    if get_options(ctx).is_json:
        rows = [each.as_json() for each in findings]
        print_json({"ok": not is_broken, "findings": rows})
    else:
        for each in findings:
            print_text(f"{_MARKS[each.health]}  {each.subject}: {each.text}")
            if each.remedy and each.health != "ok":
                print_text(f"         → {each.remedy}")
    ctx.exit(1 if is_broken else 0)


def _examine(ctx: click.Context) -> "list[Finding]":
    from prwatch.app.command.doctor import describe_broken_config, examine  # noqa: PLC0415 - heavy
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.cli.surroundings import build_surroundings  # noqa: PLC0415 - heavy

    try:
        loaded = load(ctx)
    except ConfigError as error:
        return list(describe_broken_config(error))
    start_logging(ctx, loaded, level="warning")
    surroundings = build_surroundings(ctx)

    async def work() -> "list[Finding]":
        return [each async for each in examine(loaded, surroundings)]

    return run_async(work)
