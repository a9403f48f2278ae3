"""The commands' side of the control socket: ask the daemon that runs, if one does."""

import contextlib
from pathlib import Path
from typing import Any, Final

import anyio

from prwatch.app.control.line_socket import LineTooLong, connect_line_socket
from prwatch.app.control.protocol import (
    MAX_ANSWER_BYTES,
    MalformedLine,
    build_request,
    parse_answer,
)
from prwatch.app.daemon.daemon_lock import DaemonInfo
from prwatch.errors import DaemonError

ANSWER_SECONDS: Final = 10.0


async def ask(
    daemon: DaemonInfo | Path | None,
    command: str,
    *,
    seconds: float = ANSWER_SECONDS,
    **arguments: Any,
) -> dict[str, Any] | None:
    """
    Return the daemon's answer to a command, or None when there is no daemon.

    `daemon` is what `read_daemon_lock` gave, or the path of a control socket, where
    nobody may listen. `seconds` bounds the whole exchange.

    Raises:
        DaemonError: It refused (`reason` is its code), did not answer in time, does
            not listen although it holds the lock, or this user may not ask it.
    """
    if daemon is None:
        return None
    path = daemon.socket_path if isinstance(daemon, DaemonInfo) else daemon
    try:
        with anyio.fail_after(seconds):
            line = await _exchange(path, build_request(command, arguments))
        answer = parse_answer(line)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        if not isinstance(daemon, DaemonInfo):
            return None
        raise DaemonError(
            f"the daemon (pid {daemon.pid}) does not listen at {path} now",
            reason="not_listening",
            hint="it may be starting or stopping; see its log",
        ) from error
    except PermissionError as error:
        raise DaemonError(
            f"this user may not ask the daemon at {path}",
            reason="forbidden",
            hint="run it as the daemon's user, or as root",
        ) from error
    except BlockingIOError as error:
        raise DaemonError(
            f"the daemon at {path} takes no more clients", reason="busy"
        ) from error
    except TimeoutError as error:
        raise DaemonError(
            f"the daemon at {path} did not answer within {seconds:g} s",
            reason="timeout",
        ) from error
    except MalformedLine as error:
        raise DaemonError(str(error), reason="malformed") from error
    if answer.error is not None:
        refusal = answer.error
        raise DaemonError(refusal.message, reason=refusal.code, hint=refusal.hint)
    return answer.result


async def _exchange(path: Path, request: bytes) -> bytes:
    """Send one line and return the line of the answer."""
    with connect_line_socket(path) as connection:
        # A daemon that refuses may close before it has read all; its reason is
        # still there to be read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await connection.send(request)
        try:
            line = await connection.receive_line(MAX_ANSWER_BYTES)
        except (ConnectionResetError, LineTooLong) as error:
            raise DaemonError(
                f"the answer of the daemon at {path} broke off", reason="closed"
            ) from error
    if line is None:
        raise DaemonError(
            f"the daemon at {path} closed the connection", reason="closed"
        )
    return line
