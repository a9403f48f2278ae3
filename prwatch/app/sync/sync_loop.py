"""The loop that follows folders of watch files, each at its interval."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import anyio
import structlog
from anyio.abc import TaskStatus

from prwatch.app.daemon.loop_outcome import LoopOutcome
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.turns import pause
from prwatch.app.runtime import Runtime
from prwatch.app.sync.folder_sync import FolderLook
from prwatch.app.sync.memory import Followed
from prwatch.app.sync.next_look import is_due
from prwatch.app.sync.outcome import FolderOutcome, SyncResult
from prwatch.app.sync.workspace_sync import sync_workspace
from prwatch.domain.timestamp import format_optional_time
from prwatch.errors import ConfigError, StoreError
from prwatch.github.reserve import keep_reserve

TURN: Final = dt.timedelta(seconds=15)
"""How often the loop looks which folders are due; the shortest interval is a minute."""

_log = structlog.get_logger()


class SyncLoop:
    """A service that looks at each folder when it is due, until it is cancelled."""

    name = "sync"
    is_critical = False
    deadline: dt.timedelta | None = dt.timedelta(minutes=10)

    def __init__(
        self,
        runtime: Runtime,
        registry: LoopRegistry,
        *,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Follow folders; `on_change` is called when other things are watched now."""
        self._runtime = runtime
        self._registry = registry
        self._outcome = LoopOutcome(registry, self.name)
        self._on_change = on_change

    async def run(
        self,
        beat: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Look at what is due, turn by turn; one that fails waits for the next."""
        task_status.started()
        late_by = dt.timedelta(0)
        is_failing = False
        while True:
            self._registry.begin_turn(self.name, late_by=late_by)
            try:
                outcomes = await sync_due(self._runtime, progress=beat)
            except StoreError as error:
                is_failing = True
                self._outcome.fail(error)
            else:
                # A turn in which nothing is due proves nothing of the store.
                is_failing = is_failing and not outcomes
                if not is_failing:
                    self._outcome.succeed()
                if any(each.steps for each in outcomes):
                    self._on_change()
            late_by = await pause(self._runtime.clock, TURN, beat)


async def sync_due(
    runtime: Runtime, *, progress: Callable[[], None] = lambda: None
) -> list[FolderOutcome]:
    """
    Look at every folder that is due and polled, and return what each turn came to.

    The reserve of the budget is left to people.

    Raises:
        StoreError: The store failed; what was done until then stays done.
    """
    now = runtime.clock.now()
    due = [
        each
        for each in runtime.sync_memory.followed
        if each.entry.poll_enabled and is_due(runtime.sync_memory, each, now=now)
    ]
    with keep_reserve():
        return await _sync_and_tell(runtime, due, progress)


async def sync_now(
    runtime: Runtime,
    workspace: str = "",
    *,
    progress: Callable[[], None] = lambda: None,
) -> list[FolderOutcome]:
    """
    Look at the folders of a workspace, or of all, whatever their time and circuits.

    Raises:
        ConfigError: There is no such workspace, or it follows no folder.
        StoreError: The store failed; what was done until then stays done.
    """
    meant = [
        each
        for each in runtime.sync_memory.followed
        if workspace in {"", each.workspace.name}
    ]
    if not meant:
        what = f"workspace {workspace} follows" if workspace else "no workspace follows"
        raise ConfigError(
            f"{what} {'no' if workspace else 'a'} folder of watch files",
            hint="add a [[workspace.sync]] entry to the configuration",
        )
    return await _sync_and_tell(runtime, meant, progress, is_forced=True)


async def _sync_and_tell(
    runtime: Runtime,
    meant: Sequence[Followed],
    progress: Callable[[], None],
    *,
    is_forced: bool = False,
) -> list[FolderOutcome]:
    """
    Take the turns of folders, workspace by workspace, and log what is news of them.

    Other folders of a workspace that were looked at too are among the outcomes when
    something is to be told of them.
    """
    groups: dict[str, list[Followed]] = {}
    for each in meant:
        groups.setdefault(each.workspace.id, []).append(each)
    outcomes: list[FolderOutcome] = []
    for group in groups.values():
        looks = await sync_workspace(
            runtime, group, is_forced=is_forced, progress=progress
        )
        told = [_tell(runtime, look) for look in looks]
        quiet = {SyncResult.SKIPPED, SyncResult.UNCHANGED}
        others = told[len(group) :]
        outcomes += told[: len(group)]
        outcomes += [each for each in others if each.result not in quiet]
    return outcomes


def _tell(runtime: Runtime, look: FolderLook) -> FolderOutcome:
    """Count and keep what a turn came to, and log what is news of it."""
    outcome, folder_id = look.outcome, look.followed.folder.id
    known = runtime.sync_memory.outcomes
    before = known.get(folder_id)
    runtime.sync_memory.turns[outcome.result] += 1
    if outcome.result is SyncResult.SKIPPED:
        _log.debug("sync.skipped", folder=outcome.place, reason=outcome.reason)
        return outcome
    if outcome.failure is not None and before is not None:
        kept = dict.fromkeys((*before.warnings, *outcome.warnings))
        outcome = replace(outcome, warnings=tuple(kept))
    known[folder_id] = outcome
    if outcome.failure is not None:
        is_news = before is None or before.code != outcome.code
        log = _log.warning if is_news else _log.debug
        log(
            "sync.folder_failed",
            **outcome.failure.as_json(),
            until=format_optional_time(outcome.until),
        )
    elif before is not None and before.failure is not None:
        _log.info("sync.folder_recovered", folder=outcome.place)
    for warning in outcome.warnings:
        if before is None or warning not in before.warnings:
            _log.warning("sync.warned", folder=outcome.place, warning=warning)
    if outcome.result is SyncResult.CHANGED:
        _log.info("sync.changed", folder=outcome.place, steps=outcome.steps)
    return outcome
