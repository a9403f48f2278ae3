"""What is asked of the daemon about a watch: its next turn and what is in the way."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from prwatch.app.command.explained import Obstacle, Outlook
from prwatch.app.command.workbench import Workbench
from prwatch.app.spending.limit_blocks import choose_blocks, list_blocks
from prwatch.domain.task import Workspace
from prwatch.errors import DaemonError
from prwatch.store import connections
from prwatch.store.checks_summary_column import from_checks_summary

DAEMON_SECONDS = 5.0
"""A daemon that does not answer by then is passed over: the store tells enough."""


NOT_CONFIGURED = Outlook(
    asked_at=None,
    good_at=None,
    due_at=None,
    why="never: its workspace is not configured any more",
)


async def find_outlook(
    bench: Workbench, watch_id: str, *, workspace: str
) -> Outlook | None:
    """
    Return what the daemon says of a watch, None without one that answers.

    A watch of a workspace that the configuration has lost has no turn at all.
    """
    if workspace not in {entry.name for entry in bench.config.workspaces}:
        return NOT_CONFIGURED
    try:
        answer = await bench.ask_daemon(
            "outlook", seconds=DAEMON_SECONDS, watch=watch_id
        )
    except DaemonError:
        # It may be of an earlier version, or busy; nothing here rests on it.
        return None
    return None if answer is None else _parse(answer)


async def find_silent(bench: Workbench) -> Mapping[str, dt.datetime]:
    """Return since when GitHub does not say of watches if they can be merged."""
    try:
        answer = await bench.ask_daemon("outlook", seconds=DAEMON_SECONDS)
    except DaemonError:
        return {}
    silent = (answer or {}).get("mergeable_unknown_since") or {}
    return {name: dt.datetime.fromisoformat(since) for name, since in silent.items()}


async def find_stored_obstacles(
    bench: Workbench, workspace: Workspace
) -> tuple[Obstacle, ...]:
    """Return the stored limits that bind a workspace, for who has no daemon."""
    connection = await bench.database.read(
        lambda tx: connections.find_connection(tx, workspace.id)
    )
    if connection is None:
        return ()
    now = bench.surroundings.clock.now()
    blocks = choose_blocks(
        await list_blocks(bench.database), [connection], connection.account
    )
    return tuple(
        Obstacle(kind=f"limit of {bucket}", message="GitHub forbids calls", until=until)
        for bucket, until in sorted(blocks)
        if until > now
    )


def _parse(answer: Mapping[str, Any]) -> Outlook:
    return Outlook(
        asked_at=_parse_time(answer.get("asked_at")),
        good_at=_parse_time(answer.get("good_at")),
        due_at=_parse_time(answer.get("due_at")),
        why=str(answer.get("why", "")),
        stretched=str(answer.get("stretched", "")),
        obstacles=tuple(
            Obstacle(
                kind=each["kind"],
                message=each["message"],
                until=dt.datetime.fromisoformat(each["until"]),
            )
            for each in answer.get("obstacles", ())
        ),
        summary=from_checks_summary(answer.get("checks_summary")),
        mergeable_unknown_since=_parse_time(answer.get("mergeable_unknown_since")),
    )


def _parse_time(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)
