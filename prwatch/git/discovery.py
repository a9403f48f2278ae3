"""Find the git worktrees below some folders, and the one a person stands in."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from prwatch.domain.targets import LiveReading
from prwatch.git.files import Layout, find_bare, find_layout, list_linked
from prwatch.git.process import GitFailure
from prwatch.git.remote import Remote, RemoteRepository, choose_base
from prwatch.git.settings import LocalSettings, Settings
from prwatch.git.worktree import WorktreeReader

DEEPEST: Final = 4
MOST_FOLDERS: Final = 100_000
_NOT_ENTERED: Final = frozenset({".git", "node_modules"})


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree under its real path, with the remotes that lead to a host."""

    path: str
    remotes: tuple[Remote, ...] = ()

    def find_base(self, host: str) -> RemoteRepository | None:
        """Find the repository on a host that its pull requests are made in."""
        return choose_base(self.remotes, host)


@dataclass(frozen=True, slots=True)
class Discovery:
    """
    The worktrees below the roots, in order of their path.

    `problems` are sentences about what could not be searched or read; while there
    are any, a worktree that is missing here may still exist.
    """

    worktrees: tuple[Worktree, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CurrentCheckout:
    """The checkout around a folder: its top, what it has checked out, its remotes."""

    worktree: Worktree
    reading: LiveReading


@dataclass(slots=True)
class _Walk:
    """One search, as far as it has come."""

    settings: Settings
    most_folders: int
    found: dict[Path, LocalSettings] = field(default_factory=dict)
    listed: set[Path] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    folders: int = 0


async def discover_worktrees(
    roots: Sequence[Path],
    *,
    reader: WorktreeReader,
    most_folders: int = MOST_FOLDERS,
) -> Discovery:
    """
    Find all worktrees at most four levels below the roots.

    A root is a worktree itself if it has a checkout. Symbolic links are not followed,
    apart from a root that is one. The inside of a worktree is not searched, but the
    linked worktrees that a repository knows of are found there too. Submodules belong
    to the checkout around them and are left out; a bare repository has no worktree of
    its own.
    """
    walk = await anyio.to_thread.run_sync(
        partial(_search, tuple(roots), _Walk(reader.settings, most_folders)),
        abandon_on_cancel=True,
    )
    worktrees = []
    problems = walk.problems
    for path, local in sorted(walk.found.items()):
        remotes = await reader.settings.list_remotes(path, local)
        if isinstance(remotes, GitFailure):
            problems.append(f"{path}: {remotes.reason}")
        else:
            worktrees.append(Worktree(str(path), remotes))
    return Discovery(tuple(worktrees), tuple(problems))


async def find_current_checkout(
    folder: Path, *, reader: WorktreeReader
) -> CurrentCheckout | None:
    """Find the checkout that a folder lies in, or None outside of any."""
    found = await anyio.to_thread.run_sync(
        partial(_search_upward, folder, reader.settings), abandon_on_cancel=True
    )
    if found is None:
        return None
    path, local = found
    remotes = await reader.settings.list_remotes(path, local)
    reading = await reader.read_worktree(str(path))
    known = () if isinstance(remotes, GitFailure) else remotes
    return CurrentCheckout(Worktree(str(path), known), reading)


def _search(roots: tuple[Path, ...], walk: _Walk) -> _Walk:
    for root in roots:
        top = Path(os.path.realpath(root))
        if not top.is_dir():
            walk.problems.append(f"{root}: no such folder, or it cannot be read")
            continue
        _enter(walk, top, top, 0)
        if walk.folders > walk.most_folders:
            walk.problems.append(f"{root}: more than {walk.most_folders} folders")
            break
    return walk


def _enter(walk: _Walk, root: Path, folder: Path, depth: int) -> None:
    walk.folders += 1
    if walk.folders > walk.most_folders:
        return
    is_worktree = _examine(walk, root, folder)
    if depth == DEEPEST or (is_worktree and folder != root):
        return
    for inner in _list_folders(walk, folder, is_root=folder == root):
        _enter(walk, root, inner, depth + 1)


def _examine(walk: _Walk, root: Path, folder: Path) -> bool:
    """Take a folder in if it is a worktree, and what its repository knows of."""
    try:
        layout = find_layout(folder) or find_bare(folder)
    except (OSError, ValueError):
        return False
    if layout is None or layout.is_submodule:
        return layout is not None
    has_worktree = layout.git_dir != folder and _add(walk, folder, layout)
    if layout.common_dir not in walk.listed:
        walk.listed.add(layout.common_dir)
        for linked in list_linked(layout.common_dir):
            _add_linked(walk, root, linked)
    return has_worktree or layout.git_dir == folder


def _add_linked(walk: _Walk, root: Path, linked: Path) -> None:
    """Take in a linked worktree that is still there and lies below the root."""
    path = Path(os.path.realpath(linked))
    if not path.is_relative_to(root) or len(path.relative_to(root).parts) > DEEPEST:
        return
    try:
        layout = find_layout(path)
    except (OSError, ValueError):
        return
    if layout is not None:
        _add(walk, path, layout)


def _add(walk: _Walk, folder: Path, layout: Layout) -> bool:
    try:
        local = walk.settings.read_local(layout)
    except (OSError, ValueError):
        walk.problems.append(f"{folder}: its settings cannot be read")
        return False
    # The main folder of a repository may be bare and only hold linked worktrees.
    is_main = layout.git_dir == layout.common_dir
    if is_main and local.config.is_true("core.bare"):
        return False
    walk.found[folder] = local
    return True


def _list_folders(walk: _Walk, folder: Path, *, is_root: bool) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if entry.name not in _NOT_ENTERED
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError as error:
        if is_root:
            walk.problems.append(f"{folder}: {error.strerror}")
        return
    for name in names:
        yield folder / name


def _search_upward(
    folder: Path, settings: Settings
) -> tuple[Path, LocalSettings] | None:
    top = Path(os.path.realpath(folder))
    for path in (top, *top.parents):
        try:
            layout = find_layout(path)
            if layout is not None:
                return path, settings.read_local(layout)
        except (OSError, ValueError):
            continue
    return None
