"""
Makes the HTTP clients of the process: one per purpose, all with the same bounds.

A client never follows a redirect by itself, takes no cookies, reads at most 32 MiB of
an answer, keeps at most eight requests in flight per host and never sends loopback
traffic through a proxy. Callers put the
bound on the whole exchange around it: `anyio.fail_after(TOTAL_SECONDS)`.
"""

import functools
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, cast

import anyio
import httpx

from prwatch import __version__
from prwatch.errors import ConfigError
from prwatch.http.proxies import check_proxies

USER_AGENT: Final = f"prwatch/{__version__}"
CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 15.0
TOTAL_SECONDS: Final = 30.0
MAX_IN_FLIGHT: Final = 8
"""Requests in flight per host. The pool costs time for each connection it holds,
and what queues inside it cannot be cancelled cleanly: so nothing may queue there."""

MAX_BODY_BYTES: Final = 32 * 1024**2
"""Bytes of a body after its decompression. The largest that GitHub sends have a few
million; one that never ends must not take the machine's memory with it."""

_PACKING: Final = frozenset(
    {b"content-encoding", b"content-length", b"transfer-encoding"}
)
"""Headers that describe the body as it was on the way."""

_LOOPBACK: Final = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class OversizedBody(httpx.RequestError):
    """The answer's body is longer than `MAX_BODY_BYTES`."""


class BoundedClient(httpx.AsyncClient):
    """
    An `httpx.AsyncClient` that lets at most eight requests a host go at a time.

    A body that it reads itself is at most `MAX_BODY_BYTES` long.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._in_flight: dict[str, anyio.Semaphore] = {}

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **settings: Any
    ) -> httpx.Response:
        """
        Send when a place is free. A streamed body is read outside the bounds.

        Raises:
            OversizedBody: the body is too long; its rest was not read.
        """
        gate = self._in_flight.get(request.url.host)
        if gate is None:
            gate = anyio.Semaphore(MAX_IN_FLIGHT)
            self._in_flight[request.url.host] = gate
        async with gate:
            response = await super().send(request, stream=True, **settings)
            return response if stream else await _read_bounded(response)


async def _read_bounded(response: httpx.Response) -> httpx.Response:
    """Return the response with its body read and unpacked."""
    body = bytearray()
    async with aclosing(response), aclosing(_iterate(response)) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise OversizedBody("the body is too long", request=response.request)
    headers = [pair for pair in response.headers.raw if pair[0].lower() not in _PACKING]
    return httpx.Response(
        response.status_code,
        headers=headers,
        content=bytes(body),
        request=response.request,
        extensions=response.extensions,
    )


def _iterate(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    # It is a generator, and one that is left early must be closed.
    return cast("AsyncGenerator[bytes, None]", response.aiter_bytes())


@functools.lru_cache(maxsize=8)
def build_tls_context(ca_file: str = "") -> ssl.SSLContext:
    """
    Return the process's TLS context, which also trusts the authorities in `ca_file`.

    One is kept per file: making one costs 20 ms.

    Raises:
        ConfigError: the file cannot be read or holds no certificate.
    """
    try:
        context = httpx.create_ssl_context()
    except OSError as error:
        raise ConfigError(
            "environment: SSL_CERT_FILE: cannot be used for certificate authorities",
            hint="it must name a readable PEM file",
        ) from error
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:  # ssl.SSLError is one too
            raise ConfigError(
                f"cannot use the certificate authorities in {ca_file}",
                hint="ca_file must name a readable PEM file",
            ) from error
    return context


def create_http_client(
    *, ca_file: str = "", transport: httpx.AsyncBaseTransport | None = None
) -> BoundedClient:
    """
    Return a client with the product's bounds; the caller closes it.

    With `transport` that answers every request (an ASGI application, for one) and
    neither TLS nor a proxy is used. Else proxies come from the environment.

    Raises:
        ConfigError: `ca_file`, or a proxy that the environment names, cannot be used.
    """
    bounds: dict[str, Any] = {
        "timeout": httpx.Timeout(
            connect=CONNECT_SECONDS,
            read=READ_SECONDS,
            write=READ_SECONDS,
            pool=TOTAL_SECONDS,
        ),
        "limits": httpx.Limits(
            max_connections=MAX_IN_FLIGHT, max_keepalive_connections=MAX_IN_FLIGHT
        ),
        "follow_redirects": False,
        "headers": {"User-Agent": USER_AGENT},
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
    }
    if transport is not None:
        return BoundedClient(transport=transport, trust_env=False, **bounds)
    check_proxies()
    return BoundedClient(
        verify=build_tls_context(ca_file),
        mounts=dict.fromkeys(_LOOPBACK),
        **bounds,
    )
