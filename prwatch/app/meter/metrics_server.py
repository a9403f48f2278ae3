"""
Answers `/metrics`, `/healthz` and `/readyz` over HTTP, and nothing else.

Small on purpose: three fixed paths without input, on an address of this machine, one
request a connection. Everything that a client could take much of is bounded.
"""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.control.line_socket import LineSocket, accept_line_socket
from prwatch.app.meter.http_request import Request, RequestRefused, read_request
from prwatch.app.meter.metrics_listener import get_address
from prwatch.config.addresses import is_loopback, split_listen

MAX_CLIENTS: Final = 16
CONNECTION_SECONDS: Final = 5.0
"""A client that has not asked and read by then is cut off, however busily it sends."""
LINGER_SECONDS: Final = 0.5
"""How long the rest of what a client sends is thrown away, so that it can read."""

_STATUS: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
TEXT: Final = "text/plain; charset=utf-8"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Page:
    """What is answered at one path."""

    content: bytes
    content_type: str = TEXT
    status: int = 200


class MetricsServer:
    """
    A service that answers GET and HEAD on a listening socket that it does not own.

    `pages` maps each path to a function that makes its page at once, without waiting.
    A request must be meant for this machine (`Host`), so that no web page can read
    the answer through a name of its own that leads here.
    """

    name = "metrics"
    is_critical = False
    deadline = None

    def __init__(
        self,
        listening: socket.socket,
        pages: Mapping[str, Callable[[], Page]],
        *,
        patience_seconds: float = CONNECTION_SECONDS,
    ) -> None:
        """Answer on `listening`, whoever takes no longer than that."""
        self._listening = listening
        self._pages = pages
        self._patience_seconds = patience_seconds
        self._clients: set[LineSocket] = set()

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """
        Answer until cancelled; no connection is left open then.

        When as many as may be are served, others wait in the kernel's short line.
        """
        places = anyio.Semaphore(MAX_CLIENTS)
        try:
            async with anyio.create_task_group() as group:
                task_status.started()
                _log.info("metrics.listening", address=get_address(self._listening))
                while True:
                    await places.acquire()
                    client = await self._accept()
                    beat()
                    self._clients.add(client)
                    group.start_soon(self._serve, client, places)
        finally:
            # A task that is cancelled before it began has closed nothing.
            for client in self._clients:
                client.close()
            self._clients.clear()

    async def _accept(self) -> LineSocket:
        while True:
            try:
                return await accept_line_socket(self._listening)
            except ConnectionAbortedError:
                continue  # It left before it was its turn.

    async def _serve(self, client: LineSocket, places: anyio.Semaphore) -> None:
        try:
            with client, anyio.move_on_after(self._patience_seconds):
                await self._converse(client)
        except OSError:
            return  # A client that leaves in the middle is nobody's failure.
        finally:
            self._clients.discard(client)
            places.release()

    async def _converse(self, client: LineSocket) -> None:
        is_head = False
        try:
            request = await read_request(client)
            if request is None:
                return
            is_head = request.method == "HEAD"
            page = self._find_page(request)
        except RequestRefused as error:
            page = _refuse(error.status)
        await client.send(render_answer(page, is_head=is_head))
        with anyio.move_on_after(LINGER_SECONDS):
            await client.finish()

    def _find_page(self, request: Request) -> Page:
        if not _is_meant_for_us(request.headers.get("host", "")):
            return _refuse(403)
        build = self._pages.get(request.path)
        if build is None:
            return _refuse(404)
        if request.method not in {"GET", "HEAD"}:
            return _refuse(405)
        return build()


def _is_meant_for_us(host: str) -> bool:
    """Return whether a `Host` names this machine; HTTP/1.0 may come without."""
    if not host:
        return True
    name, port = split_listen(host)
    return is_loopback(name if port >= 0 else host.strip("[]"))


def _refuse(status: int) -> Page:
    return Page(f"{_STATUS[status]}\n".encode(), status=status)


def render_answer(page: Page, *, is_head: bool) -> bytes:
    """Return the bytes of an answer; the connection ends after it."""
    lines = [
        f"HTTP/1.1 {page.status} {_STATUS[page.status]}",
        f"Content-Type: {page.content_type}",
        f"Content-Length: {len(page.content)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
        *(["Allow: GET, HEAD"] if page.status == 405 else []),
    ]
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"
    return head if is_head else head + page.content
