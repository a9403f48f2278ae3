"""A transport that asks an ASGI application of this process instead of the network."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import httpx

_Message: TypeAlias = MutableMapping[str, Any]
AsgiApp: TypeAlias = Callable[
    [
        _Message,
        Callable[[], Awaitable[_Message]],
        Callable[[_Message], Awaitable[None]],
    ],
    Awaitable[None],
]


def create_in_process_transport(app: AsgiApp) -> httpx.AsyncBaseTransport:
    """Return a transport for `create_http_client` that the application answers."""
    return httpx.ASGITransport(app)
