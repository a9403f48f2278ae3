"""The TCP socket of the metrics: opened at the start, so that a failure ends it."""

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Final

from prwatch.config.addresses import is_loopback, split_listen
from prwatch.errors import ConfigError

_BACKLOG: Final = 32


@contextlib.contextmanager
def open_metrics_listener(address: str) -> Iterator[socket.socket | None]:
    """
    Listen at `HOST:PORT`, or nowhere when it is ''; close at the end.

    Nothing is resolved: `localhost` is 127.0.0.1 whatever a file of hosts says.

    Raises:
        ConfigError: The port is in use, or this user may not listen there.
    """
    if not address:
        yield None
        return
    host, port = split_listen(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if is_loopback(host) and host.lower().endswith("localhost"):
        host = "127.0.0.1"
    with socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as listening:
        try:
            # A restart must not wait until the connections of before are forgotten.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setblocking(False)
            listening.bind((host, port))
            listening.listen(_BACKLOG)
        except OSError as error:
            said = os.strerror(error.errno) if error.errno else str(error)
            raise ConfigError(
                f"cannot listen for metrics at {address}: {said}",
                hint="choose another port with --metrics-listen or "
                "daemon.metrics_listen",
            ) from error
        yield listening


def get_address(listening: socket.socket) -> str:
    """Return `HOST:PORT` of a listening socket, with the port that was chosen."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
