"""Reading a folder of watch files: its list, the files that changed, what they say."""

import datetime as dt
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prwatch.app.sync.file_fetching import FileFetcher
from prwatch.app.sync.memory import KnownTag
from prwatch.config.watch_file import parse_watch_file
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import (
    ListedFile,
    WatchFile,
    WatchFolder,
    plan_reading,
    settle_files,
    show_name,
)
from prwatch.domain.watch_file_wait import FileWait, is_waiting
from prwatch.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from prwatch.github.contents import Absence, Contents, FetchedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReading:
    """
    A folder's files as they are now, and the tag that vouches for their list.

    `files` is None when nothing changed. `waits` are those of files that could not be
    fetched, or came in another state than the list told; `listed` is then that list.
    `absence` proves that the folder is not there.
    """

    files: Mapping[str, WatchFile] | None
    tag: str = ""
    absence: "Absence | None" = None
    is_moved: bool = False
    """Whether the repository has another name than the entry says."""
    waits: Mapping[str, FileWait] = field(default_factory=dict)
    listed: tuple[ListedFile, ...] = ()

    @property
    def stored_tag(self) -> str:
        """Return the tag to store: none while a file is to be asked for again."""
        return "" if self.waits else self.tag

    @property
    def is_whole(self) -> bool:
        """Return whether no file is left that time alone would let us read."""
        return not any(
            each.failure_class is FailureClass.TRANSIENT for each in self.waits.values()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReader:
    """
    Reads one folder.

    `is_app` says that the workspace signs in as an app, which is no person.
    `progress` is called after each request. `is_first` says that this process has not
    looked at the folder yet: files with mistakes are fetched too, since what reads
    them may be another version, or have an extra more. With `is_forced` a file is
    asked for before its wait is over.
    """

    contents: "Contents"
    folder: WatchFolder
    is_app: bool
    progress: Callable[[], None]
    chance: random.Random
    is_first: bool = False
    is_forced: bool = False

    async def read(
        self, stored: Mapping[str, WatchFile], *, known: KnownTag, now: dt.datetime
    ) -> FolderReading:
        """
        Return the files of the folder, of which only those are fetched that changed.

        `stored` are the files as they were read last, `known` what vouched for their
        list or its absence. A file that fails keeps no other one from being read: what
        it had declared stays.

        Raises:
            ProviderError: The list could not be read, or whatever else is about more
                than one file.
        """
        is_again = self.is_first and any(each.problems for each in stored.values())
        tag = "" if is_again else known.tag
        listed = await self.contents.list_folder(
            self.folder, tag=tag, absence=known.absence
        )
        self.progress()
        entries = listed.files
        if entries is None and not self._is_any_due(known.waits, now):
            return FolderReading(
                files=None,
                tag=listed.tag,
                is_moved=listed.is_moved,
                waits=known.waits,
                listed=known.listed,
            )
        entries = known.listed if entries is None else entries
        plan = plan_reading(entries, _open_again(stored) if is_again else stored)
        read: dict[str, WatchFile] = {}
        for name, (_, reason) in plan.refused.items():
            read[name] = _keep(stored.get(name), name, reason, now)
        fetcher = FileFetcher(
            contents=self.contents,
            folder=self.folder,
            progress=self.progress,
            chance=self.chance,
            now=now,
            is_forced=self.is_forced,
        )
        fetched = await fetcher.fetch(plan.wanted, known.waits)
        for name, got in fetched.files.items():
            before = stored.get(name)
            if isinstance(got, ProviderError):
                reason = f"could not be fetched: {got}"
                read[name] = _keep(before, name, reason, now)
            else:
                read[name] = self._parse(name, got, before, now)
        settled = settle_files(stored, read, plan.gone, plan.unusable)
        return FolderReading(
            files=_keep_times(settled, stored),
            tag=listed.tag,
            absence=listed.absence,
            is_moved=listed.is_moved,
            waits=fetched.waits,
            listed=tuple(entries) if fetched.waits else (),
        )

    def _is_any_due(self, waits: Mapping[str, FileWait], now: dt.datetime) -> bool:
        return any(
            self.is_forced or not is_waiting(each, each.blob, now)
            for each in waits.values()
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
