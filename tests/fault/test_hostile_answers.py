"""Answers that only an enemy sends: they cost their own pull request, nothing else."""

import re

import httpx
import pytest

from prwatch.simulator import GitHubApp, World
from tests.product import ALL, BRANCH, ONE, MovedClock, open_product

DEEP = b'{"data":' + b'{"a":' * 100_000
ELSEWHERE = "evil.example"


class HostileGitHub(httpx.AsyncBaseTransport):
    """Answers as the world does, changed by `change` while one is set."""

    def __init__(self, world):
        self._world = httpx.ASGITransport(GitHubApp(world))
        self.change = None
        self.asked = []

    async def handle_async_request(self, request):
        self.asked.append(request)
        answer = await self._world.handle_async_request(request)
        body = await answer.aread()
        if self.change is None:
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=body
            )
        status, headers, body = self.change(answer, body)
        return httpx.Response(status, headers=headers, content=body)


def say(body):
    return lambda answer, _: (200, answer.headers, body)


def redirect(place):
    return lambda _answer, _body: (301, [(b"location", place)], b"{}")


def put(pattern, value):
    """Replace the value of each member whose name matches."""
    member = re.compile(rb'"(' + pattern + rb')":\s*(?:"[^"]*"|\d+)')
    return lambda answer, body: (
        answer.status_code,
        answer.headers,
        member.sub(lambda found: b'"' + found[1] + b'":' + value, body),
    )


def head(name, value):
    def change(answer, body):
        kept = [pair for pair in answer.headers.raw if pair[0].lower() != name]
        return answer.status_code, [*kept, (name, value)], body

    return change


HOSTILE = [
    pytest.param(say(DEEP), id="endless nesting"),
    pytest.param(say(b'{"data":{"n0":5}}'), id="no list"),
    pytest.param(say(b'{"data":{"n0":' + b"[" * 100_000), id="nesting in a list"),
    pytest.param(redirect(b"https://evil.example/graphql"), id="another host"),
    pytest.param(redirect(b"https://api.github.com@evil.example/"), id="a user"),
    pytest.param(redirect(b"http://["), id="no address"),
    pytest.param(redirect(b"https://api.github.com/\x01"), id="control signs"),
    pytest.param(redirect(b"https://api.github.com/" + b"a" * 70_000), id="long"),
    pytest.param(put(rb"\w+(?:At|_at)", b'"0001-01-01T00:00:00+23:59"'), id="early"),
    pytest.param(put(rb"\w+(?:At|_at)", b'"9999-12-31T23:59:59-23:59"'), id="late"),
    pytest.param(put(rb"\w+(?:At|_at)", b'"2026-11-30T12:00:00"'), id="no zone"),
    pytest.param(put(rb"createdAt|created_at", b'"9999-12-31T23:59:59-23:59"'), id="c"),
    pytest.param(put(rb"updatedAt|updated_at", b'"2026-11-30T12:00:00"'), id="u"),
    pytest.param(put(rb"resetAt", b'"9999-12-31T23:59:59Z"'), id="reset"),
    pytest.param(put(rb"number", b"99999999999999999999"), id="large numbers"),
    pytest.param(put(rb"number", b"-1"), id="negative numbers"),
    pytest.param(put(rb"number|id|node_id", b'"1"'), id="numbers as text"),
    pytest.param(put(rb"id|node_id", b'"a b"'), id="ids with spaces"),
    pytest.param(put(rb"id|node_id", b'"a\\u0000b"'), id="ids with NUL"),
    pytest.param(put(rb"id|node_id", b'"' + b"x" * 1_000_000 + b'"'), id="long ids"),
    pytest.param(put(rb"headRefOid|sha", b'"a\\u0000b"'), id="commits with NUL"),
    pytest.param(put(rb"nameWithOwner|full_name", b'"a/b/../c"'), id="a way out"),
    pytest.param(put(rb"totalCount|comments", b"9" * 5_000), id="endless counts"),
    pytest.param(head(b"x-ratelimit-remaining", b"9" * 5_000), id="endless budgets"),
    pytest.param(head(b"x-ratelimit-reset", b"99999999999"), id="a far reset"),
    pytest.param(head(b"date", b"Fri, 31 Dec 9999 23:59:59 -2359"), id="the last day"),
    pytest.param(head(b"date", b"Mon, 01 Jan 0001 00:00:00 +2359"), id="the first day"),
    pytest.param(head(b"etag", b"\xff"), id="a tag that no header carries"),
]


def make_github():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    for number, branch in ((12, "fix-greeting"), (13, "other")):
        opened = world.open_pull_request("octo/hello", branch=branch, number=number)
        world.set_check(opened, "ci", conclusion="SUCCESS")
        world.submit_review(opened, "bob")
        world.comment(opened, "eve")
    return world, HostileGitHub(world)


def list_strangers(github):
    return [request.url for request in github.asked if ELSEWHERE in str(request.url)]


@pytest.mark.parametrize("read_path", ["graphql", "rest"])
@pytest.mark.parametrize("change", HOSTILE)
async def test_a_hostile_answer_ends_no_cycle_and_leaves_nothing_behind(
    tmp_path, change, read_path
):
    world, github = make_github()
    poll = f'read_path = "{read_path}"\nsettle = "0s"'
    options = {"watches": (ONE, ALL, BRANCH), "poll": poll, "transport": github}

    async with open_product(tmp_path, clock=world.clock, **options) as product:
        github.change = change
        await product.cycle()
        github.change = None
        await product.cycle(gap=5_000, is_full=True)
        assert product.report.failures == []

        github.change = change
        await product.cycle(gap=1_000, is_full=True)
        github.change = None
        await product.cycle(gap=5_000, is_full=True)
        assert product.report.failures == []

    async with open_product(tmp_path, clock=world.clock, **options) as product:
        await product.cycle(is_full=True)

        assert product.report.failures == []
        assert list_strangers(github) == []
        assert all("cookie" not in request.headers for request in github.asked)
