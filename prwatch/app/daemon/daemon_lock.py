"""
The lock that lets one daemon use a database, and tells others where it listens.

The kernel holds the lock (flock) for as long as the process lives, so a daemon that
was killed leaves a file behind and no obstacle.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prwatch.errors import StoreUnavailable

LOCK_NAME: Final = "prwatch.lock"
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 0.02
"""A command that looks at the lock holds it for a moment; a daemon outwaits that."""
_MOST_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class DaemonInfo:
    """A running daemon: its process (0 when unknown) and its control socket."""

    pid: int
    socket_path: Path


@contextlib.contextmanager
def acquire_daemon_lock(state_dir: Path, *, socket_path: Path) -> Iterator[None]:
    """
    Hold the lock of this state folder, and name the control socket in it.

    The file stays where it is afterwards, because removing it would race with the
    next daemon.

    Raises:
        StoreUnavailable: Another daemon holds it, or the folder is not writable.
    """
    descriptor = _open(state_dir / LOCK_NAME)
    try:
        if not _lock(descriptor, fcntl.LOCK_EX, tries=_TRIES):
            holder = _read(descriptor)
            pid = str(holder.pid) if holder and holder.pid else "unknown"
            raise StoreUnavailable(
                f"another prwatch daemon (pid {pid}) uses this database",
                hint="stop it first, or ask it through `prwatch status`",
            )
        _write(descriptor, DaemonInfo(os.getpid(), socket_path))
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def read_daemon_lock(state_dir: Path) -> DaemonInfo | None:
    """
    Return the daemon that uses this state folder, or None when there is none.

    Raises:
        StoreUnavailable: This user may not read the lock.
    """
    try:
        descriptor = os.open(state_dir / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _explain(state_dir / LOCK_NAME, error) from error
    try:
        # A file without content was given back in good order: no need to touch it.
        info = _read(descriptor)
        if info is None or _lock(descriptor, fcntl.LOCK_SH):
            return None
        return info
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _explain(path, error) from error


def _explain(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"cannot open {path}: {error.strerror}",
        hint="run it as the daemon's user, or as root",
    )


def _lock(descriptor: int, kind: int, *, tries: int = 1) -> bool:
    for left in reversed(range(tries)):
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False


def _write(descriptor: int, info: DaemonInfo) -> None:
    """Write the whole content at once, so that nobody reads half of it."""
    text = json.dumps({"pid": info.pid, "socket": str(info.socket_path)}) + "\n"
    content = text.encode("utf-8")
    try:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
    except OSError as error:
        raise StoreUnavailable(
            f"cannot write the daemon's lock: {error.strerror}"
        ) from error


def _read(descriptor: int) -> DaemonInfo | None:
    """Return what the file says, or None when it says nothing."""
    content = os.pread(descriptor, _MOST_BYTES, 0)
    if not content:
        return None
    try:
        found = json.loads(content)
        return DaemonInfo(int(found["pid"]), Path(str(found["socket"])))
    except (ValueError, TypeError, KeyError):
        return DaemonInfo(0, Path())
