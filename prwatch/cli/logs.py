"""Where a command's log goes: to stderr, without the secrets of its configuration."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast

import click

from prwatch.cli.options import get_options
from prwatch.cli.output import is_terminal
from prwatch.cli.progress import Progress
from prwatch.config.loader import LoadedConfig
from prwatch.config.model import Config
from prwatch.config.secrets import SecretSource, read_secret
from prwatch.errors import ConfigError
from prwatch.telemetry.log import Layout, configure_logging
from prwatch.telemetry.redaction import Redactor
from prwatch.telemetry.secret import Secret


def start_logging(
    ctx: click.Context,
    loaded: LoadedConfig,
    *,
    progress: Progress | None = None,
    level: str = "",
) -> Redactor:
    """
    Log to stderr as the configuration says, and return what masks its secrets.

    Errors that are told from now on pass through the same redactor. Lines make way
    for those of `progress`. `level` wins over the file, but not over `--log-level`.
    """
    options = get_options(ctx)
    config = loaded.config
    redactor = Redactor(read_secrets(config, options.environ))
    options.redactor = redactor
    configure_logging(
        # The log writes and flushes, which is all of a stream that progress is.
        cast("BinaryIO", progress) if progress else sys.stderr.buffer,
        is_terminal=is_terminal(sys.stderr),
        level=options.log_level or level or config.log.level,
        redactor=redactor,
        layout=Layout(config.log.format),
    )
    return redactor


def read_secrets(config: Config, environ: Mapping[str, str]) -> Iterator[Secret]:
    """
    Yield the secrets that the configuration names and that can be read.

    What `gh` would give is left out: it has the shape of a token.
    """
    for _, reference in config.list_secrets():
        if reference.source is SecretSource.GH:
            continue
        with contextlib.suppress(ConfigError):
            yield read_secret(reference, environ)
