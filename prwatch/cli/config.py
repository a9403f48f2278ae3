"""`prwatch config`: what is configured, where it came from, what is wrong with it."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from prwatch.cli.options import get_options, global_options, load
from prwatch.cli.output import print_json, print_text
from prwatch.errors import ConfigError

if TYPE_CHECKING:
    from prwatch.config.loader import LoadedConfig


@click.group("config")
@global_options
def command() -> None:
    """Check and show the configuration."""


@command.command("check")
@global_options
@click.pass_context
def check(ctx: click.Context) -> None:
    """
    Name everything that is wrong, without starting.

    Reads the secrets that the configuration refers to, but asks nobody about them.
    Exits with 2 when something has to be mended.
    """
    is_json = get_options(ctx).is_json
    try:
        loaded = load(ctx)
        _refuse(tuple(_list_missing_secrets(ctx, loaded)))
    except ConfigError as error:
        if is_json:
            problems = error.problems or (error.message,)
            print_json({"ok": False, "problems": list(problems)})
        raise
    path = str(loaded.path) if loaded.path else None
    if is_json:
        print_json({"ok": True, "path": path, "problems": []})
    elif not loaded.config.workspaces:
        where = path or "without a configuration file"
        print_text(f"{where}: nothing is wrong, and nothing is watched.")
    else:
        print_text(f"{path or 'The configuration'}: nothing is wrong.")


@command.command("show")
@global_options
@click.pass_context
def show(ctx: click.Context) -> None:
    """
    Show what is in effect and where it came from.

    References to secrets are shown, secrets never.
    """
    from prwatch.config.show import list_shown, render_json, render_text  # noqa: PLC0415 - heavy

    values = list_shown(load(ctx))
    is_json = get_options(ctx).is_json
    print_text(render_json(values) if is_json else render_text(values))


@command.command("path")
@global_options
@click.pass_context
def path(ctx: click.Context) -> None:
    """
    Print the file that is used.

    Exits with 1 when there is none, and tells where one is looked for.
    """
    from prwatch.config.places import find_config, list_places  # noqa: PLC0415 - heavy

    options = get_options(ctx)
    found = find_config(options.config, options.environ, options.cwd)
    places = list_places(options.environ, options.cwd)
    if options.is_json:
        print_json(
            {
                "path": str(found) if found else None,
                "places": [str(each) for each in places],
            }
        )
    elif found:
        print_text(str(found))
    else:
        listed = ", ".join(str(each) for each in places)
        print_text(f"There is no configuration file; looked for {listed}.", err=True)
    ctx.exit(0 if found else 1)


@command.command("example")
@global_options
def example() -> None:
    """Print a configuration with every key, its default and its meaning."""
    from prwatch.app.resources import read_resource  # noqa: PLC0415 - seldom needed

    click.echo(read_resource("config.example.toml"), nl=False)


def _refuse(problems: tuple[str, ...]) -> None:
    if problems:
        raise ConfigError("secrets cannot be read", problems=problems)


def _list_missing_secrets(ctx: click.Context, loaded: "LoadedConfig") -> Iterator[str]:
    from prwatch.config.secrets import SecretSource, read_secret  # noqa: PLC0415 - heavy

    environ = get_options(ctx).environ
    for owner, reference in loaded.config.list_secrets():
        if reference.source is SecretSource.GH:
            if shutil.which("gh", path=environ.get("PATH")) is None:
                yield f"{owner}: there is no program gh, which is to give the token"
            continue
        try:
            read_secret(reference, environ)
        except ConfigError as error:
            yield f"{owner}: {error}" + (f"; {error.hint}" if error.hint else "")
