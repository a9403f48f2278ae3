"""The daemon's side of the control socket."""

import contextlib
import datetime as dt
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from prwatch.app.control_protocol import (
    MAX_REQUEST_BYTES,
    MalformedLine,
    build_answer,
    build_failure,
    build_refusal,
    parse_request,
)
from prwatch.app.control_socket import bind_socket, remove_socket
from prwatch.errors import PrwatchError

MAX_CLIENTS: Final = 32
IDLE_SECONDS: Final = 30.0
"""A client that neither asks nor reads for so long is cut off."""
COMMAND_SECONDS: Final = 60.0
"""No command works longer; its client has usually left before."""

Command: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class ControlServer:
    """
    A service that answers commands on a Unix socket.

    Each command is a coroutine function from arguments to a result, both plain JSON
    values; one of our errors becomes a refusal with its code. A client asks one
    command after the other on its connection, and all clients are served side by
    side. Only this process's user and root are answered, whatever the mode of the
    socket allows.
    """

    name = "control"
    is_critical = False
    deadline: dt.timedelta | None = None

    def __init__(
        self,
        path: Path,
        commands: Mapping[str, Command],
        *,
        allowed_uids: frozenset[int] | None = None,
    ) -> None:
        self._path = path
        self._commands = commands
        self._allowed_uids = allowed_uids or frozenset({0, os.geteuid()})
        self._clients = 0

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """
        Listen and answer until cancelled; the socket is gone afterwards.

        Raises:
            StoreUnavailable: The socket cannot be made.
        """

        async def serve(stream: SocketStream) -> None:
            beat()
            async with stream:
                with contextlib.suppress(
                    anyio.BrokenResourceError, anyio.ClosedResourceError
                ):
                    await self._admit(stream)

        listener = await SocketListener.from_socket(bind_socket(self._path))
        try:
            async with listener:
                task_status.started()
                await listener.serve(serve)
        finally:
            remove_socket(self._path)

    async def _admit(self, stream: SocketStream) -> None:
        if read_peer_uid(stream) not in self._allowed_uids:
            await _send(stream, build_refusal("forbidden", "this is another's daemon"))
            return
        if self._clients >= MAX_CLIENTS:
            await _send(stream, build_refusal("busy", "too many clients at once"))
            return
        self._clients += 1
        try:
            await self._converse(stream)
        finally:
            self._clients -= 1

    async def _converse(self, stream: SocketStream) -> None:
        """Answer line by line until the client leaves, idles or says too much."""
        received = BufferedByteReceiveStream(stream)
        while True:
            try:
                with anyio.fail_after(IDLE_SECONDS):
                    line = await received.receive_until(b"\n", MAX_REQUEST_BYTES)
            except (anyio.EndOfStream, anyio.IncompleteRead, TimeoutError):
                return
            except anyio.DelimiterNotFound:
                message = f"a request has at most {MAX_REQUEST_BYTES} bytes"
                await _send(stream, build_refusal("too_long", message))
                return
            if not await _send(stream, await self._answer(line)):
                return

    async def _answer(self, line: bytes) -> bytes:
        try:
            request = parse_request(line)
        except MalformedLine as error:
            return build_refusal("malformed", str(error))
        command = self._commands.get(request.command)
        if command is None:
            known = ", ".join(sorted(self._commands))
            return build_refusal(
                "unknown_command", f"no such command; there are {known}"
            )
        try:
            with anyio.fail_after(COMMAND_SECONDS):
                return build_answer(await command(request.arguments))
        except PrwatchError as error:
            return build_failure(error)
        except TimeoutError:
            return build_refusal("timeout", f"not done within {COMMAND_SECONDS:g} s")


def read_peer_uid(stream: SocketStream) -> int:
    """Return the user at the other end of a Unix socket (SO_PEERCRED, unix(7))."""
    raw = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - anyio's, no SQL
    layout = struct.Struct("3i")  # struct ucred: pid, uid, gid
    found = raw.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, layout.size)
    uid: int = layout.unpack(found)[1]
    return uid


async def _send(stream: SocketStream, line: bytes) -> bool:
    """Send a line; return whether the client took it in time."""
    with anyio.move_on_after(IDLE_SECONDS):
        await stream.send(line)
        return True
    return False
