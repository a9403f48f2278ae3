"""The daemon's side of the control socket."""

import datetime as dt
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from anyio.abc import TaskStatus

from prwatch.app.control.line_socket import LineSocket, LineTooLong, accept_line_socket
from prwatch.app.control.protocol import (
    MAX_REQUEST_BYTES,
    MalformedLine,
    build_answer,
    build_failure,
    build_refusal,
    parse_request,
)
from prwatch.app.control.socket_place import bind_socket, remove_socket
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
        self._clients: set[LineSocket] = set()

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
        with bind_socket(self._path) as listening:
            try:
                async with anyio.create_task_group() as group:
                    task_status.started()
                    while True:
                        client = await accept_line_socket(listening)
                        beat()
                        self._clients.add(client)
                        group.start_soon(self._serve, client)
            finally:
                remove_socket(self._path)
                # A task that is cancelled before it began has closed nothing.
                for client in self._clients:
                    client.close()
                self._clients.clear()

    async def _serve(self, client: LineSocket) -> None:
        try:
            with client:
                await self._admit(client)
        except OSError:
            return  # A client that leaves in the middle is nobody's failure.
        finally:
            self._clients.discard(client)

    async def _admit(self, client: LineSocket) -> None:
        if client.peer_uid not in self._allowed_uids:
            await _send(client, build_refusal("forbidden", "another user's daemon"))
        elif len(self._clients) > MAX_CLIENTS:
            await _send(client, build_refusal("busy", "too many clients at once"))
        else:
            await self._converse(client)

    async def _converse(self, client: LineSocket) -> None:
        """Answer line by line until the client leaves, idles or says too much."""
        while True:
            line = None
            try:
                with anyio.move_on_after(IDLE_SECONDS):
                    line = await client.receive_line(MAX_REQUEST_BYTES)
            except LineTooLong as error:
                await _send(client, build_refusal("too_long", str(error)))
                return
            if line is None or not await _send(client, await self._answer(line)):
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


async def _send(client: LineSocket, line: bytes) -> bool:
    """Send a line; return whether the client took it in time."""
    with anyio.move_on_after(IDLE_SECONDS):
        await client.send(line)
        return True
    return False
