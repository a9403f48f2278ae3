"""
Looking often at what somebody waits for, however many wait for it.

Who waits says so again and again; the daemon then asks for that pull request as often
as for a hot one, and forgets the wait a while after nobody says so any more.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.watch import Watch
from prwatch.errors import WatchNotFound

if TYPE_CHECKING:
    from prwatch.app.daemon.daemon import Daemon

REMEMBERED: Final = dt.timedelta(minutes=1)
"""How long a wait is remembered at least."""


async def answer_attend(
    daemon: "Daemon", arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Note that somebody waits for the watch whose id is `watch`, and tell of it.

    Raises:
        WatchNotFound: No configured workspace has it.
    """
    shift = daemon.shift
    watch_id = str(arguments.get("watch", ""))
    view, watch = await _find(shift.runtime, watch_id)
    if attend(shift.runtime, watch_id):
        shift.loop.notify()
    memory = shift.runtime.memory.get(watch_id, now=shift.runtime.clock.now())
    return {
        "now": format_time(shift.runtime.clock.now()),
        "good_at": format_optional_time(memory.good_at),
        "failures": [
            failure.as_json()
            for failure in _list_failures(shift.loop.last_report, view, watch)
        ],
    }


def attend(runtime: Runtime, watch_id: str) -> bool:
    """Note that somebody waits for a watch; return whether nobody did before."""
    now = runtime.clock.now()
    memory = runtime.memory.get(watch_id, now=now)
    is_new = memory.awaited_until is None or memory.awaited_until <= now
    memory.awaited_until = now + max(REMEMBERED, runtime.settings.intervals.hot * 4)
    return is_new


async def _find(runtime: Runtime, watch_id: str) -> tuple[WorkspaceView, Watch]:
    await runtime.mirror.refresh()
    for account in runtime.wired.accounts:
        for workspace in account.workspaces:
            view = await runtime.mirror.view(workspace)
            for watch in view.discovered:
                if watch.id == watch_id:
                    return view, watch
    raise WatchNotFound(f"no pull request is watched under {watch_id}")


def _list_failures(
    report: CycleReport | None, view: WorkspaceView, watch: Watch
) -> Iterator[Failure]:
    """Yield what the last cycle could not do that concerns the watch."""
    repository = view.repositories.get(watch.repository_id)
    place = repository.name_with_owner.lower() if repository else ""
    name = f"{place}#{watch.pr_number}"
    for failure in report.failures if report else ():
        if failure.workspace != view.workspace.name:
            continue
        owner, _, _ = failure.reference.lower().partition("/")
        is_refused_owner = (
            failure.scope == "organisation" and owner == place.partition("/")[0]
        )
        if (
            failure.is_whole_workspace
            or is_refused_owner
            or failure.reference.lower() == name
        ):
            yield failure
