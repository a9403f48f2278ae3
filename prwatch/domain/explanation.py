"""
Why a pull request is judged as it is: what counts, what does not, and why not.

The verdict is made by the same sorting of runs, statuses and reviews; nothing here
decides anew.
"""

import datetime as dt
import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prwatch.domain.check_runs import (
    CheckRun,
    StatusContext,
    pair_runs,
    pair_statuses,
)
from prwatch.domain.checks_summary import say_run, say_status, since_run
from prwatch.domain.pull_request import ChecksState, Observation
from prwatch.domain.verdict import Review

_ORDER: Final = (ChecksState.FAILURE, ChecksState.PENDING, ChecksState.SUCCESS)


class CheckKind(enum.StrEnum):
    """GitHub's two kinds of checks."""

    CHECK_RUN = "check_run"
    STATUS = "status"


class Standing(enum.StrEnum):
    """Whether a check counts in the verdict."""

    COUNTS = "counts"
    SUPERSEDED = "superseded"
    """A newer one counts in its place."""
    IGNORED = "ignored"
    """It is a matrix job that was never expanded, nor run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCheck:
    """
    One check run or commit status of the head, and what it does to the verdict.

    `word` is GitHub's conclusion, status or state; `said` tells it to people. `since`
    is when it came to that word. `reason` is why it does not count, '' where it does.
    `app`, `workflow` and `event` are '' and `is_required` is None when unknown.
    """

    kind: CheckKind
    name: str
    word: str
    said: str
    state: ChecksState
    standing: Standing
    reason: str = ""
    app: str = ""
    workflow: str = ""
    event: str = ""
    since: dt.datetime | None = None
    url: str = ""
    is_required: bool | None = None

    @property
    def counts(self) -> bool:
        """Return whether the verdict rests on it."""
        return self.standing is Standing.COUNTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """
    One full reading, with everything that its verdicts were made of.

    `checks` is None when they were not read: the notes of the observation say why.
    `opinions` are the last one of each reviewer, and `asked` the logins and teams
    whose review is asked for; None stands for what could not be read.
    """

    observation: Observation
    checks: tuple[ExplainedCheck, ...] | None
    opinions: tuple[Review, ...] | None
    asked: tuple[str, ...] | None


def explain_checks(
    runs: Iterable[CheckRun], statuses: Iterable[StatusContext]
) -> tuple[ExplainedCheck, ...]:
    """
    Return every check of one commit with its standing.

    What counts comes first, the worst before the rest; then by name and time.
    """
    all_runs = tuple(runs)
    explained = [
        _explain_run(run, Standing.IGNORED, "a job that was never expanded, nor run")
        for run in all_runs
        if run.is_placeholder
    ]
    for run, newer_run in pair_runs(run for run in all_runs if not run.is_placeholder):
        standing = Standing.SUPERSEDED if newer_run else Standing.COUNTS
        explained.append(_explain_run(run, standing, _tell_newer_run(run, newer_run)))
    for status, newer in pair_statuses(statuses):
        explained.append(_explain_status(status, newer))
    return tuple(sorted(explained, key=_order))


def _explain_run(run: CheckRun, standing: Standing, reason: str) -> ExplainedCheck:
    return ExplainedCheck(
        kind=CheckKind.CHECK_RUN,
        name=run.name,
        word=run.conclusion or run.status,
        said=say_run(run),
        state=run.state,
        standing=standing,
        reason=reason,
        app=run.app,
        workflow=run.workflow,
        event=run.event,
        since=since_run(run),
        url=run.url,
        is_required=run.is_required,
    )


def _explain_status(
    status: StatusContext, newer: StatusContext | None
) -> ExplainedCheck:
    return ExplainedCheck(
        kind=CheckKind.STATUS,
        name=status.context,
        word=status.state,
        said=say_status(status),
        state=status.verdict,
        standing=Standing.SUPERSEDED if newer else Standing.COUNTS,
        reason="a newer status of the context counts" if newer else "",
        since=status.created_at,
        url=status.url,
        is_required=status.is_required,
    )


def _tell_newer_run(run: CheckRun, newer: CheckRun | None) -> str:
    if newer is None:
        return ""
    if newer.begun_at == run.begun_at:
        return "another that began at the same time counts"
    if newer.started_at is None:
        return "a newer run waits for its start"
    return "a newer run counts"


def _order(check: ExplainedCheck) -> tuple[bool, int, str, dt.datetime, str]:
    since = check.since or dt.datetime.max.replace(tzinfo=dt.UTC)
    worst_first = _ORDER.index(check.state)
    return (not check.counts, worst_first, check.name, since, check.word)
