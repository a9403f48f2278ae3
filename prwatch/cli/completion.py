"""`prwatch completion`."""

import click
from click.shell_completion import get_completion_class

from prwatch.cli.options import global_options

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@global_options
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """
    Print completion for a shell.

    Add `eval "$(prwatch completion bash)"` to ~/.bashrc, the same with zsh to
    ~/.zshrc, and `prwatch completion fish | source` to fish's configuration.
    """
    kind = get_completion_class(shell)
    if kind is not None:
        from prwatch.cli.main import COMPLETION_VARIABLE, PROGRAM  # noqa: PLC0415 - a cycle

        root = ctx.find_root().command
        click.echo(kind(root, {}, PROGRAM, COMPLETION_VARIABLE).source())
