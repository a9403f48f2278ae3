"""
Brings the checks of both read paths into one form and decides them by one rule.

The GraphQL rollup's own state changes with what is selected beside it, so the
contexts decide; the state only speaks where they are silent.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from prwatch.domain.check_runs import STATUS_STATES
from prwatch.domain.pull_request import ChecksState
from prwatch.domain.verdict import (
    CheckRun,
    ChecksVerdict,
    StatusContext,
    decide_checks,
)
from prwatch.github.text import clean_text
from prwatch.github.wire import ContextNode, Rollup

NOT_REPORTED: Final = "expected: required checks have not reported"


def decide_rollup(
    rollup: Rollup | None,
    contexts: Sequence[ContextNode],
    *,
    observed_at: dt.datetime,
    settle: dt.timedelta,
) -> ChecksVerdict:
    """
    Return the verdict of a rollup whose contexts were read to the end.

    A null rollup is `none`: nothing has reported yet.
    """
    if rollup is None:
        return ChecksVerdict(state=ChecksState.NONE)
    runs, statuses = split_contexts(contexts)
    verdict = decide_checks(runs, statuses, observed_at=observed_at, settle=settle)
    word = rollup.state.upper()
    expecting = replace(verdict.summary, is_expecting=True)
    if word and not runs and not statuses:
        state = STATUS_STATES.get(word, ChecksState.PENDING)
        summary = expecting if word == "EXPECTED" else verdict.summary
        return replace(verdict, state=state, summary=summary)
    is_green = verdict.state is ChecksState.SUCCESS or verdict.settles_at is not None
    is_idle = is_green or verdict.state is ChecksState.NONE
    if is_idle and word == "EXPECTED":
        # Nothing red nor running, and EXPECTED: a required check has not reported.
        return replace(
            verdict,
            state=ChecksState.PENDING,
            settles_at=None,
            notes=(*verdict.notes, NOT_REPORTED),
            summary=expecting,
        )
    return verdict


def split_contexts(
    contexts: Iterable[ContextNode],
) -> tuple[list[CheckRun], list[StatusContext]]:
    """Return the check runs and the commit statuses in the domain's words."""
    runs: list[CheckRun] = []
    statuses: list[StatusContext] = []
    for each in contexts:
        if each.typename == "CheckRun":
            runs.append(build_run(each))
        elif each.typename == "StatusContext":
            statuses.append(build_status(each))
    return runs, statuses


def build_run(node: ContextNode) -> CheckRun:
    """Return the GraphQL `CheckRun` in the domain's words."""
    suite = node.check_suite
    workflow_run = suite.workflow_run if suite else None
    workflow = workflow_run.workflow if workflow_run else None
    return CheckRun(
        name=clean_text(node.name),
        app=suite.app.slug if suite and suite.app else "",
        suite_id=suite.id if suite else "",
        workflow=clean_text(workflow.name) if workflow else "",
        event=workflow_run.event if workflow_run else "",
        status=(node.status or "").upper(),
        conclusion=(node.conclusion or "").upper(),
        started_at=node.started_at,
        completed_at=node.completed_at,
        url=clean_text(node.details_url or ""),
        is_required=node.is_required,
    )


def build_status(node: ContextNode) -> StatusContext:
    """Return the GraphQL `StatusContext` in the domain's words."""
    return StatusContext(
        context=clean_text(node.context),
        state=node.state.upper(),
        created_at=node.created_at,
        url=clean_text(node.target_url or ""),
        is_required=node.is_required,
    )


def build_notes(verdict: ChecksVerdict, lost: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words behind a verdict, with what is unknown and what was lost."""
    unknown = [f"unknown word: {word}" for word in verdict.unknown_words]
    return (*verdict.notes, *unknown, *lost)
