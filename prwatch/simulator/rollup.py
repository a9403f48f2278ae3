"""
The roll-up of everything that was reported for one commit.

The worst of the listed contexts is the state: ERROR, then FAILURE, PENDING,
EXPECTED, SUCCESS. An old failure that a second run of the workflow left behind is
listed, and so counts.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prwatch.simulator.check_verbs import list_latest_runs
from prwatch.simulator.entities import (
    App,
    CheckRun,
    CheckSuite,
    Commit,
    Repository,
    StatusContext,
    build_node_id,
)

_FAILING: Final = frozenset(
    {"FAILURE", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE"}
)
_PASSING: Final = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
_MATRIX_ID: Final = 5_000_000
_WORST_FIRST: Final = ("ERROR", "FAILURE", "PENDING", "EXPECTED")


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many contexts have that state."""

    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Rollup:
    """What GitHub calls `StatusCheckRollup`."""

    commit: Commit
    check_runs: tuple[CheckRun, ...]
    statuses: tuple[StatusContext, ...]
    repository: Repository | None = None

    @property
    def id(self) -> str:
        """Return the node id."""
        return build_node_id("SCR", self.commit.database_id)

    @property
    def state(self) -> str:
        """Return the worst state of all contexts."""
        runs = {_judge_run(run) for run in self.check_runs}
        states = runs | {status.state for status in self.statuses}
        for state in _WORST_FIRST:
            if state in states:
                return state
        return "SUCCESS"

    @property
    def contexts(self) -> tuple[CheckRun | StatusContext, ...]:
        """Return the newest run of each name in each suite, then the statuses."""
        return (*self.check_runs, *self.statuses)

    def count_runs(self) -> list[StateCount]:
        """Return the runs by conclusion, or by status while they run."""
        return _count(run.conclusion or run.status for run in self.check_runs)

    def count_statuses(self) -> list[StateCount]:
        """Return the statuses by state."""
        return _count(status.state for status in self.statuses)


def find_rollup(commit: Commit) -> Rollup | None:
    """Return the roll-up, or None while nothing was reported."""
    if not commit.check_runs and not commit.statuses:
        return None
    return Rollup(commit, list_latest_runs(commit), commit.statuses)


def build_matrix(commit: Commit, count: int) -> tuple[CheckRun, ...]:
    """Return that many runs of one workflow, all green but the last."""
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    app = App(_MATRIX_ID, "github-actions", "GitHub Actions")
    suite = CheckSuite(_MATRIX_ID + commit.database_id, app, "Matrix", "push", at)
    return tuple(
        CheckRun(
            _MATRIX_ID + index,
            suite,
            f"matrix-{index}",
            "COMPLETED",
            "FAILURE" if index == count else "SUCCESS",
            at,
            at,
        )
        for index in range(1, count + 1)
    )


def _judge_run(run: CheckRun) -> str:
    if run.conclusion in _FAILING:
        return "FAILURE"
    return "SUCCESS" if run.conclusion in _PASSING else "PENDING"


def _count(states: Iterable[str]) -> list[StateCount]:
    return [StateCount(state, count) for state, count in Counter(states).items()]
