"""The line that `systemctl status` shows: what is watched, what stands in the way."""

import datetime as dt
from collections.abc import Iterator
from typing import Final

from prwatch.app.walk.cycle_report import CycleReport
from prwatch.domain.health import Health, Reason, ReasonCode

_WORDS: Final = {
    ReasonCode.LOOP_STALLED: ("loop makes no progress", "loops make no progress"),
    ReasonCode.LOOP_FAILING: ("loop fails", "loops fail"),
    ReasonCode.STORE_UNWRITABLE: ("the store cannot be written",) * 2,
    ReasonCode.SPACE_LOW: ("the disk is nearly full",) * 2,
    ReasonCode.TOKEN_REFUSED: (
        "workspace has no valid token",
        "workspaces have no valid token",
    ),
    ReasonCode.STALE: ("watch is not looked at", "watches are not looked at"),
    ReasonCode.ORGANISATION_REFUSED: (
        "organisation refuses the token",
        "organisations refuse the token",
    ),
    ReasonCode.GITHUB_UNREACHABLE: (
        "workspace cannot reach GitHub",
        "workspaces cannot reach GitHub",
    ),
    ReasonCode.CIRCUIT_OPEN: ("circuit is open", "circuits are open"),
    ReasonCode.SINK_FAILING: ("sink fails", "sinks fail"),
    ReasonCode.RELOAD_REFUSED: ("the new configuration was refused",) * 2,
    ReasonCode.STRETCHED: ("watch is asked less often", "watches are asked less often"),
    ReasonCode.REVIEW_WATCHES_UNREADABLE: (
        "review watch cannot be read",
        "review watches cannot be read",
    ),
    ReasonCode.FIELDS_REFUSED: ("field cannot be read", "fields cannot be read"),
}
_UNCOUNTED: Final = frozenset(
    {ReasonCode.STORE_UNWRITABLE, ReasonCode.SPACE_LOW, ReasonCode.RELOAD_REFUSED}
)
_PAUSES: Final = {ReasonCode.LIMIT: "rate limit", ReasonCode.RESERVE: "reserve"}


def build_status_line(
    report: CycleReport | None,
    health: Health,
    *,
    paused: int,
    zone: dt.tzinfo | None = None,
) -> str:
    """
    Return the line. `paused` is how many workspaces wait for a limit or a reserve.

    It names nothing, and changes only when something did. Times are those of `zone`,
    by default the machine's.
    """
    if report is None:
        parts = ["starting"]
    else:
        pulls = _count(report.watches_discovered, "pull request", "pull requests")
        parts = [f"watching {pulls}"]
        if report.watches_searching:
            parts[0] += f", {_count(report.watches_searching, 'branch', 'branches')}"
    parts.extend(_list_troubles(health, paused, zone))
    return "; ".join(parts)


def _list_troubles(
    health: Health, paused: int, zone: dt.tzinfo | None
) -> Iterator[str]:
    for reason in health.reasons:
        if reason.code in _PAUSES:
            yield _describe_pause(reason, paused, zone)
        elif reason.code in _UNCOUNTED:
            yield _WORDS[reason.code][0]
        elif reason.code in _WORDS:
            yield _count(reason.count, *_WORDS[reason.code])


def _describe_pause(reason: Reason, paused: int, zone: dt.tzinfo | None) -> str:
    said = _count(max(paused, 1), "workspace", "workspaces") + " paused"
    if reason.until is not None:
        said += f" until {reason.until.astimezone(zone):%H:%M}"
    return f"{said} ({_PAUSES[reason.code]})"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
