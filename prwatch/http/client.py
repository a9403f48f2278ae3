"""
Makes the HTTP clients of the process: one per purpose, all with the same bounds.

A client never follows a redirect by itself, keeps at most eight requests in
flight per host and never sends loopback traffic through a proxy. Callers put the
bound on the whole exchange around it: `anyio.fail_after(TOTAL_SECONDS)`.
"""

import functools
import ssl
from typing import Any, Final

import anyio
import httpx

from prwatch import __version__
from prwatch.errors import ConfigError

USER_AGENT: Final = f"prwatch/{__version__}"
CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 15.0
TOTAL_SECONDS: Final = 30.0
MAX_IN_FLIGHT: Final = 8
"""Requests in flight per host. The pool costs time for each connection it holds,
and what queues inside it cannot be cancelled cleanly: so nothing may queue there."""

_LOOPBACK: Final = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class BoundedClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` that lets at most eight requests a host go at a time."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._in_flight: dict[str, anyio.Semaphore] = {}

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **settings: Any
    ) -> httpx.Response:
        """Send when a place is free. A streamed body is read outside the bound."""
        gate = self._in_flight.get(request.url.host)
        if gate is None:
            gate = anyio.Semaphore(MAX_IN_FLIGHT)
            self._in_flight[request.url.host] = gate
        async with gate:
            return await super().send(request, stream=stream, **settings)


@functools.lru_cache(maxsize=8)
def build_tls_context(ca_file: str = "") -> ssl.SSLContext:
    """
    Return the process's TLS context, which also trusts the authorities in `ca_file`.

    One is kept per file: making one costs 20 ms.

    Raises:
        ConfigError: the file cannot be read or holds no certificate.
    """
    context = httpx.create_ssl_context()
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
        ConfigError: `ca_file` cannot be used.
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
    }
    if transport is not None:
        return BoundedClient(transport=transport, trust_env=False, **bounds)
    return BoundedClient(
        verify=build_tls_context(ca_file),
        mounts=dict.fromkeys(_LOOPBACK),
        **bounds,
    )
