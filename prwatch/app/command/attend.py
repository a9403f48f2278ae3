"""Waiting beside a daemon: it looks, for everybody who waits, and tells what it saw."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from prwatch.app.command.workbench import Workbench
from prwatch.errors import DaemonError, ProviderUnavailable

UNKNOWN: Final = "unknown_command"
NOT_THERE: Final = frozenset({"not_listening", "busy", "timeout", "closed"})
"""Reasons that pass when the daemon has started, or has less to do."""


@dataclass(frozen=True, slots=True)
class Attendance:
    """
    What the daemon says of a watch for which somebody waits, on its own clock.

    `good_at` is when it last saw it well. `failures` are those of its last cycle that
    concern the watch.
    """

    now: dt.datetime
    good_at: dt.datetime | None
    failures: tuple[Mapping[str, str], ...]


async def request_attendance(bench: Workbench, watch_id: str) -> Attendance | None:
    """
    Tell the daemon that somebody waits; None when none runs, or none that knows it.

    Raises:
        ProviderUnavailable: It cannot be asked now.
        DaemonError: It refused.
    """
    try:
        answer = await bench.ask_daemon("attend", watch=watch_id)
    except DaemonError as error:
        if error.reason == UNKNOWN:
            return None
        if error.reason in NOT_THERE or error.reason == "watch_not_found":
            raise ProviderUnavailable(str(error)) from error
        raise
    return None if answer is None else _parse(answer)


def _parse(answer: Mapping[str, Any]) -> Attendance:
    good_at = answer.get("good_at")
    return Attendance(
        now=dt.datetime.fromisoformat(str(answer["now"])),
        good_at=dt.datetime.fromisoformat(good_at) if good_at else None,
        failures=tuple(answer.get("failures", ())),
    )
