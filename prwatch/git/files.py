"""Read what git keeps in files: bounded, and never waiting for a pipe or a device."""

import contextlib
import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from prwatch.domain.targets import OnBranch, UnknownBranch

HEAD_LIMIT_BYTES: Final = 4096
CONFIG_LIMIT_BYTES: Final = 1 << 20
Signature: TypeAlias = tuple[int, int, int]
"""Modification time in nanoseconds, size and inode of a file."""

_HEADS: Final = "refs/heads/"
_REFTABLE_HEAD: Final = "refs/heads/.invalid"
_OID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# git-check-ref-format(1), as far as a branch on GitHub can break it.
_BAD_NAME: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|\.lock(?:/|$)|[/.]$|^@$"
)
_ESCAPED: Final = re.compile(r"[\ud800-\udfff]")
_NOT_UTF8: Final = "the name of the branch is not UTF-8"
_UNDER_WAY: Final = (
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase or a series of patches is under way"),
    ("BISECT_LOG", "a bisection is under way"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """
    Where a checkout keeps its own state, and what it shares with its siblings.

    For a main worktree both folders are one.
    """

    git_dir: Path
    common_dir: Path

    @property
    def is_submodule(self) -> bool:
        """Return whether another checkout keeps this one's state as a submodule's."""
        parts = self.git_dir.parts
        return any(
            part == "modules"
            and (parts[index - 1].endswith(".git") or "worktrees" in parts[:index])
            for index, part in enumerate(parts)
        )


@dataclass(frozen=True, slots=True)
class AskGit:
    """The files do not say it: refs are kept in tables."""


HeadReading: TypeAlias = OnBranch | UnknownBranch | AskGit


def read_bounded(path: Path, limit_bytes: int) -> bytes:
    """
    Read a regular file whole.

    Raises:
        OSError: it cannot be read, is not a regular file or is larger than the limit.
        ValueError: the path holds a NUL.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        content = bytearray()
        while chunk := file.read(limit_bytes + 1 - len(content)):
            content += chunk
        if len(content) > limit_bytes:
            raise OSError(errno.EFBIG, "larger than it can be")
        return bytes(content)


def read_signature(path: Path) -> Signature | None:
    """Return what changes when a file is written, or None without a file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def find_layout(path: Path) -> Layout | None:
    """
    Find the folders behind `path/.git`, a folder or a file that names one.

    Returns None where there is no checkout.

    Raises:
        OSError: `.git` is there and cannot be read.
        ValueError: the path holds a NUL.
    """
    dot_git = path / ".git"
    try:
        kind = dot_git.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(kind) or (stat.S_ISLNK(kind) and dot_git.is_dir()):
        return _complete(dot_git)
    return _complete(_join(path, _read_path(dot_git, prefix=b"gitdir: ")))


def find_bare(path: Path) -> Layout | None:
    """Find a bare repository: a folder that looks like the inside of `.git`."""
    if all(os.path.lexists(path / part) for part in ("HEAD", "objects", "refs")):
        return Layout(path, path)
    return None


def read_head(layout: Layout) -> HeadReading:
    """
    Read which branch is checked out.

    Raises:
        OSError: HEAD cannot be read.
    """
    for name, reason in _UNDER_WAY:
        if os.path.lexists(layout.git_dir / name):
            return UnknownBranch(reason)
    path = layout.git_dir / "HEAD"
    # Old repositories have HEAD as a symbolic link to the branch's own file.
    if path.is_symlink():
        return read_reference(str(path.readlink()))
    content = read_bounded(path, HEAD_LIMIT_BYTES)
    try:
        text = content.decode().rstrip("\n")
    except UnicodeDecodeError:
        return UnknownBranch(_NOT_UTF8)
    if text.startswith("ref:"):
        return read_reference(text.removeprefix("ref:").strip(" \t"))
    if _OID.fullmatch(text):
        return UnknownBranch("HEAD is detached")
    return UnknownBranch("HEAD makes no sense")


def read_reference(reference: str) -> HeadReading:
    """Judge the full name of the reference that HEAD points at."""
    if reference == _REFTABLE_HEAD:
        return AskGit()
    name = reference.removeprefix(_HEADS)
    if name == reference or not name or _BAD_NAME.search(name):
        return UnknownBranch("HEAD does not point at a branch")
    if _ESCAPED.search(name):
        return UnknownBranch(_NOT_UTF8)
    return OnBranch(name)


def list_linked(common_dir: Path) -> tuple[Path, ...]:
    """List where a repository's linked worktrees are, or were, by their ids."""
    try:
        git_dirs = sorted((common_dir / "worktrees").iterdir())
    except OSError:
        return ()
    linked = []
    for git_dir in git_dirs:
        with contextlib.suppress(OSError):
            # The file names the worktree's own `.git`, since git 2.48 perhaps
            # relative to itself.
            linked.append(_join(git_dir, _read_path(git_dir / "gitdir")).parent)
    return tuple(linked)


def _complete(git_dir: Path) -> Layout:
    try:
        named = _read_path(git_dir / "commondir")
    except FileNotFoundError:
        return Layout(git_dir, git_dir)
    return Layout(git_dir, _join(git_dir, named))


def _join(folder: Path, named: str) -> Path:
    """Resolve a path that is relative to where a folder really is."""
    path = folder / named
    return path if Path(named).is_absolute() else Path(os.path.realpath(path))


def _read_path(path: Path, *, prefix: bytes = b"") -> str:
    content = read_bounded(path, HEAD_LIMIT_BYTES)
    named = content.removeprefix(prefix).rstrip(b"\r\n")
    if not content.startswith(prefix) or not named or b"\0" in named:
        raise OSError(errno.EINVAL, "names no folder")
    return os.fsdecode(named)
