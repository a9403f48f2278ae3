"""
Turns what REST said about a pull request into our one form.

Its values equal those of `normalize` in every field that both read. Review decision,
merge queue, threads and a deleted base are not told here: they stay UNOBSERVED.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.explanation import Explanation, explain_checks
from prwatch.domain.pull_request import (
    UNOBSERVED,
    CommentItem,
    CommentMark,
    Mergeable,
    Observation,
    Observed,
    PullRequestState,
    RepositoryName,
)
from prwatch.domain.verdict import (
    CheckRun,
    ChecksVerdict,
    Review,
    ReviewVerdict,
    StatusContext,
    decide_checks,
    decide_review,
    pick_last_opinions,
)
from prwatch.github import rest_wire as wire
from prwatch.github.checks import build_notes
from prwatch.github.normalize import BOT_SUFFIX, build_mark
from prwatch.github.text import clean_text
from prwatch.github.wire import decode

GHOST: Final = "ghost"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestParts:
    """
    The answers that one reading is made of, all pages of each.

    A list is None when this token may not read it, or when it could not be read to
    its end; `notes` says why, and `refusal` why this token may not read the checks.
    """

    pull_request: wire.PullRequest
    reviews: Sequence[wire.Review] | None
    check_runs: Sequence[wire.CheckRun] | None
    statuses: Sequence[wire.Status] | None
    comments: Sequence[wire.Comment] | None
    notes: tuple[str, ...] = ()
    refusal: str = ""


def build_observation(
    parts: RestParts,
    *,
    observed_at: dt.datetime,
    settle: dt.timedelta,
) -> Observation:
    """
    Return the observation.

    `auto_merge: null` is unobserved: GitHub sends it also where auto-merge is armed
    and this path does not show it.

    Raises:
        ValueError: the state is a word that we do not know.
    """
    pull_request = parts.pull_request
    head, base = pull_request.head, pull_request.base
    verdict = _decide_checks(parts, observed_at, settle)
    requested = _count_requested(pull_request)
    review = _decide_review(parts, requested)
    auto_merge = pull_request.auto_merge
    return Observation(
        repository=parse_full_name(base.repo),
        number=pull_request.number,
        node_id=pull_request.node_id,
        observed_at=observed_at,
        settles_at=verdict.settles_at if verdict else None,
        checks_notes=build_notes(verdict, parts.notes) if verdict else parts.notes,
        checks_summary=verdict.summary if verdict else _tell_unread(parts),
        state=_parse_state(pull_request),
        updated_at=pull_request.updated_at,
        created_at=pull_request.created_at,
        closed_at=pull_request.closed_at,
        merged_at=pull_request.merged_at,
        title=clean_text(pull_request.title),
        url=clean_text(pull_request.html_url),
        head_ref_oid=head.sha,
        head_ref_name=clean_text(head.ref),
        base_ref_name=clean_text(base.ref),
        head_repository_id=head.repo.node_id if head.repo else None,
        author=parse_login(pull_request.user),
        is_draft=pull_request.draft,
        merged_by=UNOBSERVED
        if pull_request.merged_by is UNSET
        else parse_login(pull_request.merged_by),
        is_archived=UNOBSERVED if base.repo.archived is UNSET else base.repo.archived,
        checks=verdict.state if verdict else UNOBSERVED,
        review=review.state if review else UNOBSERVED,
        mergeable=_parse_mergeable(pull_request.mergeable),
        auto_merge=True if auto_merge else UNOBSERVED,
        requested_reviewers=requested,
        approvals=review.approvals if review else UNOBSERVED,
        comment_mark=_build_comment_mark(parts),
    )


def build_explanation(
    parts: RestParts, *, observed_at: dt.datetime, settle: dt.timedelta
) -> Explanation:
    """
    Return the observation with all that its verdicts are made of.

    Raises:
        ValueError: the state is a word that we do not know.
    """
    observation = build_observation(parts, observed_at=observed_at, settle=settle)
    checks = opinions = None
    if parts.check_runs is not None and parts.statuses is not None:
        checks = explain_checks(
            [build_run(each) for each in parts.check_runs],
            [build_status(each) for each in parts.statuses],
        )
    if parts.reviews is not None:
        opinions = pick_last_opinions(build_review(each) for each in parts.reviews)
    return Explanation(
        observation=observation,
        checks=checks,
        opinions=opinions,
        asked=list_asked(parts.pull_request),
    )


def list_asked(pull_request: wire.PullRequest) -> tuple[str, ...] | None:
    """Return whose review is asked for, teams as `owner/slug`; None if not told."""
    people, teams = pull_request.requested_reviewers, pull_request.requested_teams
    if people is UNSET or teams is UNSET:
        return None
    owner = parse_full_name(pull_request.base.repo).owner
    logins = [parse_login(decode(wire.USER, raw)) or "somebody" for raw in people]
    slugs = [decode(wire.TEAM, raw) for raw in teams]
    names = [f"{owner}/{clean_text(team.slug)}" if team else "a team" for team in slugs]
    return tuple(sorted([*logins, *names]))


def _decide_checks(
    parts: RestParts, observed_at: dt.datetime, settle: dt.timedelta
) -> ChecksVerdict | None:
    if parts.check_runs is None or parts.statuses is None:
        return None
    return decide_checks(
        [build_run(each) for each in parts.check_runs],
        [build_status(each) for each in parts.statuses],
        observed_at=observed_at,
        settle=settle,
    )


def _tell_unread(parts: RestParts) -> ChecksSummary:
    return ChecksSummary(
        unread=parts.refusal or "; ".join(parts.notes),
        is_refused=bool(parts.refusal),
    )


def _decide_review(parts: RestParts, requested: Observed[int]) -> ReviewVerdict | None:
    if parts.reviews is None or requested is UNOBSERVED:
        return None
    reviews = [build_review(each) for each in parts.reviews]
    return decide_review(reviews, requested=requested)


def parse_full_name(repository: wire.BaseRepository) -> RepositoryName:
    """Return the repository as GitHub spells it now."""
    owner, _, name = clean_text(repository.full_name).partition("/")
    return RepositoryName(owner, name, repository.node_id)


def parse_login(user: wire.User | None) -> str | None:
    """Return the login as GraphQL spells it; None for nobody and for the ghost."""
    if user is None or user.login.lower() == GHOST:
        return None
    return clean_text(user.login).removesuffix(BOT_SUFFIX)


def build_run(run: wire.CheckRun) -> CheckRun:
    """
    Return the check run in the domain's words.

    REST tells no workflow, and its id is left out, as GraphQL cannot tell it: two
    runs that began in one second must be judged alike on both paths.
    """
    suite_id = run.check_suite.id if run.check_suite else None
    return CheckRun(
        name=clean_text(run.name),
        app=run.app.slug if run.app else "",
        suite_id="" if suite_id is None else str(suite_id),
        status=run.status.upper(),
        conclusion=(run.conclusion or "").upper(),
        started_at=run.started_at,
        completed_at=run.completed_at,
        url=clean_text(run.details_url or ""),
    )


def build_status(status: wire.Status) -> StatusContext:
    """Return the commit status in the domain's words."""
    return StatusContext(
        context=clean_text(status.context),
        state=status.state.upper(),
        created_at=status.created_at,
        url=clean_text(status.target_url or ""),
    )


def build_review(review: wire.Review) -> Review:
    """Return the review in the domain's words."""
    return Review(
        author=parse_login(review.user),
        state=review.state.upper(),
        submitted_at=review.submitted_at,
        node_id=review.node_id,
    )


def _parse_state(pull_request: wire.PullRequest) -> PullRequestState:
    if pull_request.merged_at is not None:
        return PullRequestState.MERGED
    return PullRequestState(pull_request.state.upper())


def _parse_mergeable(value: object) -> Observed[Mergeable]:
    if value is True:
        return Mergeable.MERGEABLE
    return Mergeable.CONFLICTING if value is False else UNOBSERVED


def _count_requested(pull_request: wire.PullRequest) -> Observed[int]:
    people, teams = pull_request.requested_reviewers, pull_request.requested_teams
    if people is UNSET:
        return UNOBSERVED
    return len(people) + (0 if teams is UNSET else len(teams))


def _build_comment_mark(parts: RestParts) -> Observed[CommentMark]:
    if parts.comments is None or parts.reviews is None:
        return UNOBSERVED
    items = [CommentItem(each.created_at, each.node_id) for each in parts.comments]
    return build_mark(items, [build_review(each) for each in parts.reviews])
