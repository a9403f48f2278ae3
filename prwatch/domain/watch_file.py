"""
Watch files: lists of what is watched, kept in a folder of a repository.

A file that cannot be read freezes what it had declared, and one that is gone takes
with it what it declared. What cannot be told apart for certain changes nothing.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

SUFFIXES: Final = (".toml", ".yaml", ".yml")
MAX_FILE_BYTES: Final = 64 * 1024
"""A thousand watches take less. What is longer takes long to read, or to refuse."""
MAX_FILES: Final = 50
"""Files of one folder that are read, by name; others are told and left alone."""

MAX_NAME: Final = 100
"""Characters of a file's name, which becomes a part of an address and of messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFolder:
    """
    A folder of watch files that a workspace follows.

    `repository` is `owner/name` in lower case, `branch` is '' for the default one,
    `path` has no slash at either end and is '' for the top. `tag` vouches for the
    list of files as it was last stored, under the connection of `fingerprint`.
    """

    id: str
    workspace_id: str
    repository: str
    branch: str = ""
    path: str = ""
    tag: str = ""
    fingerprint: str = ""
    changed_at: dt.datetime | None = None

    @property
    def place(self) -> str:
        """Return how people know it: `octo/team@main:.prwatch`."""
        branch = f"@{self.branch}" if self.branch else ""
        return f"{self.repository}{branch}:{self.path or '/'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFile:
    """
    One file of a folder as it was last read.

    `blob` is git's name of the newest content, '' while that was not read.
    `declared` is the last content that could be read, which is what counts.
    `problems` say what is wrong with the newest, with line and column.
    """

    name: str
    blob: str
    declared: str = ""
    problems: tuple[str, ...] = ()
    changed_at: dt.datetime

    @property
    def is_mistaken(self) -> bool:
        """Return whether the newest content was read, and what it says is wrong."""
        return bool(self.blob and self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """
    One entry of a folder as GitHub lists it.

    A link, symbolic or to another repository, leads elsewhere and is not followed.
    """

    name: str
    blob: str
    size_bytes: int
    is_file: bool = True
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPlan:
    """
    What is to be done about a folder's list.

    `wanted` are the files to fetch, `refused` the reasons why others are not, by
    name, and `gone` the names that are stored and no longer there. `unusable` are those
    of the refused that are never read as they are, whatever becomes of the others.
    """

    wanted: tuple[ListedFile, ...] = ()
    refused: Mapping[str, tuple[ListedFile, str]] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    unusable: frozenset[str] = frozenset()


def is_watch_file(entry: ListedFile) -> bool:
    """Return whether an entry of a folder is meant for us, by its name's end."""
    is_meant = entry.is_file or entry.is_link
    return is_meant and entry.name.lower().endswith(SUFFIXES)


def plan_reading(
    listed: Iterable[ListedFile], stored: Mapping[str, WatchFile]
) -> ReadingPlan:
    """Plan which files of a folder are fetched: those whose content is another now."""
    meant = sorted(filter(is_watch_file, listed), key=lambda each: each.name)
    wanted = []
    refused = {}
    for position, entry in enumerate(meant):
        before = stored.get(entry.name)
        reason = _find_fault(entry, position)
        if before is not None and before.blob == entry.blob:
            continue
        if reason:
            refused[entry.name] = (entry, reason)
        else:
            wanted.append(entry)
    names = {entry.name for entry in meant}
    return ReadingPlan(
        wanted=tuple(wanted),
        refused=refused,
        gone=tuple(sorted(stored.keys() - names)),
        unusable=frozenset(
            name for name in refused if _find_own_fault(refused[name][0])
        ),
    )


def show_name(name: str) -> str:
    """Return a file's name for messages: nothing in it steers a terminal."""
    return name if name.isprintable() else ascii(name)


def find_name_fault(name: str) -> str:
    """Return why no file of that name is ever read, or ''."""
    if name.startswith("."):
        return "it begins with a dot"
    if len(name) > MAX_NAME:
        return f"it is longer than {MAX_NAME} characters"
    if "\ufffd" in name:
        return "it is not UTF-8"
    if not name.isprintable() or "/" in name or "\\" in name:
        return "it holds a slash or a character that cannot be shown"
    return ""


def _find_fault(entry: ListedFile, position: int) -> str:
    """Return why a file is not even fetched, or ''."""
    fault = _find_own_fault(entry)
    if not fault and position >= MAX_FILES:
        return f"is left out: at most {MAX_FILES} files of a folder are read, by name"
    return fault


def _find_own_fault(entry: ListedFile) -> str:
    """Return why a file is not fetched whatever stands beside it, or ''."""
    if entry.is_link:
        return "is a link, which is not followed; put the file itself there"
    fault = find_name_fault(entry.name)
    if fault:
        return f"has a name that cannot be used: {fault}"
    if entry.size_bytes > MAX_FILE_BYTES:
        return f"is longer than {MAX_FILE_BYTES} bytes"
    return ""


def settle_files(
    stored: Mapping[str, WatchFile],
    read: Mapping[str, WatchFile],
    gone: Collection[str],
    unusable: Collection[str] = (),
) -> dict[str, WatchFile]:
    """
    Return the files of a folder after some were read, by name.

    A file that is gone stays, with a warning, while a new one cannot be read: it may
    be the same one under another name, and what it declares must not be lost. Those of
    `unusable` hold nothing: nobody could ever let that one go.
    """
    settled = {name: each for name, each in stored.items() if name not in gone}
    settled |= read
    unread = sorted(
        name
        for name, each in settled.items()
        if each.problems and not each.declared and name not in unusable
    )
    new = [name for name in unread if name not in stored]
    for name in gone:
        before = stored[name]
        # One that was kept before waits for whichever file is still unread.
        blocking = new if before.blob else unread
        if blocking and before.declared:
            until = show_name(blocking[0])
            problem = f"{show_name(name)}: is gone, and kept until {until} can be read"
            settled[name] = replace(before, blob="", problems=(problem,))
    return dict(sorted(settled.items()))
