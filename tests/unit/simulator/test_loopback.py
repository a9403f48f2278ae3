"""The loopback server, as a real client meets it."""

import anyio
import httpx
import pytest

from prwatch.simulator import DEFAULT_TOKEN, Fault, GitHubApp, serve
from tests.unit.simulator.stage import make_world

HEADERS = {"authorization": f"Bearer {DEFAULT_TOKEN}", "user-agent": "test"}


async def test_a_client_reads_graphql_and_rest_over_one_connection():
    world = make_world()
    opened = []

    async def note(name, info):
        if name == "connection.connect_tcp.complete":
            opened.append(info)

    async with (
        serve(GitHubApp(world)) as url,
        httpx.AsyncClient(headers=HEADERS) as client,
    ):
        trace = {"trace": note}
        answers = [
            await client.get(f"{url}/repos/octo/hello", extensions=trace),
            await client.post(
                f"{url}/graphql",
                json={"query": "{ viewer { login } }"},
                extensions=trace,
            ),
            await client.get(
                f"{url}/repos/octo/hello",
                headers={"if-none-match": "W/*"},
                extensions=trace,
            ),
        ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert answers[1].json() == {"data": {"viewer": {"login": "octocat"}}}
    assert len(opened) == 1


async def test_a_304_has_no_body_and_keeps_the_connection():
    async with (
        serve(GitHubApp(make_world())) as url,
        httpx.AsyncClient(headers=HEADERS) as client,
    ):
        path = f"{url}/repos/octo/hello"
        tag = (await client.get(path)).headers["etag"]
        answers = [
            await client.get(path, headers={"if-none-match": tag}) for _ in range(2)
        ]

    assert [answer.status_code for answer in answers] == [304, 304]


async def test_links_lead_back_to_the_server():
    world = make_world()
    world.open_many("octo/hello", 3)

    async with (
        serve(GitHubApp(world)) as url,
        httpx.AsyncClient(headers=HEADERS) as client,
    ):
        first = await client.get(f"{url}/api/v3/repos/octo/hello/pulls?per_page=2")
        second = await client.get(first.links["next"]["url"])

    assert [each["number"] for each in second.json()] == [1]


async def test_a_reset_closes_the_connection_without_an_answer():
    world = make_world()
    world.faults.add(Fault(kind="reset"))

    async with (
        serve(GitHubApp(world)) as url,
        httpx.AsyncClient(headers=HEADERS) as client,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"{url}/user")
        good = await client.get(f"{url}/user")

    assert good.status_code == 200


async def test_nonsense_ends_the_connection_and_not_the_server():
    async with serve(GitHubApp(make_world())) as url:
        port = int(url.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(b"\x00nonsense\r\n\r\n")
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()
        async with httpx.AsyncClient(headers=HEADERS) as client:
            assert (await client.get(f"{url}/user")).status_code == 200


async def test_many_clients_are_answered_at_once():
    world = make_world()
    statuses = []

    async with (
        serve(GitHubApp(world)) as url,
        httpx.AsyncClient(headers=HEADERS) as client,
    ):

        async def read():
            statuses.append((await client.get(f"{url}/user")).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(30):
                tasks.start_soon(read)

    assert statuses == [200] * 30
