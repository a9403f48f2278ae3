"""Read which branch a local worktree has checked out, and where that is pushed."""

from collections.abc import Iterable
from pathlib import Path

import anyio

from prwatch.domain.targets import LiveReading, OnBranch, UnknownBranch
from prwatch.git.checkout_files import (
    READ_SECONDS,
    CheckoutFiles,
    CheckoutReader,
)
from prwatch.git.files import AskGit, HeadReading, Signature, read_reference
from prwatch.git.process import Git, GitFailure
from prwatch.git.remote import RemoteRepository
from prwatch.git.settings import Settings


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
        self._host = host.lower()
        self._settings = Settings(git)
        self._files = CheckoutReader(self._settings, read_seconds=read_seconds)
        self._tables: dict[Path, tuple[Signature, OnBranch]] = {}

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
        files = await self._files.read([folder])
        return await self._judge(folder, files[folder], default_branch)

    async def read_worktrees(self, paths: Iterable[str]) -> dict[str, LiveReading]:
        """Read many worktrees; one that hangs delays the others once."""
        folders = {path: Path(path) for path in paths}
        files = await self._files.read(sorted(set(folders.values())))
        readings: dict[str, LiveReading] = {}

        async def judge(path: str, folder: Path) -> None:
            readings[path] = await self._judge(folder, files[folder], "")

        async with anyio.create_task_group() as tasks:
            for path, folder in folders.items():
                tasks.start_soon(judge, path, folder)
        return readings

    async def _judge(
        self, folder: Path, files: CheckoutFiles | UnknownBranch, default_branch: str
    ) -> LiveReading:
        if isinstance(files, UnknownBranch):
            return files
        head = files.head
        if isinstance(head, AskGit):
            head = await self._ask_head(folder, files.tables)
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

    async def _ask_head(
        self, folder: Path, tables: Signature | None
    ) -> OnBranch | UnknownBranch:
        known = self._tables.get(folder)
        if known is not None and known[0] == tables:
            return known[1]
        head = await self._ask_symbolic_ref(folder)
        if isinstance(head, AskGit):
            return UnknownBranch("git names no branch")
        if tables is not None and isinstance(head, OnBranch):
            self._tables[folder] = (tables, head)
        return head

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
