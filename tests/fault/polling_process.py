"""
A process that polls and delivers, cycle after cycle, until its standard input ends.

Arguments are the state folder, the database's address ('' for SQLite in the folder)
and the address of a GitHub. Events leave as lines on the standard output.
"""

import random
import sys
from pathlib import Path

import anyio
import anyio.to_thread

from prwatch.app.polling import poll, start
from prwatch.app.runtime import open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.clock import SystemClock
from prwatch.config.loader import load_config
from prwatch.simulator import DEFAULT_TOKEN
from tests.product import write_config


async def run(folder, database_url, api_url):
    top = f'database_url = "{database_url}"' if database_url else ""
    environ = {"HOME": folder, "TOKEN": DEFAULT_TOKEN}
    text = write_config(folder, top=top, api_url=api_url, poll='settle = "0s"')
    surroundings = Surroundings(
        environ=environ,
        clock=SystemClock(),
        chance=random.Random(folder),
        stdout=sys.stdout.buffer,
    )
    async with (
        open_runtime(load_config(text, environ=environ), surroundings) as runtime,
        anyio.create_task_group() as group,
    ):
        await start(runtime)
        group.start_soon(_turn, runtime)
        await anyio.to_thread.run_sync(sys.stdin.read)
        group.cancel_scope.cancel()


async def _turn(runtime):
    while True:
        await poll(runtime, is_forced=True)
        for relay in runtime.relays:
            await relay.run_once()


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(exist_ok=True)
    anyio.run(run, *sys.argv[1:])
