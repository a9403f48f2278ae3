"""`prwatch health`: whether the daemon does its work, for people and for monitors."""

from collections.abc import Mapping
from typing import Any

import click

from prwatch.cli.options import get_options, global_options, load, run_async
from prwatch.cli.output import print_json, print_table, print_text

NOT_OK_EXIT = 1


@click.command("health")
@global_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """
    Tell whether the daemon does its work.

    Asks the daemon, in counts alone: nothing that it prints names anybody's work.
    Exits with 0 when all is well, and with 1 when something is not or no daemon runs.
    """
    health = _ask(ctx)
    is_ok = health is not None and bool(health.get("ok"))
    if get_options(ctx).is_json:
        print_json({"running": health is not None, **(health or {"ok": False})})
    elif health is None:
        print_text("No daemon runs.")
    else:
        print_health(health)
    ctx.exit(0 if is_ok else NOT_OK_EXIT)


def print_health(health: Mapping[str, Any]) -> None:
    """Print one row for each thing that can be wrong."""
    failures: Mapping[str, int] = health.get("failures") or {}
    told = [f"{count} {name}" for name, count in sorted(failures.items())]
    print_text("The daemon is well." if health.get("ok") else "The daemon is not well.")
    print_table(
        ("what", "state"),
        [
            ("stalled loops", _join(health.get("stalled"))),
            ("failing loops", _join(health.get("failing_loops"))),
            ("failures of the last cycle", ", ".join(told) or "none"),
        ],
    )


def _join(names: object) -> str:
    found = [str(name) for name in names] if isinstance(names, list | tuple) else []
    return ", ".join(found) or "none"


def _ask(ctx: click.Context) -> Mapping[str, Any] | None:
    from prwatch.app.daemon.control_client import ask  # noqa: PLC0415 - heavy
    from prwatch.app.daemon.daemon_lock import read_daemon_lock  # noqa: PLC0415 - goes with it

    loaded = load(ctx)

    async def work() -> Mapping[str, Any] | None:
        return await ask(read_daemon_lock(loaded.config.state_dir), "health")

    return run_async(work)
