"""`prwatch cycle`, also `prwatch --cycle`: one pass over everything."""

import sys
from typing import TYPE_CHECKING

import click

from prwatch.cli.options import get_options, global_options, load, run_async
from prwatch.errors import StoreUnavailable

if TYPE_CHECKING:
    from prwatch.app.walk.cycle_report import CycleReport
    from prwatch.config.loader import LoadedConfig


@click.command("cycle")
@click.option(
    "--full", "is_full", is_flag=True, help="Read every pull request in full."
)
@global_options
@click.pass_context
def command(ctx: click.Context, *, is_full: bool) -> None:
    """
    Make one pass and end.

    Asks GitHub about everything that is watched, tells what changed, and delivers
    what is due. Exits with 1 when a workspace could not be polled, or its
    reviews or watch files not be read at all.
    """
    cycle(ctx, is_full=is_full)


def refuse_beside_daemon(loaded: "LoadedConfig") -> None:
    """
    Leave a database to the daemon that uses it; on PostgreSQL many may poll.

    Raises:
        StoreUnavailable: A daemon runs on this state folder, or it is unwritable.
    """
    from prwatch.app.daemon.daemon_lock import read_daemon_lock  # noqa: PLC0415 - heavy
    from prwatch.config.places import prepare_state_dir  # noqa: PLC0415 - heavy

    if loaded.config.database_url:
        return
    prepare_state_dir(loaded.config.state_dir)
    daemon = read_daemon_lock(loaded.config.state_dir)
    if daemon is not None:
        raise StoreUnavailable(
            f"a prwatch daemon (pid {daemon.pid}) uses this database",
            hint="`prwatch watch check` asks it to look at once",
        )


def cycle(ctx: click.Context, *, is_full: bool) -> None:
    """Make one pass, print what it did, and end with its exit code."""
    from prwatch.app.polling import run_everything_once  # noqa: PLC0415 - heavy
    from prwatch.app.runtime import open_runtime  # noqa: PLC0415 - heavy
    from prwatch.cli.cycle_output import print_report  # noqa: PLC0415 - goes with them
    from prwatch.cli.logs import start_logging  # noqa: PLC0415 - heavy
    from prwatch.cli.progress import Progress  # noqa: PLC0415 - heavy
    from prwatch.cli.surroundings import build_surroundings  # noqa: PLC0415 - heavy

    is_json = get_options(ctx).is_json
    loaded = load(ctx)
    # Under --json the one object is alone on stdout.
    stdout = sys.stderr.buffer if is_json else None
    surroundings = build_surroundings(ctx, stdout=stdout)
    progress = Progress("asking GitHub, answers:", clock=surroundings.clock)
    start_logging(ctx, loaded, progress=progress)

    refuse_beside_daemon(loaded)

    async def work() -> "CycleReport":
        async with open_runtime(loaded, surroundings) as runtime:
            runtime.on_progress = progress.step
            return await run_everything_once(runtime, is_full=is_full)

    with progress:
        report = run_async(work)
    print_report(report, loaded.config, is_json=is_json)
    ctx.exit(1 if report.unserved_workspaces else 0)
