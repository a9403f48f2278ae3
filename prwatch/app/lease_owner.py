"""
Who holds a lease, and whether that process still lives.

A lease ends by itself, but a process that was killed need not be waited for when it
ran on this machine: its number and its start time name it once and for all.
"""

import socket
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_SEPARATOR: Final = "/"
_START_FIELD: Final = 22
"""The start time in `/proc/PID/stat` (proc_pid_stat(5)), counted from one."""


def build_lease_owner(pid: int) -> str:
    """Return `host/pid/start`, or '' where a process cannot be told that way."""
    started = _read_start(pid)
    return (
        f"{socket.gethostname()}{_SEPARATOR}{pid}{_SEPARATOR}{started}"
        if started
        else ""
    )


def is_owner_gone(lease_token: str) -> bool:
    """
    Return whether the process that took the lease certainly does not live any more.

    That can be said of processes of this machine alone.
    """
    host, _, rest = lease_token.partition(_SEPARATOR)
    pid, _, rest = rest.partition(_SEPARATOR)
    started, found, _ = rest.partition(_SEPARATOR)
    if not found or host != socket.gethostname() or not pid.isdigit():
        return False
    return _read_start(int(pid)) != started


def _read_start(pid: int) -> str:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    # The name in parentheses may hold spaces and parentheses of its own.
    fields = text.rpartition(")")[2].split()
    return fields[_START_FIELD - 3] if len(fields) > _START_FIELD - 3 else ""
