"""The small HTTP server of the metrics, on real sockets, with rude clients."""

import contextlib
import socket

import anyio
import pytest

from prwatch.app.meter.http_request import MOST_BYTES, MOST_LINE_BYTES, MOST_LINES
from prwatch.app.meter.metrics_listener import open_metrics_listener
from prwatch.app.meter.metrics_server import (
    MAX_CLIENTS,
    MetricsServer,
    Page,
)

PAGES = {
    "/metrics": lambda: Page(b"prwatch_x 1\n", "text/plain; version=0.0.4"),
    "/readyz": lambda: Page(b"{}\n", "application/json", 503),
    "/large": lambda: Page(b"x" * 5_000_000),
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


PATIENCE = 0.5


@contextlib.asynccontextmanager
async def serving(patience=20.0):
    """Serve on a free port; give the address."""
    with open_metrics_listener("127.0.0.1:0") as listening:
        server = MetricsServer(listening, PAGES, patience_seconds=patience)

        async def run(*, task_status):
            await server.run(lambda: None, task_status=task_status)

        async with anyio.create_task_group() as group:
            await group.start(run)
            yield listening.getsockname()
            group.cancel_scope.cancel()


async def receive_all(stream):
    found = bytearray()
    with contextlib.suppress(anyio.EndOfStream):
        while True:
            found += await stream.receive()
    return bytes(found)


async def ask(address, request):
    """Send bytes; return all that comes back until the server closes."""
    with anyio.fail_after(20):
        async with await anyio.connect_tcp(*address) as stream:
            await stream.send(request)
            return await receive_all(stream)


def get(path, *, method="GET", headers="Host: localhost\r\n"):
    return f"{method} {path} HTTP/1.1\r\n{headers}\r\n".encode()


def split(answer):
    """Return the status, the headers and the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body


async def test_a_page_is_answered_and_the_connection_closed():
    async with serving() as address:
        answer = await ask(address, get("/metrics"))

    assert split(answer) == (
        200,
        {
            "Content-Type": "text/plain; version=0.0.4",
            "Content-Length": "12",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        },
        b"prwatch_x 1\n",
    )


@pytest.mark.parametrize(
    ("request_bytes", "status", "body"),
    [
        pytest.param(get("/metrics?x=1"), 200, b"prwatch_x 1\n", id="query"),
        pytest.param(get("/metrics", method="HEAD"), 200, b"", id="HEAD"),
        pytest.param(b"GET /metrics HTTP/1.0\n\n", 200, b"prwatch_x 1\n", id="bare"),
        pytest.param(get("/readyz"), 503, b"{}\n", id="a page with a status"),
        pytest.param(get("/"), 404, b"Not Found\n", id="no page"),
        pytest.param(get("/metrics/"), 404, b"Not Found\n", id="nearly a page"),
        pytest.param(get("/../metrics"), 404, b"Not Found\n", id="dots"),
        pytest.param(
            get("/metrics", method="POST"), 405, b"Method Not Allowed\n", id="POST"
        ),
        pytest.param(b"nonsense\r\n\r\n", 400, b"Bad Request\n", id="nonsense"),
        pytest.param(b"\r\n\r\n", 400, b"Bad Request\n", id="empty line"),
        pytest.param(
            get("/metrics", headers="Host: evil.example\r\n"),
            403,
            b"Forbidden\n",
            id="a name that leads here",
        ),
        pytest.param(
            get("/metrics", headers="Host: evil.example:80\r\n"),
            403,
            b"Forbidden\n",
            id="and its port",
        ),
        pytest.param(
            get("/metrics", headers="Host: localhost.evil.example\r\n"),
            403,
            b"Forbidden\n",
            id="nearly this machine",
        ),
    ],
)
async def test_only_what_is_there_is_answered(request_bytes, status, body):
    async with serving() as address:
        found, _, text = split(await ask(address, request_bytes))

    assert (found, text) == (status, body)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:9464", "[::1]", "[::1]:9464", "LocalHost:80"]
)
async def test_this_machine_has_several_names(host):
    async with serving() as address:
        status, _, _ = split(
            await ask(address, get("/metrics", headers=f"Host: {host}\r\n"))
        )

    assert status == 200


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"GET /" + b"a" * 1_000_000, id="endless line"),
        pytest.param(get("/" + "a" * MOST_LINE_BYTES), id="long path"),
        pytest.param(
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * (MOST_LINES + 1), id="many headers"
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\n"
            + b"".join(b"A%d: %s\r\n" % (n, b"b" * 2000) for n in range(6)),
            id="many bytes",
        ),
    ],
)
async def test_what_is_too_long_is_refused_before_its_end(request_bytes):
    assert len(request_bytes) > min(MOST_BYTES, MOST_LINES)
    async with serving() as address:
        status, _, _ = split(await ask(address, request_bytes))

    assert status == 431


async def test_a_body_is_not_read_and_hinders_no_answer():
    body = b"x" * 300_000
    request = get("/metrics", method="POST", headers="Content-Length: 300000\r\n")
    async with serving() as address:
        status, headers, _ = split(await ask(address, request + body))

    assert (status, headers["Allow"]) == (405, "GET, HEAD")


async def test_of_two_requests_on_a_connection_the_first_is_answered():
    async with serving() as address:
        answer = await ask(address, get("/metrics") + get("/readyz"))

    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(b"", id="says nothing"),
        pytest.param(b"GET /metrics HT", id="stops in the middle"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n", id="no end"),
    ],
)
async def test_a_client_that_does_not_finish_is_cut_off(words):
    async with serving(PATIENCE) as address:
        started = anyio.current_time()
        answer = await ask(address, words)
        took = anyio.current_time() - started

    assert answer == b""
    assert took >= PATIENCE * 0.9


async def test_a_client_that_drips_is_cut_off_however_long_it_goes_on():
    async with serving(PATIENCE) as address:
        with anyio.fail_after(20):
            assert await drip(address) > 1


async def drip(address):
    """Send a letter at a time until the other end is gone; return how many it took."""
    sent = 0
    async with await anyio.connect_tcp(*address) as stream:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            while True:
                await stream.send(b"x")
                sent += 1
                with anyio.move_on_after(PATIENCE / 10):
                    await stream.receive()
    return sent


async def test_a_client_that_does_not_read_is_cut_off():
    async with serving(PATIENCE) as address:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(address)
            client.sendall(get("/large"))
            # Somebody who comes later and is cut off shows that its time is over too.
            assert await ask(address, b"") == b""
            got = 0
            with contextlib.suppress(ConnectionResetError):
                while chunk := client.recv(1_000_000):
                    got += len(chunk)

    assert got < 5_000_000


async def test_whoever_comes_when_all_places_are_taken_waits_for_one():
    answers = []

    async def ask_late(address):
        answers.append(split(await ask(address, get("/metrics")))[0])

    async with serving() as address, contextlib.AsyncExitStack() as stack:
        held = [
            await stack.enter_async_context(await anyio.connect_tcp(*address))
            for _ in range(MAX_CLIENTS)
        ]
        async with anyio.create_task_group() as group:
            group.start_soon(ask_late, address)
            await anyio.wait_all_tasks_blocked()
            before = list(answers)
            await held[0].aclose()

    assert (before, answers) == ([], [200])


async def test_clients_that_reset_harm_nobody():
    async with serving() as address:
        for _ in range(30):
            with socket.socket() as client:
                client.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )
                client.connect(address)
                client.send(get("/large"))
        status, _, _ = split(await ask(address, get("/metrics")))

    assert status == 200
