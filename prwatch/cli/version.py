"""`prwatch version`."""

import platform

import click

from prwatch import __version__
from prwatch.cli.options import get_options, global_options
from prwatch.cli.output import print_json


@click.command("version")
@global_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """Print the version."""
    if get_options(ctx).is_json:
        python = platform.python_version()
        print_json({"version": __version__, "python": python})
    else:
        click.echo(f"prwatch {__version__}")
