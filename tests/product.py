"""
A running product over the simulated GitHub, on time that the test moves.

The store is a real SQLite file, run in the calling thread; deliveries leave as lines
into memory. Opening the same folder again is a restart.
"""

import contextlib
import datetime as dt
import io
import json
import random
import sqlite3
from dataclasses import dataclass, field

import anyio
import httpx

from prwatch.app.polling import poll, start
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.store_place import DATABASE_NAME
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp
from prwatch.testing.moved_clock import NOON, MovedClock

GAP = 60.0
"""Seconds between two cycles: the base interval."""
ONE = 'repository = "octo/hello"\npull_request = 12'
BRANCH = 'repository = "octo/hello"\nbranch = "fix-greeting"'
ALL = 'repository = "octo/hello"\nall = true'
OUT = '[[sink]]\nname = "out"\nkind = "stdout"'


class LoopClock:
    """The event loop's own time, for loops that jump over every wait."""

    def __init__(self):
        self._start = anyio.current_time()

    def now(self):
        return NOON + dt.timedelta(seconds=self.monotonic())

    def monotonic(self):
        return anyio.current_time() - self._start

    async def sleep(self, seconds):
        await anyio.sleep(max(0.0, seconds))


def write_config(
    state_dir, *, watches=(ONE,), tasks="", poll="", sinks=OUT, top="", api_url=""
):
    """Return the text of a configuration with one workspace, `acme`."""
    watch_tables = [f"[[workspace.watch]]\n{watch}" for watch in watches]
    address = f'api_url = "{api_url}"' if api_url else ""
    parts = [
        f'state_dir = "{state_dir}"\ninstance = "test"\n{top}',
        f"[poll]\n{poll}",
        f'[[workspace]]\nname = "acme"\ntoken_env = "TOKEN"\n{address}',
        *watch_tables,
        tasks,
        sinks,
    ]
    return "\n\n".join(parts)


@dataclass
class Product:
    """An open product with the world it watches and what it has told so far."""

    runtime: Runtime
    clock: object
    state_dir: object
    out: io.BytesIO
    reports: list = field(default_factory=list)
    notices: list = field(default_factory=list)
    """Events about the watching itself, apart from those about pull requests."""

    async def cycle(self, *, gap=GAP, is_full=False, is_forced=True):
        """Let time pass, run one cycle and every delivery; return what was told."""
        self.clock.advance(gap)
        report = await poll(self.runtime, is_forced=is_forced, is_full=is_full)
        for relay in self.runtime.relays:
            await relay.run_once()
        self.reports.append(report)
        return self.take_events()

    async def cycles(self, count, **options):
        """Run that many cycles; return all that was told."""
        told = []
        for _ in range(count):
            told += await self.cycle(**options)
        return told

    @property
    def report(self):
        return self.reports[-1]

    def take_events(self):
        """Return what was delivered about pull requests since the last call."""
        lines = self.out.getvalue().splitlines()
        self.out.seek(0)
        self.out.truncate()
        events = [json.loads(line) for line in lines]
        about_pull_requests = [e for e in events if "watch_id" in e["data"]]
        self.notices += [e for e in events if "watch_id" not in e["data"]]
        return about_pull_requests

    def ask(self, sql, *values):
        """Read rows beside the product, as dictionaries."""
        with contextlib.closing(self.connect()) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, values)]

    def connect(self):
        return sqlite3.connect(self.state_dir / DATABASE_NAME, isolation_level=None)

    @contextlib.contextmanager
    def refused_writes(self):
        """Let the database itself refuse every row, also one with equal values."""
        with contextlib.closing(self.connect()) as connection:
            names = [
                row[0]
                for row in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                    " AND name NOT LIKE 'sqlite_%'"
                )
            ]
            hooks = [(n, v) for n in names for v in ("INSERT", "UPDATE", "DELETE")]
            for name, verb in hooks:
                connection.execute(
                    f"CREATE TRIGGER hook_{verb}_{name} BEFORE {verb} ON {name}"
                    f" BEGIN SELECT RAISE(ABORT, '{verb} on {name}'); END"
                )
            yield
            for name, verb in hooks:
                connection.execute(f"DROP TRIGGER hook_{verb}_{name}")

    def watermarks(self):
        """Return the rows of watches and of task pull requests, to be compared."""
        return (
            self.ask("SELECT * FROM pr_watches ORDER BY id"),
            self.ask(
                "SELECT * FROM task_pull_requests ORDER BY task_id, repository_id,"
                " pr_number"
            ),
        )


@contextlib.asynccontextmanager
async def open_product(
    state_dir,
    world=None,
    *,
    clock=None,
    transport=None,
    token=DEFAULT_TOKEN,
    seed=0,
    is_inline=True,
    secrets=(),
    **config,
):
    """
    Open a product over the world, or over what `transport` or `api_url` answer.

    Tasks are put and stored limits restored, as a start does; no cycle has run yet.
    """
    clock = clock or (world.clock if world else MovedClock())
    if transport is None and world is not None:
        transport = httpx.ASGITransport(GitHubApp(world))
    environ = {"HOME": str(state_dir), "TOKEN": token, **dict(secrets)}
    text = write_config(state_dir, **config)
    out = io.BytesIO()
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(seed),
        stdout=out,
        transport=transport,
        is_inline=is_inline,
    )
    async with open_runtime(load_config(text, environ=environ), surroundings) as opened:
        await start(opened)
        yield Product(opened, clock, state_dir, out)


def list_changes(events, event_type="GitHubTaskPRUpdated"):
    """Return each event's changes as (field, previous, current), one tuple an event."""
    return [
        tuple(
            (change["field"], change["previous"], change["current"])
            for change in event["data"]["changes"]
        )
        for event in events
        if event["type"] == event_type
    ]
