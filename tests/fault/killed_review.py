"""
A review queue, or a sweep of review tasks, that kills itself at a named point.

Run as a program it reads one JSON line for each life, forks, lives it in the child and
answers how that ended. Points lie as in `killed_product`. `open_lives` starts it once
for a test: imports cost more than a life does.
"""

import contextlib
import dataclasses
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.polling import start
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.runtime import open_runtime
from prwatch.app.store_place import DATABASE_NAME
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.fault.killed_product import KillingDatabase, KillingTransport, Points
from tests.product import NOON, MovedClock, write_config

NUMBERS = (1, 2)
REVIEWS = '[[workspace.review]]\nname = "mine"'
SEARCH, SWEEP = "search", "sweep"
"""What a life does: it finds two pull requests, or sees that they are merged."""


def build_world(clock, mode):
    world = World(clock)
    world.add_repository("octo/hello")
    for number in NUMBERS:
        one = world.open_pull_request(
            "octo/hello", branch=f"topic-{number}", number=number
        )
        world.request_review(one, "octocat")
    for one in tuple(world.pull_requests.values()) if mode == SWEEP else ():
        world.merge(one)
    return world


async def live(folder, points, seconds, mode):
    """Search or sweep once, so many seconds after noon."""
    clock = MovedClock(NOON)
    world = build_world(clock, mode)
    clock.advance(seconds)
    environ = {"HOME": str(folder), "TOKEN": DEFAULT_TOKEN}
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(seconds),
        stdout=sys.stderr.buffer,
        transport=KillingTransport(GitHubApp(world), points),
    )
    text = write_config(folder, watches=(), tasks=REVIEWS)
    async with open_runtime(load_config(text, environ=environ), surroundings) as opened:
        await start(opened)
        database = KillingDatabase(opened.database, points)
        runtime = dataclasses.replace(opened, database=database)
        work = ReviewCleanup(runtime) if mode == SWEEP else ReviewQueue(runtime)
        await work.run_once()


def run_life(folder, kill_at, seconds, mode):
    """Return the exit code of one life, negative for the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with (Path(folder) / "points.txt").open("w") as file:
            anyio.run(live, Path(folder), Points(file, kill_at), seconds, mode)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


def main():
    for mode in (SEARCH, SWEEP):
        with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as f:
            anyio.run(live, Path(folder), Points(f, kill_at=0), 1, mode)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_life(**json.loads(line))) + "\n")
        sys.stdout.flush()


@contextlib.contextmanager
def open_lives():
    """Start the program; yield what lives a life and returns its exit code."""
    command = [sys.executable, "-m", "tests.fault.killed_review"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def live_once(folder, *, seconds, mode=SEARCH, kill_at=-1):
            folder.mkdir(exist_ok=True)
            order = {"folder": str(folder), "kill_at": kill_at}
            line = json.dumps({**order, "seconds": seconds, "mode": mode})
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield live_once
        process.stdin.close()


def read_points(folder):
    """Return the points that the last life in a folder passed."""
    return (folder / "points.txt").read_text().splitlines()


def read_rows(folder, sql):
    """Return what a statement gives of the database that lives left in a folder."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return connection.execute(sql).fetchall()


if __name__ == "__main__":
    main()
