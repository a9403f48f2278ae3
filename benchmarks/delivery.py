"""
From a change on GitHub to the webhook, in real time and with the real daemon.

Ten thousand pull requests are watched; in each interval one in a hundred becomes a
draft or ready again, spread over the interval. The clock starts when GitHub shows it
and ends when the receiver has read the request.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
import httpx

from benchmarks.github import open_simulator
from benchmarks.result import Bar, Result
from prwatch.simulator.loopback import serve

INTERVAL = 15
CYCLES = 20
BATCHES = 10
"""In so many parts the changes of an interval come."""
SHARE = 0.01
PATIENCE = 3 * INTERVAL
"""Seconds that the last webhook is waited for."""
ADOPTION_SECONDS = 900
CONFIG = """
state_dir = "{folder}/state"

[poll]
interval = "{interval}s"
hot_interval = "{interval}s"
settle = "0s"

[[workspace]]
name = "bench"
token_env = "BENCH_TOKEN"
api_url = "{url}"

{watches}

[[sink]]
name = "hook"
kind = "webhook"
url = "{hook}"
secret_env = "HOOK_SECRET"
events = ["GitHubPRFeedback"]
"""


class Receiver:
    """Takes webhooks and notes when each came, by the pull request that it is about."""

    def __init__(self):
        self.came_at = {}
        self._awaited = set()
        self._has_all = anyio.Event()

    async def wait_for(self, keys):
        """Return when each of the pull requests was told of."""
        self._awaited = keys
        if keys - set(self.came_at):
            await self._has_all.wait()

    async def __call__(self, scope, receive, send):  # noqa: ARG002 -- ASGI
        message = await receive()
        now = time.monotonic()  # noqa: TID251 -- shared by all processes of the machine
        data = json.loads(message["body"])["data"]
        place, number = data["repository"], data["pull_request"]["number"]
        key = f"{place['owner']}/{place['name']}#{number}"
        self.came_at.setdefault(key, []).append(now)
        if self._awaited and not self._awaited - set(self.came_at):
            self._has_all.set()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


def run_delivery(size):
    with open_simulator(size) as github, tempfile.TemporaryDirectory() as folder:
        yield anyio.run(_measure, github, size, Path(folder))


async def _measure(github, size, folder):
    receiver = Receiver()
    async with serve(receiver) as hook:
        with _open_daemon(github, size, folder, hook):
            await _wait_for_adoption(folder, size)
            github.take_counts()
            shown_at = await _change(github, round(size.pull_requests * SHARE))
            with anyio.move_on_after(PATIENCE):
                await receiver.wait_for(set(shown_at))
            counts = github.take_counts()
    return _build_result(size, shown_at, receiver.came_at, counts)


@contextlib.contextmanager
def _open_daemon(github, size, folder, hook):
    config = folder / "prwatch.toml"
    watches = "\n\n".join(f"[[workspace.watch]]\n{one}" for one in size.list_watches())
    config.write_text(
        CONFIG.format(
            folder=folder,
            interval=INTERVAL,
            url=f"{github.url}/api/v3",
            watches=watches,
            hook=hook,
        )
    )
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "BENCH_TOKEN": github.token,
        "HOOK_SECRET": "not-a-secret-but-long-enough-for-one",
    }
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "prwatch.cli.main", "run", "--config", config]
        process = subprocess.Popen(command, env=environ, cwd=folder, stderr=log)
        try:
            yield
            if process.poll() is not None:
                raise RuntimeError((folder / "log").read_text()[-2000:])
        finally:
            process.terminate()
            process.wait(30)


async def _wait_for_adoption(folder, size):
    """Wait until every pull request is watched, and for one quiet interval more."""
    import sqlite3  # noqa: PLC0415 -- looked at beside the product

    database = folder / "state/prwatch.db"
    query = "SELECT count(*) FROM pr_watches WHERE observed_at IS NOT NULL"
    with anyio.fail_after(ADOPTION_SECONDS):
        while True:
            await anyio.sleep(1)
            with (
                contextlib.suppress(sqlite3.OperationalError),
                contextlib.closing(
                    sqlite3.connect(f"file:{database}?mode=ro", uri=True)
                ) as connection,
            ):
                (count,) = connection.execute(query).fetchone()
                if count == size.pull_requests:
                    break
    await anyio.sleep(INTERVAL)


async def _change(github, each):
    """Change so many in each interval, and return when GitHub showed what."""
    shown_at = {}
    async with httpx.AsyncClient(base_url=github.url, trust_env=False) as client:
        begun = anyio.current_time()
        for batch in range(CYCLES * BATCHES):
            due = begun + batch * INTERVAL / BATCHES
            await anyio.sleep_until(due)
            count = {"count": each // BATCHES}
            answer = await client.get("/_bench/change", params=count, timeout=60)
            shown_at.update(answer.json())
    return shown_at


def _build_result(size, shown_at, came_at, counts):
    seconds = sorted(
        came_at[key][0] - shown for key, shown in shown_at.items() if key in came_at
    )
    missing = len(set(shown_at) - set(came_at))
    doubles = sum(len(times) - 1 for times in came_at.values())
    cuts = statistics.quantiles(seconds, n=100)
    figures = {
        "changes": len(shown_at),
        "missing": missing,
        "p50_s": cuts[49],
        "p99_s": cuts[98],
        "max_s": seconds[-1],
        "requests": counts["graphql"],
        "points": counts["points"],
    }
    return Result(
        name=f"change → webhook, {size}, every {INTERVAL} s, {CYCLES} intervals",
        lines=[
            (
                f"  {len(shown_at)} changes: p50 {cuts[49]:.2f} s,"
                f" p99 {cuts[98]:.2f} s, the last after {seconds[-1]:.2f} s;"
                f" {counts['graphql']} requests, {counts['points']} points"
            )
        ],
        figures=figures,
        bars=[
            Bar("seconds at p99", cuts[98], INTERVAL + 1, is_absolute=True),
            Bar("changes that were not told", missing, 0),
            Bar("changes told more than once", doubles, 0),
        ],
    )
