"""
The simulated GitHub as a process of its own, which counts what it is asked.

`python -m benchmarks.simulated REPOSITORIES PULLS_EACH` serves until its standard
input ends; the first line printed is the address.
"""

import datetime as dt
import json
import sys
import time
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import msgspec

from benchmarks.size import Size
from prwatch.clock import SystemClock
from prwatch.simulator import GitHubApp, World
from prwatch.simulator.answer import render_http_date
from prwatch.simulator.loopback import serve
from prwatch.simulator.request_log import Request

REPEATED = (b"query Probe(", b"query OpenPullRequests(")
"""What a quiet cycle asks, each time in the same words."""


class CountedGitHub:
    """
    The simulator with two more addresses: what was counted, and one that moves it.

    While its world stands still it repeats an answer without working it out again, so
    that a hundred thousand pull requests cost the other core little.
    """

    def __init__(self, world, size):
        self._world = world
        self._names = size.list_repositories()
        self._app = GitHubApp(world)
        self._kept = {}
        self._next = 0

    async def __call__(self, scope, receive, send):
        match scope["path"]:
            case "/_bench/counts":
                await _send_json(send, self._take_counts())
            case "/_bench/change":
                (count,) = parse_qs(scope["query_string"].decode())["count"]
                await _send_json(send, self._change(int(count)))
            case _:
                await self._answer(scope, await receive(), send)

    async def _answer(self, scope, message, send):
        async def give():
            return message

        body = message.get("body", b"")
        if not any(each in body for each in REPEATED):
            await self._app(scope, give, send)
            return
        answer = self._kept.get(body)
        if answer is None:
            answer = self._kept[body] = []

            async def keep(part):
                answer.append(part)

            await self._app(scope, give, keep)
        else:
            self._count(answer)
        head, content = answer
        date = (b"date", render_http_date(self._world.now()).encode())
        rest = [each for each in head["headers"] if each[0] != b"date"]
        await send({**head, "headers": [date, *rest]})
        await send(content)

    def _take_counts(self):
        log = self._world.requests
        counts = {"graphql": log.graphql, "points": log.points, "rest": log.rest}
        log.clear()
        return counts

    def _count(self, answer):
        body = answer[1]["body"]
        told = msgspec.json.decode(body, type=_Told)
        request = Request(
            method="POST",
            path="/graphql",
            status=200,
            cost=told.data.rate_limit.cost,
            body_bytes=len(body),
        )
        self._world.requests.add(request, is_graphql=True)

    def _change(self, count):
        """Turn the next pull requests into drafts, or back; return which, and when."""
        self._kept.clear()
        changed = []
        for _ in range(count):
            name = self._names[self._next % len(self._names)]
            pulls = self._world.get_repository(name).pull_requests
            number = self._next // len(self._names) % len(pulls) + 1
            one = pulls[number]
            if one.is_draft:
                self._world.mark_ready(one)
            else:
                self._world.mark_draft(one)
            changed.append([f"{name}#{number}", time.monotonic()])  # noqa: TID251 -- shared by all processes of the machine
            self._next += 1
        return changed


class _RateLimit(msgspec.Struct):
    cost: int


class _Data(msgspec.Struct, rename="camel"):
    rate_limit: _RateLimit


class _Told(msgspec.Struct):
    data: _Data


async def _send_json(send, value):
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


def build_world(size):
    world = World(_HourAgo())
    world.limits = dict.fromkeys(world.limits, 10**9)
    for name in size.list_repositories():
        world.add_repository(name, requires_reviews=True)
        for index, one in enumerate(world.open_many(name, size.pulls_each)):
            for check in ("build", "test", "lint"):
                world.set_check(one, check, workflow="CI", conclusion="SUCCESS")
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


async def run(size):
    """Serve until the standard input ends; the first line printed is the address."""
    async with serve(CountedGitHub(build_world(size), size)) as url:
        print(url, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


if __name__ == "__main__":
    anyio.run(run, Size(*map(int, sys.argv[1:])))
