"""
When a watch file that could not be fetched is asked for again.

Each such file has a wait of its own, which grows. So one that GitHub never hands out
costs little, and keeps no other file of its folder from being read.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.backoff import Backoff
from prwatch.domain.circuit import BACKOFFS
from prwatch.domain.outcome import FailureClass
from prwatch.domain.watch_file import ListedFile

FILE_BACKOFFS: Final[Mapping[FailureClass, Backoff]] = {
    FailureClass.TRANSIENT: BACKOFFS[FailureClass.TRANSIENT],
    # A file that was listed a moment ago is mostly back soon: it begins short.
    FailureClass.CONFIG: Backoff(
        base=dt.timedelta(minutes=1),
        factor=2,
        cap=BACKOFFS[FailureClass.CONFIG].cap,
        jitter=0.25,
    ),
}
"""How long a file is left alone, by what would help: time, or a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWait:
    """
    The wait of a file, for the content that the list told.

    `failures` counts those in a row; it is 0 for a file that was not even asked for,
    because others failed before it.
    """

    blob: str
    failure_class: FailureClass
    failures: int
    until: dt.datetime


def lengthen(
    before: FileWait | None,
    entry: ListedFile,
    failure_class: FailureClass,
    *,
    now: dt.datetime,
    chance_value: float,
) -> FileWait:
    """Return the wait after one more failure; another content begins anew."""
    is_same = before is not None and before.blob == entry.blob
    failures = before.failures + 1 if before is not None and is_same else 1
    wait = FILE_BACKOFFS[failure_class].delay(failures, chance_value)
    return FileWait(
        blob=entry.blob,
        failure_class=failure_class,
        failures=failures,
        until=now + wait,
    )


def leave(before: FileWait | None, entry: ListedFile, *, now: dt.datetime) -> FileWait:
    """Return the wait of a file that was not asked for, since others failed."""
    is_same = before is not None and before.blob == entry.blob
    return FileWait(
        blob=entry.blob,
        failure_class=FailureClass.TRANSIENT,
        failures=before.failures if before is not None and is_same else 0,
        until=now + FILE_BACKOFFS[FailureClass.TRANSIENT].base,
    )


def is_waiting(wait: FileWait | None, blob: str, now: dt.datetime) -> bool:
    """
    Return whether a file of that content is not to be asked for yet.

    A wait that is longer than any was begun before the clock was set back.
    """
    if wait is None or wait.blob != blob:
        return False
    longest = FILE_BACKOFFS[wait.failure_class].longest
    return dt.timedelta() < wait.until - now <= longest
