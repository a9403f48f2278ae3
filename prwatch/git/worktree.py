"""Read which branch a local worktree has checked out, and where that is pushed."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from prwatch.domain.targets import LiveReading, OnBranch, UnknownBranch
from prwatch.git.files import (
    AskGit,
    HeadReading,
    Layout,
    Signature,
    find_layout,
    read_head,
    read_reference,
    read_signature,
)
from prwatch.git.process import Git, GitFailure
from prwatch.git.remote import RemoteRepository
from prwatch.git.settings import LocalSettings, Settings

MOST_READERS: Final = 8
READ_SECONDS: Final = 5.0
_NO_ANSWER: Final = "the folder does not answer"


@dataclass(frozen=True, slots=True)
class _Files:
    """What the files of one worktree say."""

    layout: Layout
    head: HeadReading
    settings: LocalSettings


@dataclass(slots=True)
class _Job:
    """A reading in a thread, which may outlive the one who waits for it."""

    is_done: bool = False


class WorktreeReader:
    """
    Reads worktrees again and again, cheaply.

    HEAD is read each time; settings and git's answers are remembered until the files
    behind them change. Nothing in a worktree makes a reading hang or fail: what
    cannot be read is an `UnknownBranch` with the reason.
    """

    def __init__(
        self,
        git: Git,
        *,
        host: str = "github.com",
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._git = git
        self._read_seconds = read_seconds
        self._host = host.lower()
        self._settings = Settings(git)
        self._limiter = anyio.CapacityLimiter(MOST_READERS)
        self._tables: dict[Path, tuple[Signature, HeadReading]] = {}
        self._stuck: dict[Path, _Job] = {}

    @property
    def settings(self) -> Settings:
        """Return the settings that this reader remembers."""
        return self._settings

    def forget(self) -> None:
        """Read everything anew, as at a reload."""
        self._settings.forget()
        self._tables.clear()

    async def read_worktree(
        self, path: str, *, default_branch: str = ""
    ) -> LiveReading:
        """
        Read the branch of one worktree.

        `head_repository` of the reading is the `owner/name` that the branch is pushed
        to, '' when that is not on this reader's host. With `default_branch` a
        worktree on it is unknown, as it means no pull request.
        """
        folder = Path(path)
        files = await self._read_files(folder)
        if isinstance(files, UnknownBranch):
            return files
        head = files.head
        if isinstance(head, AskGit):
            head = await self._ask_head(folder, files.layout)
        if isinstance(head, UnknownBranch):
            return head
        if default_branch and head.name == default_branch:
            return UnknownBranch("the default branch is checked out")
        pushed = await self._settings.find_push_repository(
            folder, files.settings, head.name
        )
        if isinstance(pushed, GitFailure):
            return UnknownBranch(pushed.reason)
        return OnBranch(head.name, self._name_here(pushed))

    async def read_worktrees(self, paths: Iterable[str]) -> dict[str, LiveReading]:
        """Read many worktrees, several at a time; a slow one delays no other."""
        readings: dict[str, LiveReading] = {}

        async def read(path: str) -> None:
            readings[path] = await self.read_worktree(path)

        async with anyio.create_task_group() as tasks:
            for path in sorted(set(paths)):
                tasks.start_soon(read, path)
        return readings

    async def _read_files(self, folder: Path) -> _Files | UnknownBranch:
        # A thread that waits for a dead network folder cannot be stopped, only left;
        # until it comes back no second one is sent after it.
        stuck = self._stuck.get(folder)
        if stuck is not None and not stuck.is_done:
            return UnknownBranch(_NO_ANSWER)
        self._stuck.pop(folder, None)
        job = _Job()
        with anyio.move_on_after(self._read_seconds):
            return await anyio.to_thread.run_sync(
                partial(_read_files, folder, self._settings, job),
                abandon_on_cancel=True,
                limiter=self._limiter,
            )
        self._stuck[folder] = job
        return UnknownBranch(_NO_ANSWER)

    async def _ask_head(self, folder: Path, layout: Layout) -> OnBranch | UnknownBranch:
        tables = layout.git_dir / "reftable" / "tables.list"
        signature = read_signature(tables)
        known = self._tables.get(tables)
        if known is not None and known[0] == signature:
            head = known[1]
        else:
            head = await self._ask_symbolic_ref(folder)
            if signature is not None and isinstance(head, OnBranch):
                self._tables[tables] = (signature, head)
        return (
            UnknownBranch("git names no branch") if isinstance(head, AskGit) else head
        )

    async def _ask_symbolic_ref(self, folder: Path) -> HeadReading:
        output = await self._git.ask(str(folder), "symbolic-ref", "--quiet", "HEAD")
        if isinstance(output, GitFailure):
            return UnknownBranch(output.reason)
        if output.exit_code == 1:
            return UnknownBranch("HEAD is detached")
        if output.exit_code != 0:
            return UnknownBranch(f"git symbolic-ref failed ({output.exit_code})")
        return read_reference(output.text.rstrip("\n"))

    def _name_here(self, repository: RemoteRepository | None) -> str:
        if repository is None or repository.host != self._host:
            return ""
        return repository.name_with_owner


def _read_files(folder: Path, settings: Settings, job: _Job) -> _Files | UnknownBranch:
    try:
        layout = find_layout(folder)
        if layout is None:
            return UnknownBranch("there is no checkout in this folder")
        return _Files(layout, read_head(layout), settings.read_local(layout))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return UnknownBranch(f"cannot be read: {reason or type(error).__name__}")
    finally:
        job.is_done = True
