"""Fetching the watch files that changed, each with a wait of its own where it fails."""

import datetime as dt
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from prwatch.app.sync.outcome import classify_sync_error
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import ListedFile, WatchFolder
from prwatch.domain.watch_file_wait import FileWait, is_waiting, leave, lengthen
from prwatch.errors import PermissionDenied, ProviderError, ResourceGone

if TYPE_CHECKING:
    from prwatch.github.contents import Contents, FetchedFile

MAX_FAILED_RUNNING: Final = 3
"""After so many failures running the rest is not asked for: the host may be down."""

Got: TypeAlias = "FetchedFile | ProviderError"


@dataclass(slots=True)
class Fetched:
    """What came of each file that was asked for, and the waits of those that failed."""

    files: dict[str, Got] = field(default_factory=dict)
    waits: dict[str, FileWait] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFetcher:
    """
    Fetches files of one folder.

    `progress` is called after each request. With `is_forced` no wait holds back.
    """

    contents: "Contents"
    folder: WatchFolder
    progress: Callable[[], None]
    chance: random.Random
    now: dt.datetime
    is_forced: bool = False

    async def fetch(
        self, wanted: Iterable[ListedFile], waits: Mapping[str, FileWait]
    ) -> Fetched:
        """
        Return what came of the files whose wait is over.

        Those that failed least are asked first, so that no other one starves. A file
        that lags behind its list counts as failed: it would be taken for the newest.

        Raises:
            ProviderError: What is about more than a file; or nothing but failures came
                until there were too many.
        """
        fetched = Fetched()
        running = 0
        last: ProviderError | None = None
        for entry in sorted(wanted, key=lambda each: _rank(waits, each)):
            before = waits.get(entry.name)
            if not self.is_forced and is_waiting(before, entry.blob, self.now):
                fetched.waits[entry.name] = waits[entry.name]
                continue
            if last is not None and running >= MAX_FAILED_RUNNING:
                fetched.files[entry.name] = last
                fetched.waits[entry.name] = leave(before, entry, now=self.now)
                continue
            got = await self._ask(entry)
            fetched.files[entry.name] = got
            failure_class = _find_failure(got, entry)
            if failure_class is not None:
                fetched.waits[entry.name] = lengthen(
                    before,
                    entry,
                    failure_class,
                    now=self.now,
                    chance_value=self.chance.random(),
                )
            is_down = isinstance(got, ProviderError) and failure_class is _TIME
            running = running + 1 if is_down else 0
            last = got if isinstance(got, ProviderError) else last
        if last is not None and running >= MAX_FAILED_RUNNING and _is_all_down(fetched):
            raise last
        return fetched

    async def _ask(self, entry: ListedFile) -> Got:
        try:
            return await self.contents.fetch_file(self.folder, entry.name)
        except ProviderError as error:
            if not _is_of_one_file(error):
                raise
            return error
        finally:
            self.progress()


_TIME: Final = FailureClass.TRANSIENT


def _rank(waits: Mapping[str, FileWait], entry: ListedFile) -> tuple[int, str]:
    wait = waits.get(entry.name)
    return (wait.failures if wait is not None else 0, entry.name)


def _is_of_one_file(error: ProviderError) -> bool:
    if isinstance(error, ResourceGone | PermissionDenied):
        return error.scope in {"record", "repository"}
    return classify_sync_error(error) is FailureClass.TRANSIENT


def _find_failure(got: Got, entry: ListedFile) -> FailureClass | None:
    if isinstance(got, ProviderError):
        return classify_sync_error(got)
    return None if got.blob == entry.blob else FailureClass.TRANSIENT


def _is_all_down(fetched: Fetched) -> bool:
    return all(
        isinstance(got, ProviderError) and classify_sync_error(got) is _TIME
        for got in fetched.files.values()
    )
