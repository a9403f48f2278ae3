"""
Serves an ASGI application on the loopback interface.

It speaks just enough HTTP/1.1 for clients that are ours: keep-alive, bodies with a
length, bounds on everything. It is no server for a network.
"""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
import anyio.abc
import h11
from anyio.abc import SocketAttribute

AsgiApp: TypeAlias = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]

CHUNK_BYTES = 64 << 10
MAX_BODY_BYTES = 4 << 20
IDLE_SECONDS = 75.0


@asynccontextmanager
async def serve(
    app: AsgiApp, *, port: int = 0, max_connections: int = 64
) -> AsyncIterator[str]:
    """
    Answer on 127.0.0.1 as long as the block runs; yield the base URL.

    Port 0 takes a free one. When the application raises `ConnectionResetError` the
    connection is closed without an answer.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    limiter = anyio.CapacityLimiter(max_connections)
    bound = listener.extra(SocketAttribute.local_port)  # noqa: S610 -- no Django here

    async def answer_connection(stream: anyio.abc.SocketStream) -> None:
        async with limiter, stream:
            raw = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 -- as above
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await _Connection(app, stream).run()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer_connection)
        yield f"http://127.0.0.1:{bound}"
        tasks.cancel_scope.cancel()


class _Connection:
    """One client's connection, request after request."""

    def __init__(self, app: AsgiApp, stream: anyio.abc.SocketStream) -> None:
        self._app = app
        self._stream = stream
        self._wire = h11.Connection(h11.SERVER)

    async def run(self) -> None:
        """Answer until either side closes, breaks the line or the protocol."""
        try:
            while await self._answer_one():
                self._wire.start_next_cycle()
        except (
            ConnectionResetError,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            h11.ProtocolError,
            TimeoutError,
        ):
            return

    async def _answer_one(self) -> bool:
        """Answer one request; return whether another may follow."""
        request = await self._next_event()
        if not isinstance(request, h11.Request):
            return False
        body = await self._read_body()
        is_sent = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal is_sent
            if is_sent:
                await anyio.sleep_forever()
            is_sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(_build_scope(request), receive, self._send)
        return self._wire.our_state is h11.DONE and self._wire.their_state is h11.DONE

    async def _read_body(self) -> bytes:
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            body += event.data
            if len(body) > MAX_BODY_BYTES:
                raise ConnectionResetError("the request is too large")
        return bytes(body)

    async def _next_event(self) -> Any:
        while (event := self._wire.next_event()) is h11.NEED_DATA:
            with anyio.fail_after(IDLE_SECONDS):
                try:
                    data = await self._stream.receive(CHUNK_BYTES)
                except anyio.EndOfStream:
                    data = b""
            self._wire.receive_data(data)
        return event

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            head = h11.Response(
                status_code=message["status"], headers=message.get("headers", [])
            )
            await self._write(self._wire.send(head))
            return
        body = message.get("body", b"")
        data = self._wire.send(h11.Data(data=body)) if body else b""
        if not message.get("more_body", False):
            end = self._wire.send(h11.EndOfMessage())
            data = (data or b"") + (end or b"")
        await self._write(data)

    async def _write(self, data: bytes | None) -> None:
        if data:
            await self._stream.send(data)


def _build_scope(request: h11.Request) -> MutableMapping[str, Any]:
    path, _, query = request.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": request.http_version.decode(),
        "method": request.method.decode(),
        "scheme": "http",
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": list(request.headers),
    }
