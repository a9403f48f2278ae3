"""The GitHub that is asked: in a process of its own, and it counts what it is asked."""

import contextlib
import datetime as dt
import json
import subprocess
import sys
from email.utils import parsedate_to_datetime

import anyio
import anyio.to_thread
import httpx

from prwatch.clock import SystemClock
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.loopback import serve

REPOSITORY = "bench/hello"
STANDIN_TOKEN = "ghp_bench"


class CountedGitHub:
    """The simulator, with one more address that tells what it counted."""

    def __init__(self, world):
        self._world = world
        self._app = GitHubApp(world)

    async def __call__(self, scope, receive, send):
        if scope["path"] != "/_bench/counts":
            await self._app(scope, receive, send)
            return
        log = self._world.requests
        counts = {"graphql": log.graphql, "points": log.points, "rest": log.rest}
        log.clear()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(counts).encode()})


def build_world(count):
    world = World(_HourAgo())
    world.limits = dict.fromkeys(world.limits, 10**9)
    world.add_repository(REPOSITORY, requires_reviews=True)
    for index, one in enumerate(world.open_many(REPOSITORY, count)):
        for name in ("build", "test", "lint"):
            world.set_check(one, name, workflow="CI", conclusion="SUCCESS")
        if index % 3 == 0:
            world.submit_review(one, "grace")
        if index % 5 == 0:
            world.comment(one, "linus", "Nice!")
    world.clock = SystemClock()
    return world


class _HourAgo(SystemClock):
    """When everything was set up: all checks have settled since."""

    def now(self):
        return super().now() - dt.timedelta(hours=1)


async def run_server(count):
    """Serve until the standard input ends; the first line printed is the address."""
    async with serve(CountedGitHub(build_world(count))) as url:
        print(url, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


class Simulator:
    """Our own model of GitHub, in another process."""

    name = "simulator"
    token = DEFAULT_TOKEN

    def __init__(self, url):
        self.url = url

    def now(self):
        return dt.datetime.now(dt.UTC)  # noqa: TID251 -- a benchmark lives in real time

    def take_counts(self):
        return httpx.get(f"{self.url}/_bench/counts", trust_env=False).json()


class Standin:
    """An independent model of GitHub that runs already."""

    name = "stand-in"
    token = STANDIN_TOKEN

    def __init__(self, url, count):
        self.url = url
        self._control = httpx.Client(
            base_url=f"{url}/_control", trust_env=False, timeout=60
        )
        self._call("reset", {})
        self._call("config", {"enforceSecondary": False})
        for resource in ("graphql", "core"):
            limit = {"token": self.token, "resource": resource, "limit": 10**9}
            self._call("ratelimit", limit)
        self._call("generate", {"repo": REPOSITORY, "prs": count, "checks": 3})

    def now(self):
        return parsedate_to_datetime(self._control.get("health").headers["date"])

    def take_counts(self):
        stats = self._control.get("stats").json()
        requests = self._control.get("requests").json()
        self._call("stats-reset", {})
        graphql = sum(each["path"] == "/graphql" for each in requests)
        return {"graphql": graphql, "points": stats["graphqlCost"], "rest": 0}

    def _call(self, path, body):
        self._control.post(path, json=body).raise_for_status()


@contextlib.contextmanager
def open_simulator(count):
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.github", str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Simulator(process.stdout.readline().strip())
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


@contextlib.contextmanager
def open_standin(url, count):
    yield Standin(url, count)


if __name__ == "__main__":
    anyio.run(run_server, int(sys.argv[1]))
