"""What is known of folders of watch files only as long as the process lives."""

import datetime as dt
from dataclasses import dataclass, field

from prwatch.app.sync.outcome import FolderOutcome
from prwatch.config.sync import Sync
from prwatch.domain.task import Workspace
from prwatch.domain.watch_file import WatchFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A folder that the configuration names, and how it is to be looked at."""

    workspace: Workspace
    entry: Sync
    folder: WatchFolder


@dataclass(frozen=True, slots=True)
class KnownTag:
    """What vouches for a folder's list, and the connection that it was given to."""

    tag: str
    fingerprint: str


@dataclass(slots=True)
class SyncMemory:
    """
    Which folders are followed, when each was looked at, and what that came to.

    All maps are by the folder's id. None of it is stored, so a look that found
    nothing new writes nothing.
    """

    followed: tuple[Followed, ...] = ()
    looked_at: dict[str, dt.datetime] = field(default_factory=dict)
    tags: dict[str, KnownTag] = field(default_factory=dict)
    outcomes: dict[str, FolderOutcome] = field(default_factory=dict)
    applied: set[str] = field(default_factory=set)
    """Workspaces, by id, whose tasks are in line with the stored files."""
