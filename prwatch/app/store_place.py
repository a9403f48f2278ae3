"""Where the store of a configuration is, and opening it."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import quote

from prwatch.config.model import Config
from prwatch.config.places import prepare_state_dir
from prwatch.config.secrets import read_secret
from prwatch.store.database import Database
from prwatch.store.opening import open_database

DATABASE_NAME = "prwatch.db"


def find_database(config: Config, environ: Mapping[str, str]) -> Path | str:
    """
    Return the SQLite file, or the PostgreSQL URL with its password.

    Raises:
        ConfigError: The password cannot be read.
    """
    if config.database_url:
        return _add_password(config, environ)
    return config.state_dir / DATABASE_NAME


@contextlib.asynccontextmanager
async def open_store(
    config: Config,
    environ: Mapping[str, str],
    now: dt.datetime,
    is_inline: bool = False,
) -> AsyncIterator[Database]:
    """Open the database that the configuration names, SQLite in `state_dir` if none."""
    prepare_state_dir(config.state_dir)
    target = find_database(config, environ)
    async with open_database(target, now=now, inline=is_inline) as database:
        yield database


def _add_password(config: Config, environ: Mapping[str, str]) -> str:
    reference = config.database_password
    if reference is None:
        return config.database_url
    password = read_secret(reference, environ)
    scheme, _, rest = config.database_url.partition("://")
    user, at, place = rest.rpartition("@")
    quoted = quote(password.reveal(), safe="")
    return f"{scheme}://{user}:{quoted}@{place}" if at else config.database_url
