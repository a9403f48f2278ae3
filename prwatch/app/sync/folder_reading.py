"""Reading a folder of watch files: its list, the files that changed, what they say."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prwatch.config.watch_file import parse_watch_file
from prwatch.domain.watch_file import (
    WatchFile,
    WatchFolder,
    plan_reading,
    settle_files,
    show_name,
)
from prwatch.errors import (
    ConfigError,
    PermissionDenied,
    ProviderUnavailable,
    ResourceGone,
)

if TYPE_CHECKING:
    from prwatch.github.contents import Absence, Contents, FetchedFile

_OF_ONE_FILE = (ResourceGone, PermissionDenied, ProviderUnavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReading:
    """
    A folder's files as they are now, and the tag that vouches for their list.

    `files` is None when nothing changed. A tag is '' while a file could not be
    fetched, or came in another state than the list told, so that it is tried again
    although nothing changes. `absence` proves that the folder is not there.
    """

    files: Mapping[str, WatchFile] | None
    tag: str = ""
    absence: "Absence | None" = None
    is_moved: bool = False
    """Whether the repository has another name than the entry says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReader:
    """
    Reads one folder.

    `is_app` says that the workspace signs in as an app, which is no person.
    `progress` is called after each request.
    """

    contents: "Contents"
    folder: WatchFolder
    is_app: bool
    progress: Callable[[], None]

    async def read(
        self,
        stored: Mapping[str, WatchFile],
        *,
        tag: str,
        now: dt.datetime,
        absence: "Absence | None" = None,
        is_again: bool = False,
    ) -> FolderReading:
        """
        Return the files of the folder, of which only those are fetched that changed.

        `stored` are the files as they were read last, `tag` what vouched for their
        list, `absence` what proved that there is none. With `is_again` those with
        mistakes are fetched too: what reads them may be another version, or have an
        extra more.

        Raises:
            ProviderError: the list could not be read, or whatever else is about more
                than one file.
        """
        listed = await self.contents.list_folder(self.folder, tag=tag, absence=absence)
        self.progress()
        if listed.files is None:
            return FolderReading(files=None, tag=listed.tag, is_moved=listed.is_moved)
        plan = plan_reading(listed.files, _open_again(stored) if is_again else stored)
        read: dict[str, WatchFile] = {}
        is_whole = True
        for name, (_, reason) in plan.refused.items():
            read[name] = _keep(stored.get(name), name, reason, now)
        for entry in plan.wanted:
            before = stored.get(entry.name)
            try:
                fetched = await self.contents.fetch_file(self.folder, entry.name)
            except _OF_ONE_FILE as error:
                if error.scope not in {"record", "repository"}:
                    raise
                is_whole = False
                read[entry.name] = _keep(before, entry.name, str(error), now)
            else:
                # One that lags behind its list would be taken for the newest.
                is_whole = is_whole and fetched.blob == entry.blob
                read[entry.name] = self._parse(entry.name, fetched, before, now)
            self.progress()
        return FolderReading(
            files=_keep_times(settle_files(stored, read, plan.gone), stored),
            tag=listed.tag if is_whole else "",
            absence=listed.absence,
            is_moved=listed.is_moved,
        )

    def _parse(
        self,
        name: str,
        fetched: "FetchedFile",
        before: WatchFile | None,
        now: dt.datetime,
    ) -> WatchFile:
        """Return a file with what it says, or with why it cannot be read."""
        declared = before.declared if before else ""
        problems: tuple[str, ...] = ()
        try:
            parse_watch_file(
                fetched.content, name=name, place="", workspace="", is_app=self.is_app
            )
            declared = fetched.content.decode("utf-8-sig")
        except ConfigError as error:
            problems = error.problems
        return WatchFile(
            name=name,
            blob=fetched.blob,
            declared=declared,
            problems=problems,
            changed_at=now,
        )


def _open_again(stored: Mapping[str, WatchFile]) -> dict[str, WatchFile]:
    """Return the files, those with mistakes as if they were not read."""
    return {
        name: replace(each, blob="") if each.problems else each
        for name, each in stored.items()
    }


def _keep(
    before: WatchFile | None, name: str, reason: str, now: dt.datetime
) -> WatchFile:
    """Return a file that was not read: what it had declared stays."""
    return WatchFile(
        name=name,
        blob="",
        declared=before.declared if before else "",
        problems=(f"{show_name(name)}: {reason}",),
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
