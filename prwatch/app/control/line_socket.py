"""
Lines over a socket of the Unix kind, or a TCP one.

The socket is read and written without blocking, between waits for the event loop.
anyio's own stream for Unix sockets is not used: on asyncio (seen with 4.16) a wait
that is cancelled in the moment in which the socket becomes readable leaves an
InvalidStateError in the event loop.
"""

import os
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import anyio

_CHUNK: Final = 65536
_CREDENTIALS: Final = struct.Struct("3i")
"""struct ucred of unix(7): process, user and group."""


class LineTooLong(ValueError):
    """The other end sends a line without an end."""


class LineSocket:
    """One end of a connection. One task at a time reads it, one writes it."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._received = bytearray()

    @property
    def peer_uid(self) -> int:
        """Return the user at the other end, as the kernel knows it (SO_PEERCRED)."""
        found = self._socket.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        )
        uid: int = _CREDENTIALS.unpack(found)[1]
        return uid

    async def receive_line(self, most_bytes: int) -> bytes | None:
        """
        Return the next line without its end, or None when no whole one comes.

        Raises:
            LineTooLong: It is longer than that.
            OSError: The connection is broken.
        """
        start = 0
        while (end := self._received.find(b"\n", start)) < 0:
            start = len(self._received)
            if start > most_bytes:
                break
            chunk = await self._receive()
            if not chunk:
                return None
            self._received += chunk
        if not 0 <= end <= most_bytes:
            raise LineTooLong(f"a line has at most {most_bytes} bytes")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    async def send(self, content: bytes) -> None:
        """
        Send all of it.

        Raises:
            OSError: The connection is broken.
        """
        rest = memoryview(content)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)

    async def finish(self) -> None:
        """
        Say that nothing more comes, and throw away what the other end still sends.

        Closed at once, a TCP connection would take back what is not read yet.

        Raises:
            OSError: The connection is broken.
        """
        self._socket.shutdown(socket.SHUT_WR)
        while await self._receive():
            pass

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _receive(self) -> bytes:
        while True:
            try:
                return self._socket.recv(_CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)


def connect_line_socket(path: Path) -> LineSocket:
    """
    Return a connection to whoever listens at that path; it does not wait.

    Raises:
        OSError: Nobody listens, the path is closed to this user, or (BlockingIOError)
            too many wait to be accepted.
    """
    connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connecting.setblocking(False)
        connecting.connect(os.fspath(path))
    except OSError:
        connecting.close()
        raise
    return LineSocket(connecting)


async def accept_line_socket(listening: socket.socket) -> LineSocket:
    """Wait for the next client of a non-blocking listening socket."""
    while True:
        try:
            return LineSocket(listening.accept()[0])
        except BlockingIOError:
            await anyio.wait_readable(listening)
