"""
The verdicts on a pull request: what its checks and its reviews say together.

There is one rule for every way of reading; GitHub's own rollup word is not it,
because it depends on what is selected beside it.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.check_runs import (
    CONCLUSIONS,
    RUNNING_STATUSES,
    STATUS_STATES,
    CheckRun,
    StatusContext,
    pick_newest_runs,
    pick_newest_statuses,
)
from prwatch.domain.checks_summary import (
    RUN_NOTES,
    STATUS_NOTES,
    ChecksSummary,
    summarise_checks,
)
from prwatch.domain.comments import build_comment_mark
from prwatch.domain.pull_request import ChecksState, ReviewState

__all__ = [
    "RUN_NOTES",
    "STATUS_NOTES",
    "CheckRun",
    "ChecksVerdict",
    "Review",
    "ReviewVerdict",
    "StatusContext",
    "build_comment_mark",
    "combine_states",
    "decide_checks",
    "decide_review",
    "pick_last_opinions",
]

_NOTE_LIMIT: Final = 20

# A commit status or run is stamped by the program that reports it. What lies
# further ahead than this is a wrong clock, and would hold a verdict for hours.
_CLOCK_SKEW: Final = dt.timedelta(minutes=5)

_NEVER: Final = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksVerdict:
    """
    What all checks of a head commit say together.

    `settles_at` is when a pending verdict that only waits for quiet becomes a
    success, else None. `notes` are at most twenty `words: name` lines for people,
    `unknown_words` the words of GitHub that this version does not know. `summary`
    tells what the verdict rests on, and is no part of it.
    """

    state: ChecksState
    settles_at: dt.datetime | None = None
    notes: tuple[str, ...] = ()
    unknown_words: tuple[str, ...] = ()
    summary: ChecksSummary = field(default=ChecksSummary(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One submitted review. `author` is None when the account was deleted."""

    author: str | None
    state: str
    submitted_at: dt.datetime | None
    node_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewVerdict:
    """What all reviewers say together, and how many of them approve."""

    state: ReviewState
    approvals: int = 0


def decide_checks(
    runs: Iterable[CheckRun],
    statuses: Iterable[StatusContext],
    *,
    observed_at: dt.datetime,
    settle: dt.timedelta,
) -> ChecksVerdict:
    """
    Return the verdict on every check of one commit, whatever their order.

    Any failure wins, then anything pending. A success counts once its newest
    time is `settle` old at `observed_at` (GitHub's own time): until then more
    checks may be about to report, and it is pending. No check at all is `none`.
    """
    all_runs, all_statuses = tuple(runs), tuple(statuses)
    ignored = tuple(run for run in all_runs if run.is_placeholder)
    counted = pick_newest_runs(run for run in all_runs if not run.is_placeholder)
    newest = pick_newest_statuses(all_statuses)
    state = combine_states(
        {run.state for run in counted} | {status.verdict for status in newest}
    )
    settles_at = None
    if state is ChecksState.SUCCESS and settle:
        settles_at = _settles_at(all_runs, all_statuses, observed_at, settle)
        if settles_at is not None:
            state = ChecksState.PENDING
    return ChecksVerdict(
        state=state,
        settles_at=settles_at,
        notes=_build_notes(counted, newest, ignored),
        unknown_words=_find_unknown_words(counted, newest),
        summary=summarise_checks(counted, newest, ignored=len(ignored)),
    )


def combine_states(states: Collection[ChecksState]) -> ChecksState:
    """Return what several states say together: any failure wins, then any pending."""
    for state in (ChecksState.FAILURE, ChecksState.PENDING, ChecksState.SUCCESS):
        if state in states:
            return state
    return ChecksState.NONE


def decide_review(reviews: Iterable[Review], *, requested: int) -> ReviewVerdict:
    """
    Return the verdict of the last opinion of each reviewer, whatever the order.

    `requested` counts the people, teams and bots that are asked.
    """
    opinions = [review.state for review in pick_last_opinions(reviews)]
    approvals = opinions.count("APPROVED")
    if "CHANGES_REQUESTED" in opinions:
        state = ReviewState.CHANGES_REQUESTED
    elif approvals:
        state = ReviewState.APPROVED
    elif requested > 0:
        state = ReviewState.PENDING
    else:
        state = ReviewState.NONE
    return ReviewVerdict(state=state, approvals=approvals)


def pick_last_opinions(reviews: Iterable[Review]) -> tuple[Review, ...]:
    """
    Return the last opinion of each reviewer, in the order of their names.

    A dismissal takes the reviewer's opinion away and revives no older one. All
    deleted accounts are one reviewer. Comments and unsent reviews are no opinions.
    """
    latest: dict[str | None, Review] = {}
    for review in reviews:
        if review.state not in {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}:
            continue
        found = latest.get(review.author)
        if found is None or _age_of_review(found) < _age_of_review(review):
            latest[review.author] = review
    return tuple(sorted(latest.values(), key=lambda review: review.author or ""))


def _settles_at(
    runs: tuple[CheckRun, ...],
    statuses: tuple[StatusContext, ...],
    observed_at: dt.datetime,
    settle: dt.timedelta,
) -> dt.datetime | None:
    """Return when the newest time is `settle` old, or None when it is already."""
    times = [status.created_at for status in statuses]
    for run in runs:
        times += [run.started_at, run.completed_at]
    believed_until = observed_at + _CLOCK_SKEW
    newest = max(
        (time for time in times if time is not None and time <= believed_until),
        default=None,
    )
    if newest is None or observed_at - newest >= settle:
        return None
    return newest + settle


def _build_notes(
    runs: tuple[CheckRun, ...],
    statuses: tuple[StatusContext, ...],
    ignored: tuple[CheckRun, ...],
) -> tuple[str, ...]:
    notes = {
        f"{RUN_NOTES[run.conclusion]}: {run.name}"
        for run in runs
        if run.conclusion in RUN_NOTES
    }
    notes |= {
        f"{STATUS_NOTES[status.state]}: {status.context}"
        for status in statuses
        if status.state in STATUS_NOTES
    }
    notes |= {f"ignored, never expanded: {run.name}" for run in ignored}
    notes |= {f"unknown word {word}: {name}" for word, name in _unknown(runs, statuses)}
    return tuple(sorted(notes)[:_NOTE_LIMIT])


def _find_unknown_words(
    runs: tuple[CheckRun, ...], statuses: tuple[StatusContext, ...]
) -> tuple[str, ...]:
    return tuple(sorted({word for word, _ in _unknown(runs, statuses)}))


def _unknown(
    runs: tuple[CheckRun, ...], statuses: tuple[StatusContext, ...]
) -> Iterable[tuple[str, str]]:
    for run in runs:
        if run.conclusion:
            if run.conclusion not in CONCLUSIONS:
                yield run.conclusion, run.name
        elif run.status and run.status not in RUNNING_STATUSES:
            yield run.status, run.name
    for status in statuses:
        if status.state not in STATUS_STATES:
            yield status.state, status.context


def _age_of_review(review: Review) -> tuple[dt.datetime, str, str]:
    # GitHub's ids grow, so they order what was submitted in one second.
    return (review.submitted_at or _NEVER, review.node_id, review.state)
