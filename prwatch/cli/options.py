"""
The options that every command has, and what commands make of them.

They may stand before and after the name of the command. Command modules import
nothing heavy at their top: the list of commands has to appear at once.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

    from prwatch.config.loader import LoadedConfig
    from prwatch.telemetry.redaction import Redactor

T = TypeVar("T")
Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

LOG_LEVELS = ("debug", "info", "warning", "error")


class Options:
    """
    What was asked for on the whole command line, and the surroundings of it.

    `redactor` knows the secrets of the configuration once logging has begun; what
    is said about an error passes through it. It is no dataclass, and paths are made
    when asked for: the list of commands appears sooner without either module.
    """

    def __init__(
        self, *, environ: Mapping[str, str] | None = None, cwd: "Path | None" = None
    ) -> None:
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.config_file = ""
        self.state_dir = ""
        self.is_json = False
        self.log_level = ""
        self.metrics_listen = ""
        self.redactor: Redactor | None = None
        self._cwd = cwd

    @property
    def cwd(self) -> "Path":
        """Return the folder that the person stands in."""
        from pathlib import Path  # noqa: PLC0415 - see above

        return Path.cwd() if self._cwd is None else self._cwd

    @property
    def config(self) -> "Path | None":
        """Return the file that `--config` names, or None."""
        from pathlib import Path  # noqa: PLC0415 - see above

        return Path(self.config_file) if self.config_file else None

    @property
    def flags(self) -> dict[str, str]:
        """Return the keys of the configuration that options set."""
        given = {
            "state_dir": self.state_dir,
            "log.level": self.log_level,
            "daemon.metrics_listen": self.metrics_listen,
        }
        return {key: value for key, value in given.items() if value}


def get_options(ctx: click.Context) -> Options:
    """Return the options of this call, made on first use."""
    options: Options = ctx.ensure_object(Options)
    return options


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        options = get_options(ctx)
        if value:
            setattr(options, name, value)

    return callback


def global_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Add `--config`, `--state-dir`, `--json` and `--log-level` to a command.

    They land in `get_options(ctx)` and not among the command's parameters.
    """
    options: tuple[Decorator, ...] = (
        click.option(
            "--config",
            type=click.Path(),
            expose_value=False,
            callback=_remember("config_file"),
            help="The configuration file.",
        ),
        click.option(
            "--state-dir",
            metavar="DIRECTORY",
            expose_value=False,
            callback=_remember("state_dir"),
            help="The folder of the database.",
        ),
        click.option(
            "--json",
            is_flag=True,
            expose_value=False,
            callback=_remember("is_json"),
            help="Print JSON for programs.",
        ),
        click.option(
            "--log-level",
            type=click.Choice(LOG_LEVELS),
            expose_value=False,
            callback=_remember("log_level"),
            help="The least important level that is logged.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def load(ctx: click.Context) -> "LoadedConfig":
    """
    Return the configuration that this call uses.

    Raises:
        ConfigError: It cannot be found, read or used; all problems are told.
    """
    from prwatch.config.loader import load_config  # noqa: PLC0415 - `--help` needs none
    from prwatch.config.places import find_config  # noqa: PLC0415 - as above

    options = get_options(ctx)
    path = find_config(options.config, options.environ, options.cwd)
    return load_config(
        path, environ=options.environ, flags=options.flags, cwd=options.cwd
    )


def run_async(function: Callable[[], Awaitable[T]]) -> T:
    """Run an asynchronous function of no arguments and return what it returns."""
    import anyio  # noqa: PLC0415 - the list of commands does without

    return anyio.run(function)
