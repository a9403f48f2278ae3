"""Everything that a configuration comes to, wired and open: the product at rest."""

import contextlib
import datetime as dt
import os
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from prwatch.app.guard.circuits import Circuits
from prwatch.app.guard.stragglers import Stragglers
from prwatch.app.lease_owner import build_lease_owner
from prwatch.app.mirror import Mirror
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.routes import build_interests, wire_routes
from prwatch.app.spending.limit_blocks import store_limits
from prwatch.app.store_place import open_store
from prwatch.app.surroundings import Surroundings
from prwatch.app.sync.memory import SyncMemory
from prwatch.app.task_sync import TaskSync
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.app.walk.poll_memory import PollMemory
from prwatch.app.walk.poll_settings import PollSettings, build_poll_settings
from prwatch.app.wired_accounts import WiredAccounts
from prwatch.app.worktrees import LiveWorktrees
from prwatch.clock import Clock
from prwatch.config.loader import LoadedConfig
from prwatch.config.model import Config
from prwatch.domain.events import Interest
from prwatch.domain.freshness import AgeReport
from prwatch.errors import ConfigError, StoreError
from prwatch.http.client import BoundedClient, create_http_client
from prwatch.store.database import Database


@dataclass(slots=True, kw_only=True)
class Runtime:
    """An open product. Nothing moves in it until a cycle or a relay runs."""

    config: Config
    surroundings: Surroundings
    database: Database
    mirror: Mirror
    memory: PollMemory
    circuits: Circuits
    settings: PollSettings
    wired: WiredAccounts
    relays: tuple[OutboxRelay, ...]
    interests: tuple[Interest, ...]
    task_sync: TaskSync
    worktrees: LiveWorktrees
    source: str
    sync_memory: SyncMemory = field(default_factory=SyncMemory)
    scanned_at: dt.datetime | None = None
    stragglers: Stragglers[CycleReport] | None = None
    """Accounts that a cycle does not wait for; without it, it waits for all."""
    ages: AgeReport | None = None
    """How long ago watches were seen well, as of the last ordinary cycle or so."""
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
    async with contextlib.AsyncExitStack() as stack:
        database = await stack.enter_async_context(
            open_store(config, surroundings.environ, now, surroundings.is_inline)
        )
        routes = wire_routes(
            config.sinks,
            webhooks=_open_webhooks(config, stack),
            environ=surroundings.environ,
            clock=surroundings.clock,
            stdout=surroundings.stdout,
            state_dir=config.state_dir,
        )
        for route in routes:
            stack.push_async_callback(route.sink.close)
        wired = await _wire_accounts(config, surroundings, database, stack)
        for account in wired.accounts:
            stack.push_async_callback(
                _store_limits, database, surroundings.clock, account
            )
        yield _build_runtime(config, surroundings, database, wired, routes)


async def _store_limits(database: Database, clock: Clock, account: Account) -> None:
    """Store what was refused, whoever asked; without a store there is no more to do."""
    with contextlib.suppress(StoreError):
        await store_limits(database, clock, account)


def _open_webhooks(
    config: Config, stack: contextlib.AsyncExitStack
) -> BoundedClient | None:
    """Return the client of webhooks. It costs 20 ms: without any there is none."""
    if all(sink.kind != "webhook" for sink in config.sinks):
        return None
    client = create_http_client(ca_file=str(config.http.ca_file or ""))
    stack.push_async_callback(client.aclose)
    return client


async def _wire_accounts(
    config: Config,
    surroundings: Surroundings,
    database: Database,
    stack: contextlib.AsyncExitStack,
) -> WiredAccounts:
    if not config.workspaces:
        return WiredAccounts(accounts=(), unusable=(), workspaces={}, hosts={})
    # GraphQL takes as long to import as all the rest together.
    from prwatch.app.accounts import wire_accounts  # noqa: PLC0415 - who asks pays

    client = create_http_client(
        ca_file=str(config.http.ca_file or ""), transport=surroundings.transport
    )
    stack.push_async_callback(client.aclose)
    wired = await wire_accounts(
        config.workspaces,
        database=database,
        http=client,
        environ=surroundings.environ,
        clock=surroundings.clock,
        chance=surroundings.chance,
        poll=config.poll,
    )
    _refuse_if_unusable(config, wired)
    return wired


def _build_runtime(
    config: Config,
    surroundings: Surroundings,
    database: Database,
    wired: WiredAccounts,
    routes: Any,
) -> Runtime:
    clock, chance = surroundings.clock, surroundings.chance
    owner = build_lease_owner(os.getpid())
    return Runtime(
        config=config,
        surroundings=surroundings,
        database=database,
        mirror=Mirror(database),
        memory=PollMemory(full_read=config.poll.full_read),
        circuits=Circuits(clock, chance),
        settings=build_poll_settings(config.poll),
        wired=wired,
        relays=tuple(
            OutboxRelay(route, database, clock=clock, chance=chance, owner=owner)
            for route in routes
        ),
        interests=build_interests(config.sinks),
        task_sync=TaskSync(database, clock=clock, chance=chance),
        worktrees=LiveWorktrees(environ=surroundings.environ),
        source=f"prwatch:{config.instance or socket.gethostname()}",
    )


def _refuse_if_unusable(config: Config, wired: WiredAccounts) -> None:
    if config.workspaces and not wired.accounts:
        problems = tuple(f"workspace {u.name}: {u.message}" for u in wired.unusable)
        raise ConfigError(
            "no workspace has a token that can be used", problems=problems
        )
