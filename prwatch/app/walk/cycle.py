"""What one cycle works with: the store, the clock, the settings and its report."""

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prwatch.app.guard.circuits import Circuits
from prwatch.app.mirror import Mirror
from prwatch.app.spending.bucket import Window
from prwatch.app.spending.stretch_report import StretchReport
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.app.walk.poll_memory import PollMemory
from prwatch.app.walk.poll_settings import PollSettings
from prwatch.app.workspace_view import WorkspaceView
from prwatch.clock import Clock
from prwatch.domain.events import Interest
from prwatch.domain.rate_limit import NOTHING_STORED, StoredLimits
from prwatch.domain.reference import Viewer
from prwatch.domain.task import Workspace
from prwatch.store.database import Database

if TYPE_CHECKING:
    # Commands that ask nobody need no HTTP library.
    from prwatch.github.client import GitHub
    from prwatch.github.rest_reader import RestReader


@dataclass(slots=True, kw_only=True)
class Account:
    """One credential and the workspaces that it pays for."""

    key: str
    host: str
    github: "GitHub"
    workspaces: tuple[Workspace, ...]
    viewer: Viewer | None = None
    generation: int = 1
    """Of the credential, when it was looked at last."""
    list_walks: int = 0
    """Walks of the lists of repository watches: each tenth goes to their end."""
    listed_at: dt.datetime | None = None
    """When the lists of repository watches were last walked."""
    asked_repositories: set[str] = field(default_factory=set)
    """Repositories that were asked once for their default branch alone."""
    stretch: StretchReport | None = None
    """What is asked less often for the sake of the budget; None until it is planned."""
    planned_at: dt.datetime | None = None
    window: Window | None = None
    """The budget's window, to tell what others use of it."""
    stored_limits: StoredLimits = NOTHING_STORED
    """What the store holds of the limits."""


@dataclass(slots=True, kw_only=True)
class Cycle:
    """
    One pass over all accounts.

    `is_forced` ignores due times; `is_full` reads every pull request in full and
    walks every list to its end. `on_commit` is called with nothing whenever events
    were committed, so that relays look sooner.
    """

    database: Database
    mirror: Mirror
    memory: PollMemory
    settings: PollSettings
    clock: Clock
    chance: random.Random
    source: str
    interests: tuple[Interest, ...]
    report: CycleReport
    circuits: Circuits
    on_commit: Callable[[], None]
    on_progress: Callable[[], None] = lambda: None
    """Called whenever a request has finished: a slow cycle is not a stuck one."""
    is_forced: bool = False
    is_full: bool = False
    is_asked: bool = False
    """A person asks for just this: open circuits hold nothing back."""

    def now(self) -> dt.datetime:
        """Return our clock's time."""
        return self.clock.now()


@dataclass(slots=True, kw_only=True)
class AccountRun:
    """One account's share of a cycle. `progress` pushes the deadline forward."""

    cycle: Cycle
    account: Account
    views: list[WorkspaceView]
    progress: Callable[[], None]

    @property
    def is_rest(self) -> bool:
        """Return whether GraphQL is left out: it is told to be, or it is not there."""
        return is_read_by_rest(self.account, self.cycle.settings.read_path)

    @property
    def reader(self) -> "GitHub | RestReader":
        """Return who is asked."""
        github = self.account.github
        return github.rest_reader if self.is_rest else github

    async def refresh(self) -> None:
        """Read the views again if anything was committed since."""
        await self.cycle.mirror.refresh()
        self.views = [
            with_targets(await self.cycle.mirror.view(view.workspace), view)
            for view in self.views
        ]


def is_read_by_rest(account: Account, read_path: str) -> bool:
    """Return whether an account is asked through REST alone."""
    if read_path == "auto":
        return not account.github.capabilities.has_graphql
    return read_path == "rest"


def find_pause(account: Account, read_path: str) -> dt.datetime | None:
    """Return until when a limit or a reserve keeps an account from being polled."""
    bucket = "core" if is_read_by_rest(account, read_path) else "graphql"
    return account.github.limits.blocked_until(bucket)


def with_targets(view: WorkspaceView, before: WorkspaceView) -> WorkspaceView:
    """Carry the targets of this cycle over to a newer view."""
    if view is not before:
        view.targets = before.targets
    return view
