"""
What the daemon says of one watch: its next turn, why then, and what is in the way.

It knows more than the store: what did not change is not stored, and neither is when
somebody looked last.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

from prwatch.app.guard.admission import (
    host_key,
    organisation_key,
    record_key,
    workspace_key,
)
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.turns import build_turn
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.outlook import explain_turn
from prwatch.domain.schedule import next_due
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.verdict_words import UNKNOWN_AFTER
from prwatch.domain.watch import Watch
from prwatch.errors import WatchNotFound
from prwatch.store.checks_summary_column import to_checks_summary

MOST_SILENT: Final = 500
"""How many watches one answer names."""


async def answer_outlook(
    runtime: Runtime, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Tell what a command asks for: the outlook of the watch whose id is `watch`.

    Without one it tells which watches GitHub has said nothing of for an hour, when
    asked whether they can be merged.

    Raises:
        WatchNotFound: No configured workspace has it.
    """
    watch_id = str(arguments.get("watch", ""))
    if not watch_id:
        return {"mergeable_unknown_since": _list_silent(runtime)}
    for account in runtime.wired.accounts:
        for workspace in account.workspaces:
            view = await runtime.mirror.view(workspace)
            for watch in view.snapshot.watches:
                if watch.id == watch_id:
                    return _describe(runtime, account, view, watch)
    raise WatchNotFound(f"no watch {watch_id} is polled")


def _describe(
    runtime: Runtime, account: Account, view: WorkspaceView, watch: Watch
) -> dict[str, Any]:
    now = runtime.clock.now()
    memory = runtime.memory.get(watch.id, now=now)
    turn = build_turn(runtime.memory, view, watch, now=now)
    report = account.stretch
    intervals = report.stretch.intervals if report else runtime.settings.intervals
    summary = memory.summary if memory.is_busy else None
    return {
        "watch": watch.id,
        "asked_at": format_optional_time(memory.asked_at),
        "good_at": format_optional_time(memory.good_at),
        "due_at": format_optional_time(next_due(turn, now=now, intervals=intervals)),
        "why": explain_turn(turn, intervals, now=now),
        "stretched": report.words if report else "",
        "obstacles": list(_list_obstacles(runtime, account, view, watch)),
        "checks_summary": to_checks_summary(summary),
        "mergeable_unknown_since": format_optional_time(memory.mergeable_unknown_since),
    }


def _list_silent(runtime: Runtime) -> dict[str, str]:
    before = runtime.clock.now() - UNKNOWN_AFTER
    silent = runtime.memory.list_silent(before, limit=MOST_SILENT)
    return {watch_id: format_time(since) for watch_id, since in silent.items()}


def _list_obstacles(
    runtime: Runtime, account: Account, view: WorkspaceView, watch: Watch
) -> Iterator[dict[str, str | None]]:
    """Yield what keeps it from being asked for, widest first."""
    repository = view.repositories.get(watch.repository_id)
    keys = [host_key(account.host), workspace_key(view.workspace)]
    if repository is not None:
        keys.append(organisation_key(view, repository.owner))
    keys.append(record_key(view, watch.id))
    for key in keys:
        circuit = runtime.circuits.find(key)
        if circuit is not None:
            yield _build_obstacle(
                f"circuit of the {key.kind.value}",
                circuit.cause.message,
                circuit.open_until,
            )
    for state in account.github.limits.describe():
        if state.blocked_until is not None:
            yield _build_obstacle(
                f"limit of {state.bucket}",
                _LIMITS.get(state.reason.value, "GitHub forbids calls"),
                state.blocked_until,
            )


_LIMITS: Final[Mapping[str, str]] = {
    "limit": "its budget is used up",
    "secondary": "GitHub asked us to be slower",
    "reserve": "the rest of its budget is left to people",
}


def _build_obstacle(
    kind: str, message: str, until: dt.datetime
) -> dict[str, str | None]:
    return {"kind": kind, "message": message, "until": format_time(until)}
