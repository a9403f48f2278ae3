"""
What is kept of a commit's checks beside the verdict: how many, and which decide it.

It is bounded, whatever the number of checks, so that it can be stored with the change
that it explains. The verdict never rests on it.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from prwatch.domain.check_runs import RUNNING_STATUSES, CheckRun, StatusContext
from prwatch.domain.pull_request import ChecksState

NAMED_LIMIT: Final = 10
"""How many checks are kept by name."""

NAME_LIMIT: Final = 100
"""How many characters of a name are kept."""

RUN_NOTES: Final = {
    "FAILURE": "failed",
    "TIMED_OUT": "timed out",
    "CANCELLED": "cancelled",
    "ACTION_REQUIRED": "needs approval",
    "STARTUP_FAILURE": "failed to start",
    "STALE": "stale",
}
"""What is said of a check run's conclusion."""

STATUS_NOTES: Final = {
    "FAILURE": "failed",
    "ERROR": "failed",
    "EXPECTED": "not reported yet",
}
"""What is said of a commit status's state."""

_DECIDING: Final = (ChecksState.FAILURE, ChecksState.PENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCheck:
    """A check that did not pass: `said` is what it says, `since` when it came to it."""

    name: str
    said: str
    state: ChecksState
    app: str = ""
    since: dt.datetime | None = None
    is_required: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksSummary:
    """
    The checks that count for one commit, by number, and the worst of them by name.

    `failing` includes the `unapproved` ones, `pending` the `stale` and `unreported`
    ones. `required` is how many of them are required, None where that was not asked;
    `required_failing` and `required_pending` mean nothing then. `is_expecting` says
    that GitHub waits for a required check that has not reported at all, so it is none
    of these. `unread` is why they could not be read, or '', and `is_refused` that
    this token may not.
    """

    total: int = 0
    failing: int = 0
    pending: int = 0
    unapproved: int = 0
    stale: int = 0
    unreported: int = 0
    ignored: int = 0
    required: int | None = None
    required_failing: int = 0
    required_pending: int = 0
    is_expecting: bool = False
    named: tuple[NamedCheck, ...] = ()
    unread: str = ""
    is_refused: bool = False

    @property
    def running(self) -> int:
        """Return how many were begun and have not come to an end."""
        return self.pending - self.stale - self.unreported

    @property
    def has_passed(self) -> bool:
        """Return whether there are some, and all of them passed."""
        return self.total > 0 and not self.failing and not self.pending


def summarise_checks(
    runs: Sequence[CheckRun], statuses: Sequence[StatusContext], *, ignored: int = 0
) -> ChecksSummary:
    """
    Return the summary of the runs and statuses that count, in whatever order.

    `ignored` is how many more are jobs that were never expanded.
    """
    checks = [*map(_name_run, runs), *map(_name_status, statuses)]
    failing = [each for each in checks if each.state is ChecksState.FAILURE]
    pending = [each for each in checks if each.state is ChecksState.PENDING]
    is_known = bool(checks) and all(each.is_required is not None for each in checks)
    named = sorted([*failing, *pending], key=_order)
    return ChecksSummary(
        total=len(checks),
        failing=len(failing),
        pending=len(pending),
        unapproved=sum(run.conclusion == "ACTION_REQUIRED" for run in runs),
        stale=sum(run.conclusion == "STALE" for run in runs),
        unreported=sum(status.state == "EXPECTED" for status in statuses),
        ignored=ignored,
        required=_count_required(checks) if is_known else None,
        required_failing=_count_required(failing),
        required_pending=_count_required(pending),
        named=tuple(named[:NAMED_LIMIT]),
    )


def say_run(run: CheckRun) -> str:
    """Return what a check run says, in words."""
    if run.conclusion:
        word = run.conclusion.lower().replace("_", " ")
        return RUN_NOTES.get(run.conclusion, word)
    if run.status in RUNNING_STATUSES - {"COMPLETED"}:
        return run.status.lower().replace("_", " ")
    return run.status.lower() if run.status != "COMPLETED" else "not concluded"


def say_status(status: StatusContext) -> str:
    """Return what a commit status says, in words."""
    word = status.state.lower().replace("_", " ")
    return STATUS_NOTES.get(status.state, word)


def since_run(run: CheckRun) -> dt.datetime | None:
    """Return when a check run came to what it says."""
    return (run.completed_at if run.conclusion else None) or run.started_at


def _name_run(run: CheckRun) -> NamedCheck:
    return NamedCheck(
        name=run.name[:NAME_LIMIT],
        said=say_run(run),
        state=run.state,
        app=run.app,
        since=since_run(run),
        is_required=run.is_required,
    )


def _name_status(status: StatusContext) -> NamedCheck:
    return NamedCheck(
        name=status.context[:NAME_LIMIT],
        said=say_status(status),
        state=status.verdict,
        since=status.created_at,
        is_required=status.is_required,
    )


def _count_required(checks: Iterable[NamedCheck]) -> int:
    return sum(each.is_required is True for each in checks)


def _order(check: NamedCheck) -> tuple[int, str, str, str, dt.datetime]:
    since = check.since or dt.datetime.max.replace(tzinfo=dt.UTC)
    return (_DECIDING.index(check.state), check.name, check.said, check.app, since)
