"""
A product that kills itself with SIGKILL at a named point of its walk.

Run as a program it reads one JSON line for each life, forks, lives it in the child and
answers how that ended. Points lie around every store call, before the commit of every
transaction, and around every request to GitHub and every delivery.
"""

import dataclasses
import json
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

import anyio
import httpx

from prwatch.app.mirror import Mirror
from prwatch.app.outbox_relay import OutboxRelay
from prwatch.app.polling import poll, start
from prwatch.app.runtime import open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.app.task_sync import TaskSync
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.product import NOON, MovedClock, write_config

NUMBERS = (1, 2)
WATCHES = [f'repository = "octo/hello"\npull_request = {n}' for n in NUMBERS]
ROUND_SECONDS = 300
"""Longer than a lease, so that the next life may take what the killed one held."""


class Points:
    """Counts and names the points that are passed; the chosen one is the last."""

    def __init__(self, file, kill_at):
        self._file = file
        self._kill_at = kill_at
        self._count = 0

    def reach(self, name):
        self._count += 1
        self._file.write(f"{self._count} {name}\n")
        self._file.flush()
        if self._count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


class KillingDatabase:
    """The database between two points, with one more before each commit."""

    def __init__(self, database, points):
        self._database = database
        self._points = points

    @property
    def rows_written(self):
        return self._database.rows_written

    async def transact(self, fn):
        name = _name(fn)

        async def work(tx):
            result = await fn(tx)
            self._points.reach(f"before the commit of {name}")
            return result

        self._points.reach(f"before {name}")
        result = await self._database.transact(work)
        self._points.reach(f"after {name}")
        return result

    async def read(self, fn):
        self._points.reach(f"before reading {_name(fn)}")
        result = await self._database.read(fn)
        self._points.reach(f"after reading {_name(fn)}")
        return result

    async def change_token(self):
        return await self._database.change_token()


class KillingSink:
    """A sink between two points."""

    def __init__(self, sink, points):
        self._sink = sink
        self._points = points
        self.name, self.kind, self.limit = sink.name, sink.kind, sink.limit

    async def deliver(self, delivery):
        what = f"{self.name} {delivery.event.type} of #{delivery.event.pr_number}"
        self._points.reach(f"before delivering to {what}")
        outcome = await self._sink.deliver(delivery)
        self._points.reach(f"after delivering to {what}")
        return outcome

    async def close(self):
        await self._sink.close()


class KillingTransport(httpx.ASGITransport):
    """The way to GitHub between two points."""

    def __init__(self, app, points):
        super().__init__(app)
        self._points = points

    async def handle_async_request(self, request):
        self._points.reach(f"before {request.method} {request.url.path}")
        response = await super().handle_async_request(request)
        self._points.reach(f"after {request.method} {request.url.path}")
        return response


def _name(fn):
    return f"{fn.__module__.rpartition('.')[2]}.{fn.__qualname__}"


def build_world(clock):
    world = World(clock)
    world.add_repository("octo/hello")
    for number in NUMBERS:
        world.open_pull_request("octo/hello", branch=f"topic-{number}", number=number)
    return world


def change_once(world):
    """Change both, one of them finally."""
    one, two = world.pull_requests.values()
    world.set_check(one, "test", conclusion="FAILURE")
    world.merge(two)


def change_again(world):
    one, _ = world.pull_requests.values()
    world.push(one)


async def live(folder, webhook, points, *, is_adopting, is_last):
    """Play the world up to here, poll and deliver; a last life sees more changes."""
    clock = MovedClock(NOON)
    world = build_world(clock)
    sinks = (
        f'[[sink]]\nname = "file"\nkind = "jsonl"\npath = "{folder}/events.jsonl"\n'
        f'limit = 1\n[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "{webhook}"\n'
        "limit = 1"
    )
    text = write_config(folder, watches=WATCHES, sinks=sinks)
    environ = {"HOME": str(folder), "TOKEN": DEFAULT_TOKEN}
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(is_adopting * 2 + is_last),
        stdout=sys.stdout.buffer,
        transport=KillingTransport(GitHubApp(world), points),
    )
    clock.advance(60)
    if not is_adopting:
        change_once(world)
        clock.advance(ROUND_SECONDS * (2 if is_last else 1))
    async with open_runtime(load_config(text, environ=environ), surroundings) as opened:
        runtime = _wrap(opened, points)
        await start(runtime)
        await _cycle(runtime)
        if is_last:
            change_again(world)
            clock.advance(ROUND_SECONDS)
            await _cycle(runtime)


def _wrap(runtime, points):
    clock, chance = runtime.clock, runtime.surroundings.chance
    database = KillingDatabase(runtime.database, points)
    relays = []
    for relay in runtime.relays:
        route = dataclasses.replace(
            relay._route, sink=KillingSink(relay._route.sink, points)
        )
        relays.append(OutboxRelay(route, database, clock=clock, chance=chance))
    return dataclasses.replace(
        runtime,
        database=database,
        mirror=Mirror(database),
        relays=tuple(relays),
        task_sync=TaskSync(database, clock=clock, chance=chance),
    )


async def _cycle(runtime):
    await poll(runtime, is_forced=True)
    for relay in runtime.relays:
        await relay.run_once()


def run_life(folder, webhook, kill_at, mode):
    """Return the exit code of one life, negative for the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with (Path(folder) / "points.txt").open("w") as file:
            points = Points(file, kill_at)
            anyio.run(_live, Path(folder), webhook, points, mode)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _live(folder, webhook, points, mode):
    is_adopting, is_last = mode == "adopt", mode == "last"
    await live(folder, webhook, points, is_adopting=is_adopting, is_last=is_last)


def warm_up():
    """Import and parse once what every life needs, so that forks need not."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as file:
        points = Points(file, kill_at=0)
        anyio.run(_live, Path(folder), "http://127.0.0.1:9/", points, "adopt")
        anyio.run(_live, Path(folder), "http://127.0.0.1:9/", points, "last")


def main():
    warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        code = run_life(**order)
        sys.stdout.write(json.dumps(code) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
