"""The program `prwatch`: its commands, found by name and imported when called."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import click

from prwatch import __version__
from prwatch.cli.errors import (
    INTERRUPTED,
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
        "prwatch.cli.status", "Show workspaces, watches, failures and deliveries."
    ),
    "health": Entry("prwatch.cli.health", "Tell whether the daemon does its work."),
    "watch": Entry("prwatch.cli.watch", "Manage what is watched."),
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
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except BaseException as error:
        if is_interrupt(error):
            return INTERRUPTED
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
    options = Options()
    install_excepthook(options)
    for stream in (sys.stdout, sys.stderr):
        # Titles hold signs that the terminal's encoding may lack.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    sys.exit(run(sys.argv[1:], options))


def _silence_stdout() -> None:
    """Let the interpreter flush its output into nothing when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
