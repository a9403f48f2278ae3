"""The program `prwatch`: its commands, found by name and imported when called."""

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import click

from prwatch import __version__
from prwatch.cli.errors import (
    INTERRUPTED,
    find_output_failure,
    find_reported,
    install_excepthook,
    is_interrupt,
    render_error,
)
from prwatch.cli.options import Options, global_options

PROGRAM: Final = "prwatch"
COMPLETION_VARIABLE: Final = "_PRWATCH_COMPLETE"
"""Set by the scripts of `prwatch completion` when a shell asks what may follow."""


class Entry(NamedTuple):
    """Where a command is, and what the list of commands says about it."""

    module: str
    summary: str


COMMANDS: Final[Mapping[str, Entry]] = {
    "run": Entry("prwatch.cli.run", "Watch until stopped."),
    "cycle": Entry("prwatch.cli.cycle", "Make one pass and end."),
    "demo": Entry("prwatch.cli.demo", "Play a story against a simulated GitHub."),
    "init": Entry("prwatch.cli.init", "Write a configuration file or systemd units."),
    "doctor": Entry(
        "prwatch.cli.doctor", "Check what prwatch needs and say what to do."
    ),
    "status": Entry(
        "prwatch.cli.status",
        "Show what pull requests need, watches, failures and deliveries.",
    ),
    "health": Entry("prwatch.cli.health", "Tell whether the daemon does its work."),
    "circuit": Entry(
        "prwatch.cli.circuit",
        "Show what is left out after failures, and close circuits by hand.",
    ),
    "budget": Entry(
        "prwatch.cli.budget",
        "Tell what an hour of watching costs, and how old a change may become.",
    ),
    "watch": Entry("prwatch.cli.watch", "Manage what is watched."),
    "review": Entry("prwatch.cli.review", "Find pull requests that ask for review."),
    "sync": Entry(
        "prwatch.cli.sync", "Follow watch lists that are kept in repositories."
    ),
    "explain": Entry(
        "prwatch.cli.explain", "Tell what decided the verdict on a pull request."
    ),
    "task": Entry("prwatch.cli.task", "Manage pieces of work and what they are about."),
    "wait": Entry(
        "prwatch.cli.wait",
        "Block until checks, review or merge of a pull request are decided.",
    ),
    "events": Entry("prwatch.cli.events", "Show events, and send dead ones again."),
    "config": Entry("prwatch.cli.config", "Check and show the configuration."),
    "auth": Entry("prwatch.cli.auth", "Show the account of each workspace."),
    "completion": Entry("prwatch.cli.completion", "Print completion for a shell."),
    "version": Entry("prwatch.cli.version", "Print the version."),
}


class LazyGroup(click.Group):
    """Lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Return the names in the order in which they are listed."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import the command of that name; None when there is none."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.summary) for name, each in COMMANDS.items()]
            )


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--cycle", "is_cycle", is_flag=True, help="Make one pass and end.")
@click.option(
    "--full", "is_full", is_flag=True, help="With --cycle: read everything in full."
)
@global_options
@click.version_option(__version__, message="prwatch %(version)s")
@click.pass_context
def cli(ctx: click.Context, *, is_cycle: bool, is_full: bool) -> None:
    """Tell people and programs when GitHub pull requests really change."""
    if ctx.invoked_subcommand is not None:
        if is_cycle or is_full:
            raise click.UsageError("--cycle and --full stand without a command", ctx)
        return
    if is_cycle:
        from prwatch.cli.cycle import cycle  # noqa: PLC0415 - only who asks pays for it

        cycle(ctx, is_full=is_full)
    elif is_full:
        raise click.UsageError("--full goes with --cycle", ctx)
    else:
        click.echo(ctx.get_help())


def run(arguments: Sequence[str], options: Options, *, group: click.Group = cli) -> int:
    """
    Run one command line and return its exit code. Errors are told on stderr.

    A command gives its exit code by `ctx.exit`; what it returns does not count.
    """
    try:
        with group.make_context(PROGRAM, list(arguments), obj=options) as ctx:
            group.invoke(ctx)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BaseException as error:
        if is_interrupt(error):
            return INTERRUPTED
        if (failure := find_output_failure(error)) is not None:
            return _end_silently(failure)
        reported = find_reported(error)
        if reported is None:
            raise
        click.echo(render_error(reported, options), err=True)
        return reported.exit_code
    return 0


def main() -> None:
    """Run the command line of this process."""
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete  # noqa: PLC0415 - shells ask

        sys.exit(shell_complete(cli, {}, PROGRAM, COMPLETION_VARIABLE, instruction))
    _fill_streams()
    options = Options()
    install_excepthook(options)
    for stream in (sys.stdout, sys.stderr):
        # Titles hold signs that the terminal's encoding may lack.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    sys.exit(run(sys.argv[1:], options))


def _fill_streams() -> None:
    """
    Put nothing in the place of standard streams that were closed before the start.

    Else the next file that is opened takes their number, and gets what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, so this one
    # Open until the process ends, as the interpreter's own are.
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - see above
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - see above


def _end_silently(failure: OSError) -> int:
    """Say why the output ended, unless its reader just left; return the exit code."""
    # Let the interpreter flush its output into nothing when it ends.
    nothing = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nothing, sys.stdout.fileno())
    if not isinstance(failure, BrokenPipeError):
        with contextlib.suppress(OSError):
            click.echo(
                f"prwatch: the output cannot be written: {failure.strerror}", err=True
            )
    return 1


if __name__ == "__main__":
    main()
