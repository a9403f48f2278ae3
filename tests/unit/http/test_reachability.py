"""Trying a server: how far the way went, and that nothing was asked."""

from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSListener

from prwatch.errors import ConfigError
from prwatch.http.reachability import Attempt, Reach, try_server
from tests.unit.github.test_private_authority import authority  # noqa: F401 - a fixture


@asynccontextmanager
async def listen(answer, context=None):
    """Let `answer` meet every connection; yield the port."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    if context is not None:
        listener = TLSListener(
            listener, context, standard_compatible=False, handshake_timeout=5
        )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        yield port
        tasks.cancel_scope.cancel()
    await listener.aclose()


class Listener:
    """Counts what is sent to it."""

    def __init__(self):
        self.received = b""
        self.is_done = anyio.Event()

    async def __call__(self, stream):
        async with stream:
            try:
                while True:
                    self.received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.is_done.set()


async def hang_up(stream):
    await stream.aclose()


async def keep_silent(stream):
    async with stream:
        await anyio.sleep_forever()


async def test_a_server_that_takes_the_connection_is_sent_nothing():
    listener = Listener()
    async with listen(listener) as port:
        attempt = await try_server(f"http://127.0.0.1:{port}/hook/secret")
        await listener.is_done.wait()

    assert attempt == Attempt(Reach.REACHED, f"127.0.0.1:{port}")
    assert listener.received == b""


async def test_a_certificate_that_the_file_vouches_for_is_trusted(authority):  # noqa: F811
    ca_file, context = authority
    listener = Listener()
    async with listen(listener, context) as port:
        attempt = await try_server(f"https://127.0.0.1:{port}", ca_file=ca_file)
        await listener.is_done.wait()

    assert attempt.reach is Reach.REACHED
    assert listener.received == b""


async def test_a_certificate_of_nobody_is_not(authority):  # noqa: F811
    _, context = authority
    async with listen(Listener(), context) as port:
        attempt = await try_server(f"https://127.0.0.1:{port}")

    assert attempt.reach is Reach.UNTRUSTED
    assert "certificate" in attempt.detail


@pytest.mark.parametrize(
    ("answer", "reach"),
    [
        pytest.param(hang_up, Reach.UNTRUSTED, id="hangs up"),
        pytest.param(keep_silent, Reach.SILENT, id="keeps silent"),
    ],
)
async def test_a_server_without_tls_is_told_apart(answer, reach):
    async with listen(answer) as port:
        attempt = await try_server(f"https://127.0.0.1:{port}", seconds=0.2)

    assert attempt.reach is reach
    assert attempt.detail


async def test_a_server_that_speaks_something_else_is_not_trusted():
    async def answer(stream):
        async with stream:
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with listen(answer) as port:
        attempt = await try_server(f"https://127.0.0.1:{port}")

    assert attempt.reach is Reach.UNTRUSTED


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        pytest.param("http://127.0.0.1:1/hook", Reach.REFUSED, id="refused"),
        pytest.param("https://nowhere.invalid/hook", Reach.UNKNOWN_NAME, id="unknown"),
        pytest.param("http://a..b/hook", Reach.UNKNOWN_NAME, id="no name"),
    ],
)
async def test_a_server_that_is_not_there_is_told(url, reach):
    assert (await try_server(url)).reach is reach


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        pytest.param("https_proxy", "https://hook.example/x", id="https"),
        pytest.param("http_proxy", "http://hook.example/x", id="http"),
        pytest.param("all_proxy", "http://hook.example/x", id="all"),
    ],
)
async def test_the_proxy_is_tried_where_requests_go_through_one(
    monkeypatch, variable, url
):
    async with listen(Listener()) as port:
        monkeypatch.setenv(variable, f"127.0.0.1:{port}")
        attempt = await try_server(url)

    assert attempt == Attempt(Reach.REACHED, f"127.0.0.1:{port}", is_proxy=True)


async def test_a_name_that_goes_through_no_proxy_is_tried_itself(monkeypatch):
    monkeypatch.setenv("all_proxy", "127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "nowhere.invalid")

    attempt = await try_server("http://nowhere.invalid/x")

    assert (attempt.reach, attempt.is_proxy) == (Reach.UNKNOWN_NAME, False)


async def test_loopback_goes_through_no_proxy(monkeypatch):
    monkeypatch.setenv("all_proxy", "127.0.0.1:1")
    async with listen(Listener()) as port:
        attempt = await try_server(f"http://127.0.0.1:{port}/x")

    assert (attempt.reach, attempt.is_proxy) == (Reach.REACHED, False)


async def test_authorities_that_cannot_be_read_are_the_configuration_s_fault(tmp_path):
    with pytest.raises(ConfigError):
        await try_server("https://127.0.0.1:1/", ca_file=str(tmp_path / "gone.pem"))
