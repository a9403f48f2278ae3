"""A receiver of webhooks on loopback that answers what a test tells it to."""

import contextlib
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

OK = b"HTTP/1.1 204 No Content\r\n\r\n"


def answer(status, body=b"", **headers):
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Received:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookReceiver:
    """`reply` is sent to each request; None leaves it without an answer."""

    port: int = 0
    reply: bytes | None = OK
    is_hanging_up: bool = False
    connections: int = 0
    requests: list[Received] = field(default_factory=list)
    has_request: anyio.Event = field(default_factory=anyio.Event)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook/path-secret"

    async def serve(self, stream):
        self.connections += 1
        async with stream:
            # A sender may go away at any point, killed for one.
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await self._answer(stream)

    async def _answer(self, stream):
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                buffer += await stream.receive()
            head, _, buffer = buffer.partition(b"\r\n\r\n")
            line, *rest = head.decode().split("\r\n")
            headers = {}
            for each in rest:
                name, _, value = each.partition(": ")
                headers[name.lower()] = value
            length = int(headers.get("content-length", 0))
            while len(buffer) < length:
                buffer += await stream.receive()
            self.requests.append(Received(line, headers, buffer[:length]))
            buffer = buffer[length:]
            self.has_request.set()
            if self.reply is None:
                await anyio.sleep_forever()
            await stream.send(self.reply)
            if self.is_hanging_up:
                return


@asynccontextmanager
async def open_webhook_receiver():
    receiver = WebhookReceiver()
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        receiver.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.start_soon(listener.serve, receiver.serve)
        yield receiver
        tasks.cancel_scope.cancel()
