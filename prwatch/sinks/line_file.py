"""
A file that whole lines are appended to.

It rotates by size, follows the file when somebody else rotates it, and mends a
line that a crash or a full disk cut short. One process writes to it at a time.
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

_MODE: Final = 0o640


class NotAFile(OSError):
    """What stands at the path is not a regular file."""


class LineFile:
    """
    Appends lines to `path`, which becomes `path.1`, `path.2` … `path.keep`.

    A line that would make the file larger than `max_bytes` begins a new one.
    0 bytes stand for no bound. `is_durable` waits for the disk after each line.
    """

    def __init__(
        self, path: Path, *, max_bytes: int, keep: int, is_durable: bool
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._is_durable = is_durable
        self._descriptor: int | None = None

    def append(self, line: bytes) -> None:
        """
        Append one line, which brings its newline along.

        It is there whole or, after an error, not at all; where even cutting it back
        fails, the next append ends the torn line first.

        Raises:
            OSError: the line was not written, for the reason that it says.
        """
        descriptor = self._open_present()
        size = os.fstat(descriptor).st_size
        if self._max_bytes and size and size + len(line) > self._max_bytes:
            self._rotate()
            descriptor = self._open_present()
            size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line
        self._write(descriptor, line, size)

    def close(self) -> None:
        """Close the file. The next append opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open_present(self) -> int:
        """Return the file that stands at the path now, not one that was moved away."""
        if self._descriptor is not None and self._is_same_file(self._descriptor):
            return self._descriptor
        self.close()
        # O_NONBLOCK: a pipe in its place must not hang us before we see what it is.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, _MODE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise NotAFile(0, "not a regular file")
        self._descriptor = descriptor
        return descriptor

    def _is_same_file(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False

    def _write(self, descriptor: int, line: bytes, size: int) -> None:
        written = 0
        try:
            while written < len(line):
                # One write as a rule; the rest of a short one meets the error.
                written += os.write(descriptor, line[written:])
            if self._is_durable:
                os.fsync(descriptor)
        except OSError:
            # Only what is ours is cut: others may have emptied the file meanwhile.
            with contextlib.suppress(OSError):
                if os.fstat(descriptor).st_size == size + written:
                    os.ftruncate(descriptor, size)
            raise

    def _rotate(self) -> None:
        self.close()
        if self._keep == 0:
            self._path.unlink()
        for number in range(self._keep, 0, -1):
            source = self._numbered(number - 1) if number > 1 else self._path
            with contextlib.suppress(FileNotFoundError):
                source.replace(self._numbered(number))

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
