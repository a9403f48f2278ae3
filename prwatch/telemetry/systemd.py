"""
What this process tells systemd about itself, in the protocol of sd_notify(3).

https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

import datetime as dt
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """
    What systemd asked for.

    `address` is the socket's path, with `@` first for an abstract one, or '' when
    nobody listens. `watchdog` is the time within which WATCHDOG=1 must come again,
    or None when nobody waits for it.
    """

    address: str = ""
    watchdog: dt.timedelta | None = None


def read_notify_settings(environ: Mapping[str, str], *, pid: int) -> NotifySettings:
    """
    Return the settings in the given environment for the process with this id.

    A watchdog that is meant for another process (WATCHDOG_PID), and values that are
    no numbers, count as absent.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    microseconds = environ.get("WATCHDOG_USEC", "")
    watchdog = None
    is_ours = environ.get("WATCHDOG_PID", str(pid)) == str(pid)
    if is_ours and microseconds.isdecimal() and int(microseconds) > 0:
        watchdog = dt.timedelta(microseconds=int(microseconds))
    return NotifySettings(address if address[:1] in {"/", "@"} else "", watchdog)


class SystemdNotifier:
    """
    Sends the states of this process to systemd; without an address, nowhere.

    No call waits or raises: systemd judges by what arrives.
    """

    def __init__(self, address: str) -> None:
        self._address = "\0" + address[1:] if address[:1] == "@" else address
        self._socket: socket.socket | None = None
        if address:
            self._socket = socket.socket(
                socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
            )
            self._socket.setblocking(False)

    def send_ready(self) -> None:
        """Say that start-up, or a reload, is finished."""
        self._send("READY=1")

    def send_watchdog(self) -> None:
        """Say that the process is alive and makes progress."""
        self._send("WATCHDOG=1")

    def send_status(self, text: str) -> bool:
        """
        Say in one line what the process does; `systemctl status` shows it.

        Returns whether it was taken. Without a listener it counts as taken.
        """
        return self._send("STATUS=" + " ".join(text.split()))

    def send_stopping(self) -> None:
        """Say that the process has begun to stop."""
        self._send("STOPPING=1")

    def send_reloading(self, monotonic_seconds: float) -> None:
        """
        Say that a reload has begun; `send_ready` must follow when it is over.

        `monotonic_seconds` is CLOCK_MONOTONIC, by which systemd tells this reload
        from one that it has asked for since.
        """
        self._send(f"RELOADING=1\nMONOTONIC_USEC={int(monotonic_seconds * 1_000_000)}")

    def close(self) -> None:
        """Close the socket; later calls send nothing."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, message: str) -> bool:
        if self._socket is None:
            return True
        try:
            self._socket.sendto(message.encode("utf-8", "replace"), self._address)
        except OSError:
            # Nobody listens, or the queue is full. The next beat tries again, and
            # one that stays unheard is for systemd to judge.
            return False
        return True
