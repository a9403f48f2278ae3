"""
What commands work with: the store, the configuration, and the daemon if one runs.

Nothing here needs a token. Who writes nudges the daemon afterwards; a nudge that is
lost costs one interval.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prwatch.app.control.client import ANSWER_SECONDS, ask
from prwatch.app.daemon.daemon_lock import DaemonInfo, read_daemon_lock
from prwatch.app.guard.circuits import Circuits
from prwatch.app.host import find_host
from prwatch.app.mirror import Mirror
from prwatch.app.store_place import open_store
from prwatch.app.surroundings import Surroundings
from prwatch.app.task_steps import StepContext, apply_steps
from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.app.walk.poll_memory import PollMemory
from prwatch.app.walk.poll_settings import build_poll_settings
from prwatch.app.walk.reconciliation import reconcile
from prwatch.app.workspace_view import WorkspaceView
from prwatch.app.worktrees import LiveWorktrees
from prwatch.config.loader import LoadedConfig
from prwatch.config.model import Config
from prwatch.domain.desired_steps import Step
from prwatch.domain.ids import build_id
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Workspace
from prwatch.errors import ConfigError, NotFound, PrwatchError
from prwatch.store import connections, tasks
from prwatch.store.database import Database, Transaction, Work

DEFAULT_HOST: Final = "github.com"
NUDGE_SECONDS: Final = 2.0
"""A daemon that does not answer by then looks by itself soon enough."""


@dataclass(slots=True, kw_only=True)
class Workbench:
    """An open store with what stands around it."""

    config: Config
    surroundings: Surroundings
    database: Database

    async def list_workspaces(self, name: str = "") -> tuple[Workspace, ...]:
        """
        List the stored workspaces by name, or the one of that name.

        Raises:
            NotFound: Neither the store nor the configuration has it.
        """
        stored = await self.database.read(connections.list_workspaces)
        found = tuple(row for row in stored if name in ("", row.name))
        is_known = any(entry.name == name for entry in self.config.workspaces)
        if name and not found and not is_known:
            raise NotFound(f"there is no workspace {name}")
        return found

    async def get_workspace(self, name: str = "", *, host: str = "") -> Workspace:
        """
        Return the configured workspace that a command writes to, stored if need be.

        Without a name it is the only one, or the only one on `host`.

        Raises:
            ConfigError: There is none, or it must be named.
        """
        entries = [
            entry
            for entry in self.config.workspaces
            if name in ("", entry.name)
            and host.lower() in ("", find_host(entry.api_url))
        ]
        if not entries:
            where = f" on {host}" if host else ""
            what = f"workspace {name}" if name else "workspace"
            raise ConfigError(
                f"the configuration has no {what}{where}",
                hint="`prwatch config show` lists the workspaces",
            )
        if len(entries) > 1:
            names = ", ".join(sorted(entry.name for entry in entries))
            raise ConfigError(f"choose one with --workspace: {names}")
        now, chance = self.surroundings.clock.now(), self.surroundings.chance
        new = Workspace(id=build_id(now, chance), name=entries[0].name)

        async def put(tx: Transaction) -> Workspace:
            found = await connections.find_workspace(tx, new.name)
            if found is None:
                await connections.add_workspace(tx, new)
            return found or await connections.find_workspace(tx, new.name) or new

        if stored := await self.list_workspaces(new.name):
            return stored[0]
        return await self.database.transact(put)

    def get_host(self, workspace: str) -> str:
        """Return the host of a workspace; github.com when it is not configured."""
        for entry in self.config.workspaces:
            if entry.name == workspace:
                return find_host(entry.api_url)
        return DEFAULT_HOST

    async def load_snapshot(self, workspace: Workspace) -> Snapshot:
        """Read all rows of a workspace, those of archived tasks too."""

        async def load(tx: Transaction) -> Snapshot:
            return await tasks.load_snapshot(tx, workspace, include_archived=True)

        return await self.database.read(load)

    async def apply(
        self, workspace: Workspace, steps: Sequence[Step], *, then: Work[Any] | None
    ) -> None:
        """Apply task steps, and `then`, in one transaction."""
        now, chance = self.surroundings.clock.now(), self.surroundings.chance
        host = self.get_host(workspace.name)
        context = StepContext(workspace=workspace, host=host, now=now)
        named = [(step, build_id(now, chance)) for step in steps]

        async def write(tx: Transaction) -> None:
            await apply_steps(tx, named, context)
            if then is not None:
                await then(tx)

        if steps or then is not None:
            await self.database.transact(write)

    async def reconcile(self, workspace: Workspace) -> WorkspaceView:
        """Make a workspace's watches equal to its tasks, as each cycle does."""
        surroundings = self.surroundings
        now = surroundings.clock.now()
        mirror = Mirror(self.database)
        cycle = Cycle(
            database=self.database,
            mirror=mirror,
            memory=PollMemory(full_read=self.config.poll.full_read),
            settings=build_poll_settings(self.config.poll),
            clock=surroundings.clock,
            chance=surroundings.chance,
            source="",
            interests=(),
            report=CycleReport(
                cycle_id=build_id(now, surroundings.chance), started_at=now
            ),
            circuits=Circuits(surroundings.clock, surroundings.chance),
            on_commit=lambda: None,
        )
        await mirror.refresh()
        worktrees = LiveWorktrees(environ=surroundings.environ)
        return await reconcile(cycle, await mirror.view(workspace), worktrees)

    def find_daemon(self) -> DaemonInfo | None:
        """Find the daemon that uses this state folder, or None."""
        return read_daemon_lock(self.config.state_dir)

    async def ask_daemon(
        self, command: str, *, seconds: float = ANSWER_SECONDS, **arguments: Any
    ) -> Mapping[str, Any] | None:
        """
        Return the daemon's answer, or None when no daemon runs.

        Raises:
            DaemonError: It refused, or did not answer within `seconds`.
        """
        return await ask(self.find_daemon(), command, seconds=seconds, **arguments)

    async def nudge(self) -> None:
        """Let the daemon look at once. It would look by itself a little later."""
        with contextlib.suppress(PrwatchError):
            await self.ask_daemon("nudge", seconds=NUDGE_SECONDS)


@contextlib.asynccontextmanager
async def open_workbench(
    loaded: LoadedConfig, surroundings: Surroundings
) -> AsyncIterator[Workbench]:
    """
    Open the store of a configuration.

    Raises:
        StoreError: The database cannot be opened.
        ConfigError: Its password or address cannot be used.
    """
    now = surroundings.clock.now()
    async with open_store(
        loaded.config, surroundings.environ, now, surroundings.is_inline
    ) as database:
        yield Workbench(
            config=loaded.config, surroundings=surroundings, database=database
        )
