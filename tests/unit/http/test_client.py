import gzip
import ssl
from contextlib import aclosing

import anyio
import httpx
import pytest

from prwatch.errors import ConfigError
from prwatch.http.client import (
    MAX_BODY_BYTES,
    MAX_IN_FLIGHT,
    OversizedBody,
    build_tls_context,
    create_http_client,
)


def test_one_tls_context_is_kept_for_each_authority_file():
    first = build_tls_context("")

    assert build_tls_context("") is first
    assert first.verify_mode is ssl.CERT_REQUIRED


def test_an_unusable_authority_file_is_a_configuration_error(tmp_path):
    broken = tmp_path / "ca.pem"
    broken.write_text("no certificate")

    for path in (broken, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError) as caught:
            create_http_client(ca_file=str(path))
        assert "PEM" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "is_proxied"),
    [
        pytest.param("http://127.0.0.1:8080/", False, id="loopback by number"),
        pytest.param("http://localhost/", False, id="loopback by name"),
        pytest.param("http://[::1]:9/", False, id="loopback of version six"),
        pytest.param("http://api.github.com/", True, id="the world"),
    ],
)
async def test_loopback_never_goes_through_a_proxy(monkeypatch, url, is_proxied):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    async with create_http_client() as client:
        chosen = client._transport_for_url(httpx.URL(url))

        assert (chosen is not client._transport) == is_proxied


async def test_bounds_are_set_and_redirects_are_not_followed():
    def answer(request):
        return httpx.Response(301, headers={"location": "http://elsewhere.example/"})

    transport = httpx.MockTransport(answer)
    async with create_http_client(transport=transport) as client:
        response = await client.get("http://github.example/")

        assert response.status_code == 301
        assert response.request.headers["user-agent"].startswith("prwatch/")
        assert client.timeout == httpx.Timeout(connect=5, read=15, write=15, pool=30)


async def test_at_most_eight_requests_of_one_host_are_in_flight():
    in_flight = 0
    most = 0
    gate = anyio.Event()

    async def answer(request):
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await gate.wait()
        in_flight -= 1
        return httpx.Response(200)

    async with (
        create_http_client(transport=httpx.MockTransport(answer)) as client,
        anyio.create_task_group() as group,
    ):
        for _ in range(30):
            group.start_soon(client.get, "http://github.example/")
        group.start_soon(client.get, "http://other.example/")
        await anyio.wait_all_tasks_blocked()

        assert in_flight == MAX_IN_FLIGHT + 1
        gate.set()

    assert most == MAX_IN_FLIGHT + 1


def _unfold(size):
    return gzip.compress(bytes(size))


async def _serve_endless():
    while True:
        yield bytes(1024**2)


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        pytest.param({}, _serve_endless, id="endless"),
        pytest.param(
            {"content-encoding": "gzip"},
            lambda: _unfold(MAX_BODY_BYTES + 1),
            id="unfolding",
        ),
    ],
)
async def test_a_body_that_is_too_long_is_given_up(headers, content):
    def answer(_):
        return httpx.Response(200, headers=headers, stream=_Stream(content()))

    async with create_http_client(transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(OversizedBody):
            await client.get("http://github.example/")


async def test_a_packed_body_is_unpacked_once():
    def answer(_):
        headers = {"content-encoding": "gzip", "etag": "x"}
        return httpx.Response(200, headers=headers, stream=_Stream(_unfold(5)))

    async with create_http_client(transport=httpx.MockTransport(answer)) as client:
        response = await client.get("http://github.example/")

        assert (response.content, response.headers["etag"]) == (bytes(5), "x")


async def test_cookies_are_neither_kept_nor_sent():
    seen = []

    def answer(request):
        seen.append("cookie" in request.headers)
        return httpx.Response(200, headers={"set-cookie": "a=b; Path=/"})

    async with create_http_client(transport=httpx.MockTransport(answer)) as client:
        for _ in range(2):
            await client.get("http://github.example/")

        assert (seen, dict(client.cookies)) == ([False, False], {})


class _Stream(httpx.AsyncByteStream):
    """A body that arrives in pieces."""

    def __init__(self, content):
        self._content = content

    async def __aiter__(self):
        if isinstance(self._content, bytes):
            yield self._content
            return
        async with aclosing(self._content) as pieces:
            async for piece in pieces:
                yield piece
