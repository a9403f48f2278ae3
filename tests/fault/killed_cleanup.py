"""
A sweep of review tasks that kills itself with SIGKILL at a named point.

Run as a program it reads one JSON line for each life, forks, lives it in the child and
answers how that ended. Points lie as in `killed_product`. The first life of a folder
finds two pull requests; later ones see them merged.
"""

import dataclasses
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import anyio

from prwatch.app.polling import start
from prwatch.app.review.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.runtime import open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp
from tests.fault.killed_product import KillingDatabase, KillingTransport, Points
from tests.fault.killed_review import REVIEWS, build_world
from tests.product import NOON, MovedClock, write_config


async def live(folder, points, *, seconds):
    """Sweep once, so many seconds after noon; at noon itself find what there is."""
    clock = MovedClock(NOON)
    world = build_world(clock)
    if seconds:
        for one in list(world.pull_requests.values()):
            world.merge(one)
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
        if seconds:
            await ReviewCleanup(runtime).run_once()
        else:
            await ReviewQueue(runtime).run_once()


def run_life(folder, kill_at, seconds):
    """Return the exit code of one life, negative for the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with (Path(folder) / "points.txt").open("w") as file:
            anyio.run(_live, Path(folder), Points(file, kill_at), seconds)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _live(folder, points, seconds):
    await live(folder, points, seconds=seconds)


def main():
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as file:
        anyio.run(_live, Path(folder), Points(file, kill_at=0), 1)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_life(**json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
