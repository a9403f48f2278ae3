"""Reading a folder of watch files: its list, the files that changed, what they say."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prwatch.config.watch_file import parse_watch_file
from prwatch.domain.watch_file import (
    ListedFile,
    WatchFile,
    WatchFolder,
    plan_reading,
    settle_files,
)
from prwatch.errors import (
    ConfigError,
    PermissionDenied,
    ProviderUnavailable,
    ResourceGone,
)

if TYPE_CHECKING:
    from prwatch.github.contents import Contents

_OF_ONE_FILE = (ResourceGone, PermissionDenied, ProviderUnavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReading:
    """
    A folder's files as they are now, and the tag that vouches for their list.

    `files` is None when nothing changed. A tag is '' while a file could not be
    fetched, so that it is tried again although nothing changes.
    """

    files: Mapping[str, WatchFile] | None
    tag: str = ""
    is_there: bool = True


async def read_folder(
    contents: "Contents",
    folder: WatchFolder,
    stored: Mapping[str, WatchFile],
    *,
    tag: str,
    now: dt.datetime,
    progress: Callable[[], None],
) -> FolderReading:
    """
    Return the files of a folder, of which only those are fetched that changed.

    `stored` are the files as they were read last, `tag` what vouched for their list.
    `progress` is called after each request.

    Raises:
        ProviderError: the list could not be read, or whatever else is about more
            than one file.
    """
    listed = await contents.list_folder(folder, tag=tag)
    progress()
    if listed.files is None:
        return FolderReading(files=None, tag=listed.tag)
    plan = plan_reading(listed.files, stored)
    read: dict[str, WatchFile] = {}
    is_whole = True
    for name, (_, reason) in plan.refused.items():
        read[name] = _keep(stored.get(name), name, f"{name}: {reason}", now)
    for entry in plan.wanted:
        try:
            fetched = await contents.fetch_file(folder, entry.name)
        except _OF_ONE_FILE as error:
            if error.scope not in {"record", "repository"}:
                raise
            is_whole = False
            problem = f"{entry.name}: {error}"
            read[entry.name] = _keep(stored.get(entry.name), entry.name, problem, now)
        else:
            read[entry.name] = _parse(
                replace(entry, blob=fetched.blob),
                fetched.content,
                stored.get(entry.name),
                now,
            )
        progress()
    return FolderReading(
        files=_keep_times(settle_files(stored, read, plan.gone), stored),
        tag=listed.tag if is_whole else "",
        is_there=listed.is_there,
    )


def _parse(
    entry: ListedFile, content: bytes, before: WatchFile | None, now: dt.datetime
) -> WatchFile:
    """Return a file with what it says, or with why it cannot be read."""
    declared = before.declared if before else ""
    problems: tuple[str, ...] = ()
    try:
        parse_watch_file(content, name=entry.name, place="", workspace="")
        declared = content.decode("utf-8-sig")
    except ConfigError as error:
        problems = error.problems
    return WatchFile(
        name=entry.name,
        blob=entry.blob,
        declared=declared,
        problems=problems,
        changed_at=now,
    )


def _keep(
    before: WatchFile | None, name: str, problem: str, now: dt.datetime
) -> WatchFile:
    """Return a file that was not read: what it had declared stays."""
    return WatchFile(
        name=name,
        blob="",
        declared=before.declared if before else "",
        problems=(problem,),
        changed_at=now,
    )


def _keep_times(
    files: Mapping[str, WatchFile], stored: Mapping[str, WatchFile]
) -> dict[str, WatchFile]:
    """Return the files, each that is as it was with the time of its last change."""
    return {
        name: before
        if (before := stored.get(name)) is not None
        and replace(each, changed_at=before.changed_at) == before
        else each
        for name, each in files.items()
    }
