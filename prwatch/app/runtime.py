"""Everything that a configuration comes to, wired and open: the product at rest."""

import contextlib
import datetime as dt
import random
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from prwatch.app.accounts import WiredAccounts, wire_accounts
from prwatch.app.cycle import PollSettings
from prwatch.app.mirror import Mirror
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.poll_memory import PollMemory
from prwatch.app.routes import build_interests, wire_routes
from prwatch.app.task_sync import TaskSync
from prwatch.app.worktrees import LiveWorktrees
from prwatch.clock import Clock
from prwatch.config.loader import LoadedConfig
from prwatch.config.model import Config, Poll
from prwatch.config.places import prepare_state_dir
from prwatch.config.secrets import read_secret
from prwatch.domain.events import Interest
from prwatch.domain.schedule import Intervals
from prwatch.errors import ConfigError
from prwatch.http.client import create_http_client
from prwatch.store.database import Database
from prwatch.store.opening import open_database

DATABASE_NAME = "prwatch.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """
    What the product takes from outside.

    `transport` answers in place of the network, for the simulator. `is_inline` runs
    SQLite in the calling thread, for event loops that its driver does not know.
    """

    environ: Mapping[str, str]
    clock: Clock
    chance: random.Random
    stdout: BinaryIO
    transport: Any = None
    is_inline: bool = False


@dataclass(slots=True, kw_only=True)
class Runtime:
    """An open product. Nothing moves in it until a cycle or a relay runs."""

    config: Config
    surroundings: Surroundings
    database: Database
    mirror: Mirror
    memory: PollMemory
    settings: PollSettings
    wired: WiredAccounts
    relays: tuple[OutboxRelay, ...]
    interests: tuple[Interest, ...]
    task_sync: TaskSync
    worktrees: LiveWorktrees
    source: str
    scanned_at: dt.datetime | None = None
    on_progress: Callable[[], None] = field(default=lambda: None)

    @property
    def clock(self) -> Clock:
        """Return where time comes from."""
        return self.surroundings.clock

    def notify_relays(self) -> None:
        """Let every relay look at once."""
        for relay in self.relays:
            relay.notify()


@contextlib.asynccontextmanager
async def open_runtime(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Runtime]:
    """
    Open the store, the clients and the sinks of a configuration.

    Raises:
        ConfigError: No workspace can be used, or a sink cannot.
        StoreError: The database cannot be opened.
    """
    config = loaded.config
    now = surroundings.clock.now()
    ca_file = str(config.http.ca_file or "")
    async with contextlib.AsyncExitStack() as stack:
        database = await stack.enter_async_context(
            open_store(config, surroundings.environ, now, surroundings.is_inline)
        )
        github_http = create_http_client(
            ca_file=ca_file, transport=surroundings.transport
        )
        webhooks = create_http_client(ca_file=ca_file)
        for client in (github_http, webhooks):
            stack.push_async_callback(client.aclose)
        routes = wire_routes(
            config.sinks,
            webhooks=webhooks,
            environ=surroundings.environ,
            clock=surroundings.clock,
            stdout=surroundings.stdout,
            state_dir=config.state_dir,
        )
        for route in routes:
            stack.push_async_callback(route.sink.close)
        wired = await wire_accounts(
            config.workspaces,
            database=database,
            http=github_http,
            environ=surroundings.environ,
            clock=surroundings.clock,
            chance=surroundings.chance,
            settle=config.poll.settle,
        )
        _refuse_if_unusable(config, wired)
        yield _build_runtime(config, surroundings, database, wired, routes)


def _build_runtime(
    config: Config,
    surroundings: Surroundings,
    database: Database,
    wired: WiredAccounts,
    routes: Any,
) -> Runtime:
    clock, chance = surroundings.clock, surroundings.chance
    return Runtime(
        config=config,
        surroundings=surroundings,
        database=database,
        mirror=Mirror(database),
        memory=PollMemory(full_read=config.poll.full_read),
        settings=build_poll_settings(config.poll),
        wired=wired,
        relays=tuple(
            OutboxRelay(route, database, clock=clock, chance=chance) for route in routes
        ),
        interests=build_interests(config.sinks),
        task_sync=TaskSync(database, clock=clock, chance=chance),
        worktrees=LiveWorktrees(environ=surroundings.environ),
        source=f"prwatch:{config.instance or socket.gethostname()}",
    )


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


def find_database(config: Config, environ: Mapping[str, str]) -> Path | str:
    """
    Return the SQLite file, or the PostgreSQL URL with its password.

    Raises:
        ConfigError: The password cannot be read.
    """
    if config.database_url:
        return _add_password(config, environ)
    return config.state_dir / DATABASE_NAME


def _add_password(config: Config, environ: Mapping[str, str]) -> str:
    reference = config.database_password
    if reference is None:
        return config.database_url
    password = read_secret(reference, environ)
    scheme, _, rest = config.database_url.partition("://")
    user, at, place = rest.rpartition("@")
    quoted = quote(password.reveal(), safe="")
    return f"{scheme}://{user}:{quoted}@{place}" if at else config.database_url


def build_poll_settings(poll: Poll) -> PollSettings:
    """Return the numbers of the walk from the configuration's section."""
    return PollSettings(
        settle=poll.settle,
        full_read=poll.full_read,
        search_for=poll.search_for,
        progress_deadline=poll.progress_deadline,
        read_path=poll.read_path,
        feedback_on_activity=poll.feedback_on_activity,
        intervals=Intervals(
            base=poll.interval,
            hot=poll.hot_interval,
            search=poll.search_interval,
            search_idle=poll.search_idle_interval,
            search_rest=poll.search_rest_interval,
            search_for=poll.search_for,
            full_read=poll.full_read,
        ),
    )


def _refuse_if_unusable(config: Config, wired: WiredAccounts) -> None:
    if config.workspaces and not wired.accounts:
        problems = tuple(f"workspace {u.name}: {u.message}" for u in wired.unusable)
        raise ConfigError(
            "no workspace has a token that can be used", problems=problems
        )
