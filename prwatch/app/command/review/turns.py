"""When review watches are searched, as a running daemon tells it."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from prwatch.app.command.workbench import NUDGE_SECONDS, Workbench
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.review.standing import WatchStanding, list_standings
from prwatch.app.runtime import Runtime
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.errors import DaemonError


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTurn:
    """
    When a watch was searched and will be, and what holds it back, as people see it.

    Times are '' where there is none, and all is '' without a daemon. `held_by` is
    `limit`, `auth`, `config`, `transient` or `host`.
    """

    searched_at: str = ""
    due_at: str = ""
    held_by: str = ""
    held_until: str = ""
    held_message: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the members that `--json` prints."""
        return {
            "searched_at": self.searched_at or None,
            "due_at": self.due_at or None,
            "held_by": self.held_by,
            "held_until": self.held_until or None,
            "held_message": self.held_message,
        }


UNKNOWN = SearchTurn()


async def read_turns(bench: Workbench) -> Mapping[str, SearchTurn]:
    """Return the turns that a running daemon knows, by watch; {} without one."""
    with contextlib.suppress(DaemonError):
        answer = await bench.ask_daemon("review turns", seconds=NUDGE_SECONDS)
        turns = answer.get("turns", {}) if answer else {}
        return {watch_id: _read_turn(turn) for watch_id, turn in turns.items()}
    return {}


def _read_turn(turn: Mapping[str, Any]) -> SearchTurn:
    """Return a turn; a daemon of another version may tell more, or less."""
    names = [each.name for each in fields(SearchTurn)]
    return SearchTurn(**{name: str(turn.get(name, "")) for name in names})


async def answer_turns(runtime: Runtime, queue: ReviewQueue) -> dict[str, Any]:
    """
    Answer what a command asks of the daemon.

    Raises:
        StoreError: The watches could not be read.
    """
    standings = await list_standings(runtime, queue)
    return {"turns": {key: _render(each) for key, each in standings.items()}}


def _render(standing: WatchStanding) -> dict[str, str]:
    held = standing.held
    return {
        "searched_at": format_optional_time(standing.searched_at) or "",
        "due_at": format_time(standing.due_at),
        "held_by": held.reason if held else "",
        "held_until": format_time(held.until) if held else "",
        "held_message": held.message if held else "",
    }
