"""What keeps review tasks from being cleaned away, why, and until when."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prwatch.app.command.workbench import NUDGE_SECONDS, Workbench
from prwatch.domain.connection import Connection
from prwatch.domain.review_cleanup import SweptTask, find_keep
from prwatch.errors import DaemonError


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Why a task stays: a word, or what GitHub said; `until` is '' without an end."""

    reason: str
    until: str = ""


async def read_skips(bench: Workbench) -> Mapping[str, Any]:
    """Return what the circuits of a running daemon hold back; {} without one."""
    with contextlib.suppress(DaemonError):
        answer = await bench.ask_daemon("review skips", seconds=NUDGE_SECONDS)
        return answer or {}
    return {}


def list_kept(
    tasks: Sequence[SweptTask],
    connection: Connection | None,
    skips: Mapping[str, Any],
) -> dict[str, Kept]:
    """Return what keeps each row of a workspace, by row id."""
    shared = skips.get("connections", {}).get(connection.id if connection else "")
    rows = skips.get("rows", {})
    found: dict[str, Kept] = {}
    for swept in tasks:
        keep = find_keep(swept)
        for each in swept.rows:
            skip = shared or rows.get(each.row.id)
            if keep is not None:
                found[each.row.id] = Kept(reason=keep.value)
            elif skip is not None:
                found[each.row.id] = Kept(reason=skip["message"], until=skip["until"])
    return found
