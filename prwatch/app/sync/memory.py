"""What is known of folders of watch files only as long as the process lives."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from prwatch.app.sync.outcome import FolderOutcome, SyncResult
from prwatch.config.sync import Sync
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file import ListedFile, WatchFolder
from prwatch.domain.watch_file_wait import FileWait

if TYPE_CHECKING:
    from prwatch.github.contents import Absence


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A folder that the configuration names, and how it is to be looked at."""

    workspace: Workspace
    entry: Sync
    folder: WatchFolder


@dataclass(frozen=True, slots=True)
class KnownTag:
    """
    What vouches for a folder's list, or for its absence, and to which connection.

    `waits` are those of files that could not be fetched; `listed` is then the list.
    """

    tag: str
    fingerprint: str
    absence: "Absence | None" = None
    waits: Mapping[str, FileWait] = field(default_factory=dict)
    listed: tuple[ListedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class FileCounts:
    """How many files of a folder count as they are, and how many cannot be read."""

    good: int
    frozen: int


@dataclass(slots=True)
class SyncMemory:
    """
    Which folders are followed, when each was looked at, and what that came to.

    All maps are by the folder's id, or by the workspace's where it is said. None of it
    is stored, so a look that found nothing new writes nothing.
    """

    followed: tuple[Followed, ...] = ()
    looked_at: dict[str, dt.datetime] = field(default_factory=dict)
    retry_at: dict[str, dt.datetime] = field(default_factory=dict)
    """When a look that did not succeed is taken again, if that is before its time."""
    held_until: dict[str, dt.datetime] = field(default_factory=dict)
    """When a folder that was skipped is thought of again; until then it is not due."""
    whole: set[str] = field(default_factory=set)
    """The folders whose last look told all that they declare."""
    doubtful: set[str] = field(default_factory=set)
    """The folders of which a file may say more once a person mended it."""
    tags: dict[str, KnownTag] = field(default_factory=dict)
    outcomes: dict[str, FolderOutcome] = field(default_factory=dict)
    applied: dict[str, tuple[WatchFolder, ...]] = field(default_factory=dict)
    """The stored folders with which the tasks are in line, by workspace."""
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What was warned of when the files were applied, at the folder that told it."""
    locks: defaultdict[str, anyio.Lock] = field(
        default_factory=lambda: defaultdict(anyio.Lock)
    )
    """Whoever looks at folders of a workspace holds its lock."""
    unsettled: set[str] = field(default_factory=set)
    """
    Workspaces in which what the configuration names no more is not ended yet: a file
    that was not read since the start may name it now.
    """
    files: dict[str, FileCounts] = field(default_factory=dict)
    turns: Counter[SyncResult] = field(default_factory=Counter)
    not_modified: int = 0
    """Looks that GitHub answered with: not modified."""
