"""Where the control socket stands, and how it is made for its owner alone."""

import contextlib
import hashlib
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from prwatch.errors import StoreUnavailable

SOCKET_NAME: Final = "prwatch.sock"
LONGEST_PATH_BYTES: Final = 100
"""The kernel takes 107 bytes (unix(7)); some libraries take fewer."""
_BACKLOG: Final = 64


def choose_socket_path(environ: Mapping[str, str], state_dir: Path) -> Path:
    """
    Return where a daemon of this state folder listens.

    That is the runtime folder that systemd made, else the state folder. Where either
    makes the path too long, it is a private folder below the temporary one, which is
    created here.

    Raises:
        StoreUnavailable: Somebody else owns that private folder, or it cannot be made.
    """
    # systemd lists several folders with colons between them.
    runtime = environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    path = (Path(runtime) if runtime else state_dir) / SOCKET_NAME
    if _fits(path):
        return path
    temporary = Path(environ.get("TMPDIR") or "/tmp")  # noqa: S108 - checked below
    name = hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:16]
    folder = f"prwatch-{os.geteuid()}-{name}"
    path = temporary / folder / SOCKET_NAME
    if not _fits(path):
        path = Path("/tmp") / folder / SOCKET_NAME  # noqa: S108 - checked below
    _make_private(path.parent)
    return path


def bind_socket(path: Path) -> socket.socket:
    """
    Return a listening socket at that path with mode 0600, in place of a dead one.

    The caller holds the daemon lock, so a socket that is found there has no owner.

    Raises:
        StoreUnavailable: The path cannot be used.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        # On Linux the socket's own mode becomes that of the file: there is no moment
        # in which it is open to others, as there would be with chmod after bind.
        os.fchmod(listening.fileno(), stat.S_IRUSR | stat.S_IWUSR)
        remove_socket(path)
        listening.bind(os.fspath(path))
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise StoreUnavailable(
            f"cannot listen at {path}: {error.strerror or error}"
        ) from error
    return listening


def remove_socket(path: Path) -> None:
    """Remove the socket, if it is one; anything else that stands there is left."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_PATH_BYTES


def _make_private(folder: Path) -> None:
    """Create the folder, or see that the one that is there is ours alone."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError as error:
        raise StoreUnavailable(f"cannot make {folder}: {error.strerror}") from error
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not is_ours or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreUnavailable(
            f"{folder} is not a private folder of this user",
            hint="remove it, or use a shorter `state_dir`",
        )
