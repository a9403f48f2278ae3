"""Read the files of many checkouts in a thread, and leave a folder that hangs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from prwatch.domain.targets import UnknownBranch
from prwatch.git.files import (
    AskGit,
    HeadReading,
    Signature,
    find_layout,
    read_head,
    read_signature,
)
from prwatch.git.settings import LocalSettings, Settings

MOST_THREADS: Final = 8
READ_SECONDS: Final = 5.0
NO_ANSWER: Final = UnknownBranch("the folder does not answer")


@dataclass(frozen=True, slots=True)
class CheckoutFiles:
    """
    What the files of one checkout say.

    `tables` is the signature of the tables that hold its HEAD, None where a file
    does.
    """

    head: HeadReading
    settings: LocalSettings
    tables: Signature | None = None


@dataclass(slots=True)
class _Batch:
    """
    Folders that one thread reads in turn.

    The thread may outlive the one who waits for it: `current` is where it is, and
    it goes no further once `is_left`.
    """

    folders: list[Path]
    current: Path
    results: dict[Path, CheckoutFiles | UnknownBranch] = field(default_factory=dict)
    is_left: bool = False


class CheckoutReader:
    """Reads the files of checkouts; remembers which folders do not answer."""

    def __init__(
        self, settings: Settings, *, read_seconds: float = READ_SECONDS
    ) -> None:
        self._settings = settings
        self._read_seconds = read_seconds
        self._limiter = anyio.CapacityLimiter(MOST_THREADS)
        self._stuck: dict[Path, _Batch] = {}

    async def read(
        self, folders: Iterable[Path]
    ) -> dict[Path, CheckoutFiles | UnknownBranch]:
        """
        Read each folder once, in one thread as long as all of them answer.

        A thread that waits for a dead network folder cannot be stopped, only left;
        until it comes back no other is sent there.
        """
        results: dict[Path, CheckoutFiles | UnknownBranch] = {}
        waiting: list[Path] = []
        for folder in folders:
            batch = self._stuck.get(folder)
            if batch is not None and folder not in batch.results:
                results[folder] = NO_ANSWER
            else:
                self._stuck.pop(folder, None)
                waiting.append(folder)
        while waiting:
            batch = await self._read_batch(waiting)
            results.update(batch.results)
            if batch.current not in results:
                results[batch.current] = NO_ANSWER
            waiting = [folder for folder in waiting if folder not in results]
        return results

    async def _read_batch(self, folders: list[Path]) -> _Batch:
        batch = _Batch(folders, current=folders[0])
        try:
            with anyio.move_on_after(self._read_seconds):
                await anyio.to_thread.run_sync(
                    partial(_read_batch, batch, self._settings),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
        finally:
            batch.is_left = True
            if batch.current not in batch.results:
                self._stuck[batch.current] = batch
        return batch


def _read_batch(batch: _Batch, settings: Settings) -> None:
    for folder in batch.folders:
        if batch.is_left:
            return
        batch.current = folder
        batch.results[folder] = _read_files(folder, settings)


def _read_files(folder: Path, settings: Settings) -> CheckoutFiles | UnknownBranch:
    try:
        layout = find_layout(folder)
        if layout is None:
            return UnknownBranch("there is no checkout in this folder")
        head = read_head(layout)
        tables = layout.git_dir / "reftable" / "tables.list"
        return CheckoutFiles(
            head,
            settings.read_local(layout),
            read_signature(tables) if isinstance(head, AskGit) else None,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return UnknownBranch(f"cannot be read: {reason or type(error).__name__}")
