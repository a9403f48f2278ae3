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
    """One commit status, in GitHub's upper-case words."""

    context: str
    state: str
    created_at: dt.datetime | None = None

    @property
    def verdict(self) -> ChecksState:
        """Return what the state means."""
        return STATUS_STATES.get(self.state, ChecksState.PENDING)


def pick_newest_runs(runs: Iterable[CheckRun]) -> tuple[CheckRun, ...]:
    """
    Return the runs that count, in an order that does not depend on the input's.

    With a workflow the newest of each (app, workflow, event, name) counts. Without
    one the newest of each (app, check suite, name) does, and an older suite's run
    counts beside a newer one unless the newer started after it had completed: two
    workflows that run side by side look like that on REST.
    """
    by_key = _newest_by_key(runs, _key_of_run, _age_of_run)
    named = [run for run in by_key if run.workflow]
    rivals: dict[tuple[str, str], list[CheckRun]] = {}
    for run in by_key:
        if not run.workflow:
            rivals.setdefault((run.app, run.name), []).append(run)
    for group in rivals.values():
        named.extend(
            run for run in group if not any(_replaces(rival, run) for rival in group)
        )
    return tuple(sorted(named, key=lambda run: (run.name, _age_of_run(run))))


def pick_newest_statuses(
    statuses: Iterable[StatusContext],
) -> tuple[StatusContext, ...]:
    """Return the newest status of each context, in the order of their contexts."""
    newest = _newest_by_key(
        statuses,
        lambda status: status.context,
        lambda status: (
            status.created_at or _NEVER,
            _WEIGHT[status.verdict],
            status.state,
        ),
    )
    return tuple(sorted(newest, key=lambda status: status.context))


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


def _newest_by_key(
    items: Iterable[T],
    key: Callable[[T], Hashable],
    age: Callable[[T], tuple[object, ...]],
) -> list[T]:
    newest: dict[Hashable, T] = {}
    for item in items:
        found = newest.get(key(item))
        if found is None or age(found) < age(item):
            newest[key(item)] = item
    return list(newest.values())
