"""
The check runs and status contexts of a commit, and which of them still count.

A run that was made again keeps its older results on the commit. GitHub's GraphQL
answers say which workflow a run belongs to, its REST answers only which check
suite; both are cut down to the same newest runs here.
"""

import datetime as dt
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from prwatch.domain.pull_request import ChecksState

T = TypeVar("T")

_NEVER: Final = dt.datetime.min.replace(tzinfo=dt.UTC)
_NOT_YET: Final = dt.datetime.max.replace(tzinfo=dt.UTC)

CONCLUSIONS: Final = {
    "SUCCESS": ChecksState.SUCCESS,
    "NEUTRAL": ChecksState.SUCCESS,
    "SKIPPED": ChecksState.SUCCESS,
    "FAILURE": ChecksState.FAILURE,
    "TIMED_OUT": ChecksState.FAILURE,
    "CANCELLED": ChecksState.FAILURE,
    "ACTION_REQUIRED": ChecksState.FAILURE,
    "STARTUP_FAILURE": ChecksState.FAILURE,
    "STALE": ChecksState.PENDING,
}
"""What GitHub's `CheckConclusionState` means. Every other word is pending."""

RUNNING_STATUSES: Final = frozenset(
    {"QUEUED", "IN_PROGRESS", "WAITING", "REQUESTED", "PENDING", "COMPLETED"}
)
"""GitHub's `CheckStatusState`. COMPLETED without a conclusion is running too."""

STATUS_STATES: Final = {
    "SUCCESS": ChecksState.SUCCESS,
    "FAILURE": ChecksState.FAILURE,
    "ERROR": ChecksState.FAILURE,
    "PENDING": ChecksState.PENDING,
    "EXPECTED": ChecksState.PENDING,
}
"""What GitHub's `StatusState` means. Every other word is pending."""

_WEIGHT: Final = {
    ChecksState.SUCCESS: 0,
    ChecksState.PENDING: 1,
    ChecksState.FAILURE: 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """
    One check run of the head commit, in GitHub's upper-case words.

    `app` is '' when unknown; `workflow` and `event` are '' for runs outside
    Actions and wherever REST was asked. A conclusion of '' or None is running.
    `url` and `is_required` are for people and decide nothing: '' and None where they
    were not read.
    """

    name: str
    app: str = ""
    suite_id: str = ""
    workflow: str = ""
    event: str = ""
    status: str = ""
    conclusion: str | None = None
    started_at: dt.datetime | None = None
    completed_at: dt.datetime | None = None
    database_id: int = 0
    url: str = ""
    is_required: bool | None = None

    @property
    def state(self) -> ChecksState:
        """Return what the conclusion means, whatever the status says beside it."""
        return CONCLUSIONS.get(self.conclusion or "", ChecksState.PENDING)

    @property
    def begun_at(self) -> dt.datetime:
        """Return when it began: in the far future while it waits for its start."""
        if self.started_at is not None:
            return self.started_at
        if self.conclusion:
            return self.completed_at or _NEVER
        return _NOT_YET

    @property
    def is_placeholder(self) -> bool:
        """Return whether it is a matrix job that was never expanded, nor run."""
        return "${{" in self.name and self.conclusion in {"SKIPPED", "CANCELLED"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusContext:
    """
    One commit status, in GitHub's upper-case words.

    `url` and `is_required` are as those of a check run.
    """

    context: str
    state: str
    created_at: dt.datetime | None = None
    url: str = ""
    is_required: bool | None = None

    @property
    def verdict(self) -> ChecksState:
        """Return what the state means."""
        return STATUS_STATES.get(self.state, ChecksState.PENDING)


def pick_newest_runs(runs: Iterable[CheckRun]) -> tuple[CheckRun, ...]:
    """Return the runs that count, in an order that does not depend on the input's."""
    counted = [run for run, newer in pair_runs(runs) if newer is None]
    return tuple(sorted(counted, key=lambda run: (run.name, _age_of_run(run))))


def pick_newest_statuses(
    statuses: Iterable[StatusContext],
) -> tuple[StatusContext, ...]:
    """Return the newest status of each context, in the order of their contexts."""
    counted = [status for status, newer in pair_statuses(statuses) if newer is None]
    return tuple(sorted(counted, key=lambda status: status.context))


def pair_runs(
    runs: Iterable[CheckRun],
) -> tuple[tuple[CheckRun, CheckRun | None], ...]:
    """
    Pair each run with the one that counts in its place, None where it counts itself.

    With a workflow the newest of each (app, workflow, event, name) counts. Without
    one the newest of each (app, check suite, name) does, and an older suite's run
    counts beside a newer one unless the newer started after it had completed: two
    workflows that run side by side look like that on REST.
    """
    pairs = _pair_with_newest(runs, _key_of_run, _age_of_run)
    rivals: dict[tuple[str, str], list[CheckRun]] = {}
    for run, newer in pairs:
        if newer is None and not run.workflow:
            rivals.setdefault((run.app, run.name), []).append(run)
    return tuple(
        (run, newer or _find_replacement(run, rivals.get((run.app, run.name), ())))
        for run, newer in pairs
    )


def pair_statuses(
    statuses: Iterable[StatusContext],
) -> tuple[tuple[StatusContext, StatusContext | None], ...]:
    """Pair each status with the newest one of its context, None where it is that."""
    return tuple(
        _pair_with_newest(
            statuses,
            lambda status: status.context,
            lambda status: (
                status.created_at or _NEVER,
                _WEIGHT[status.verdict],
                status.state,
            ),
        )
    )


def _find_replacement(run: CheckRun, rivals: Iterable[CheckRun]) -> CheckRun | None:
    if run.workflow:
        return None
    return next((rival for rival in rivals if _replaces(rival, run)), None)


def _replaces(newer: CheckRun, older: CheckRun) -> bool:
    if older.completed_at is None or _age_of_run(newer) <= _age_of_run(older):
        return False
    # Times are whole seconds: the same second proves no order.
    return newer.begun_at > older.completed_at


def _key_of_run(run: CheckRun) -> Hashable:
    if run.workflow:
        return (run.app, run.workflow, run.event, run.name)
    return (run.app, None, run.suite_id, run.name)


def _age_of_run(run: CheckRun) -> tuple[dt.datetime, int, int, str, str]:
    # Behind time and id stand tie breaks that keep the worse of two equals.
    return (
        run.begun_at,
        run.database_id,
        _WEIGHT[run.state],
        run.conclusion or "",
        run.status,
    )


def _pair_with_newest(
    items: Iterable[T],
    key: Callable[[T], Hashable],
    age: Callable[[T], tuple[object, ...]],
) -> list[tuple[T, T | None]]:
    listed = tuple(items)
    newest: dict[Hashable, int] = {}
    for at, item in enumerate(listed):
        found = newest.get(key(item))
        if found is None or age(listed[found]) < age(item):
            newest[key(item)] = at
    return [
        (item, None if newest[key(item)] == at else listed[newest[key(item)]])
        for at, item in enumerate(listed)
    ]
