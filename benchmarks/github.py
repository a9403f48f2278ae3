"""The GitHub that is asked: our simulator in another process, or the stand-in."""

import contextlib
import datetime as dt
import os
import subprocess
import sys
from email.utils import parsedate_to_datetime

import httpx

from prwatch.simulator import DEFAULT_TOKEN

STANDIN_TOKEN = "ghp_bench"


class Simulator:
    """Our own model of GitHub."""

    name = "simulator"
    token = DEFAULT_TOKEN

    def __init__(self, url):
        self.url = url
        self.control = httpx.Client(base_url=url, trust_env=False, timeout=60)

    def now(self):
        return dt.datetime.now(dt.UTC)  # noqa: TID251 -- a benchmark lives in real time

    def take_counts(self):
        return self.control.get("/_bench/counts").json()


class Standin:
    """An independent model of GitHub that runs already."""

    name = "stand-in"
    token = STANDIN_TOKEN

    def __init__(self, url, size):
        self.url = url
        self.control = httpx.Client(
            base_url=f"{url}/_control", trust_env=False, timeout=120
        )
        self.call("reset", {})
        self.call("config", {"enforceSecondary": False})
        for resource in ("graphql", "core"):
            limit = {"token": self.token, "resource": resource, "limit": 10**9}
            self.call("ratelimit", limit)
        for name in size.list_repositories():
            wanted = {"repo": name, "prs": size.pulls_each, "checks": 3}
            self.call("generate", {**wanted, "reviews": 1, "comments": 1})

    def now(self):
        return parsedate_to_datetime(self.control.get("health").headers["date"])

    def take_counts(self):
        stats = self.control.get("stats").json()
        requests = self.control.get("requests").json()
        self.call("stats-reset", {})
        graphql = sum(each["path"].endswith("/graphql") for each in requests)
        rest = len(requests) - graphql
        return {"graphql": graphql, "points": stats["graphqlCost"], "rest": rest}

    def call(self, path, body):
        self.control.post(path, json=body).raise_for_status()


@contextlib.contextmanager
def open_simulator(size):
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "benchmarks.simulated"),
            *(str(size.repositories), str(size.pulls_each)),
        ],
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
def open_standin(size):
    yield Standin(find_standin(), size)


def find_standin():
    """Return where the stand-in answers, or '' when there is none."""
    return os.environ.get("PRWATCH_STANDIN_URL", "")
