"""Local worktrees as a source of tasks, and as a live reading of their branches."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from prwatch.app.wired_accounts import WiredAccounts
from prwatch.app.workspace_view import WorkspaceView
from prwatch.config.model import Config
from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.targets import LiveReading, ReadingKey
from prwatch.domain.task import Origin
from prwatch.git.discovery import Worktree, discover_worktrees
from prwatch.git.process import Git
from prwatch.git.worktree import WorktreeReader


def list_searched(config: Config) -> dict[str, list[Path]]:
    """List the folders that are searched for worktrees, by workspace."""
    roots: defaultdict[str, list[Path]] = defaultdict(list)
    for entry in config.checkouts:
        name = entry.workspace or config.workspaces[0].name
        roots[name].extend(entry.roots)
    return dict(roots)


class LiveWorktrees:
    """Reads worktrees each cycle, and finds new ones now and then."""

    def __init__(self, *, environ: Mapping[str, str]) -> None:
        self._git = Git(environ=environ)
        self._readers: dict[str, WorktreeReader] = {}
        self._home = environ.get("HOME", "")
        self.problems: tuple[str, ...] = ()
        """What the last search could not look into."""

    def reader(self, host: str) -> WorktreeReader:
        """Return the reader that knows the repositories of one host."""
        if host not in self._readers:
            self._readers[host] = WorktreeReader(self._git, host=host)
        return self._readers[host]

    async def read(
        self, view: WorkspaceView, keys: Sequence[ReadingKey]
    ) -> Mapping[ReadingKey, LiveReading]:
        """Return which branch each worktree is on now."""
        paths = list(dict.fromkeys(key[2] for key in keys))
        found = await self.reader(view.host).read_worktrees(paths)
        return {key: found[key[2]] for key in keys}

    async def discover(
        self, config: Config, wired: WiredAccounts
    ) -> tuple[DesiredWorkspace, ...]:
        """
        Return what the worktrees below all roots ask for, by workspace.

        While something could not be searched, a workspace is left out: a worktree
        that is missing then may still exist.
        """
        desired: list[DesiredWorkspace] = []
        problems: list[str] = []
        for name, folders in list_searched(config).items():
            host = wired.hosts[name]
            found = await discover_worktrees(folders, reader=self.reader(host))
            problems.extend(found.problems)
            if not found.problems:
                tasks = (self._describe(tree, host) for tree in found.worktrees)
                desired.append(
                    DesiredWorkspace(
                        name=name, tasks=tuple(task for task in tasks if task)
                    )
                )
        self.problems = tuple(problems)
        return tuple(desired)

    def _describe(self, tree: Worktree, host: str) -> DesiredTask | None:
        """Return the task of a worktree; None when it has no repository on the host."""
        base = tree.find_base(host)
        if base is None:
            return None
        name = f"worktree:{self._shorten(tree.path)}"
        checkout = DesiredCheckout(
            owner=base.owner, name=base.name, worktree_path=tree.path
        )
        return DesiredTask(
            external_id=name,
            origin=Origin.WORKTREE,
            title=Path(tree.path).name,
            repositories=(DesiredRepository(owner=base.owner, name=base.name),),
            sessions=(DesiredSession(id=name, checkouts=(checkout,)),),
        )

    def _shorten(self, path: str) -> str:
        home = self._home.rstrip("/")
        if home and (path == home or path.startswith(f"{home}/")):
            return "~" + path[len(home) :]
        return path
