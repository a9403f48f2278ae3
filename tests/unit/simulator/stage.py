"""A world at noon, a clock that the test moves, and clients to ask with."""

import datetime as dt
from contextlib import asynccontextmanager

import httpx

from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
QUERY = """
query PullRequest($number: Int!) {
  repository(owner: "octo", name: "hello") { pullRequest(number: $number) { %s } }
}
"""


class MovedClock:
    """Stands still until it is moved; sleeping moves it."""

    def __init__(self):
        self._elapsed = 0.0
        self.slept = []

    def now(self):
        return NOON + dt.timedelta(seconds=self._elapsed)

    def monotonic(self):
        return self._elapsed

    def advance(self, seconds):
        self._elapsed += seconds

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self._elapsed += seconds


def make_world(**traits):
    world = World(MovedClock())
    world.add_repository("octo/hello", **traits)
    return world


@asynccontextmanager
async def open_client(world, token=DEFAULT_TOKEN):
    headers = {"user-agent": "test"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(GitHubApp(world)),
        base_url="https://api.github.com",
        headers=headers,
    ) as client:
        yield client


async def ask(world, query, token=DEFAULT_TOKEN, **variables):
    """Return the whole body that a GraphQL query is answered with."""
    async with open_client(world, token) as client:
        payload = {"query": query, "variables": variables}
        return (await client.post("/graphql", json=payload)).json()


async def read(world, number, fields):
    """Return those fields of a pull request of octo/hello."""
    body = await ask(world, QUERY % fields, number=number)
    return body["data"]["repository"]["pullRequest"]


async def get(world, path, token=DEFAULT_TOKEN, **headers):
    """Return the response to a REST call."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with open_client(world, token) as client:
        return await client.get(path, headers=named)
