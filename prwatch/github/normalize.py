"""
Turns what GraphQL said about a pull request into our one form.

`rest_normalize` does it for REST; both give equal values in every field that both
read. What was refused, or never sent by an old server, is UNOBSERVED.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.comments import build_comment_mark
from prwatch.domain.outcome import Forbidden, Missing, Retry, Unreadable
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    CommentItem,
    CommentMark,
    Mergeable,
    Observation,
    Observed,
    PullRequestState,
    RepositoryName,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.reference import Reading
from prwatch.domain.verdict import Review, decide_review
from prwatch.github.checks import build_notes, decide_rollup
from prwatch.github.fingerprint import build_fingerprint
from prwatch.github.text import clean_text
from prwatch.github.wire import (
    Actor,
    ContextNode,
    DetailNode,
    RepositoryNode,
    ReviewNode,
    Rollup,
    ThreadNode,
)

BOT_SUFFIX: Final = "[bot]"
_DECISIONS: Final = {str(each): each for each in ReviewDecision}
_MERGEABLE: Final = {str(each): each for each in Mergeable}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """
    A pull request's answer with its further pages.

    A list is None when it could not be read to its end. `lost` names the fields
    that the answer's errors took, with what each error means.
    `is_probed_with_checks` says that probes of it ask for its checks.
    """

    node: DetailNode
    contexts: tuple[ContextNode, ...] | None = ()
    reviews: tuple[ReviewNode, ...] | None = ()
    threads: tuple[ThreadNode, ...] | None = ()
    lost: Mapping[str, Missing] = field(default_factory=dict)
    is_probed_with_checks: bool = True


def parse_name(node: RepositoryNode) -> RepositoryName:
    """Return the repository as GitHub spells it now."""
    owner, _, name = clean_text(node.name_with_owner).partition("/")
    return RepositoryName(owner, name, node.id)


def parse_login(actor: Actor | None) -> str | None:
    """Return the login as GraphQL spells it, without `[bot]`; None for nobody."""
    if actor is None:
        return None
    return clean_text(actor.login).removesuffix(BOT_SUFFIX)


def build_reading(
    detail: Detail, *, observed_at: dt.datetime, settle: dt.timedelta
) -> Reading:
    """
    Return the full reading.

    The fingerprint is the probe's own, and '' while the reading is not the last
    word: the verdict settles, the checks are another commit's, or a part could
    only not be read this time.

    Raises:
        ValueError: the state is a word that we do not know.
    """
    node = detail.node
    checks = _read_checks(detail, observed_at, settle)
    review = _read_review(detail)
    repository = parse_name(node.repository)
    observation = Observation(
        repository=repository,
        number=node.number,
        node_id=node.id,
        observed_at=observed_at,
        settles_at=checks.settles_at,
        checks_notes=checks.notes,
        checks_summary=checks.summary,
        state=PullRequestState(node.state),
        updated_at=node.updated_at,
        created_at=node.created_at,
        closed_at=node.closed_at,
        merged_at=node.merged_at,
        title=clean_text(node.title),
        url=clean_text(node.url),
        head_ref_oid=node.head_ref_oid,
        head_ref_name=clean_text(node.head_ref_name),
        base_ref_name=clean_text(node.base_ref_name),
        head_repository_id=node.head_repository.id if node.head_repository else None,
        author=parse_login(node.author),
        is_draft=node.is_draft,
        merged_by=_read_merged_by(detail),
        is_archived=_read_archived(node),
        is_base_deleted=_read_base_deleted(detail),
        checks=checks.state,
        review=review.state,
        review_decision=_read_decision(detail),
        mergeable=_read_mergeable(node),
        merge_queue=_read_merge_queue(detail),
        auto_merge=_read_auto_merge(detail),
        unresolved_threads=_count_unresolved(detail),
        requested_reviewers=review.requested,
        approvals=review.approvals,
        comment_mark=_read_comment_mark(detail),
    )
    is_last_word = checks.is_last_word and not _is_unfinished(detail)
    return Reading(
        observation=observation,
        fingerprint=_build_fingerprint(detail) if is_last_word else "",
    )


def _build_fingerprint(detail: Detail) -> str:
    """Return the digest of the next probe, which leaves out what was refused here."""
    has_checks = detail.is_probed_with_checks and (
        "statusCheckRollup" not in detail.lost
    )
    return build_fingerprint(detail.node, has_checks=has_checks)


@dataclass(frozen=True, slots=True)
class _Checks:
    state: Observed[ChecksState] = UNOBSERVED
    settles_at: dt.datetime | None = None
    notes: tuple[str, ...] = ()
    is_last_word: bool = True
    summary: ChecksSummary | None = None


def _read_checks(
    detail: Detail, observed_at: dt.datetime, settle: dt.timedelta
) -> _Checks:
    rollup = detail.node.status_check_rollup
    refusal = detail.lost.get("statusCheckRollup")
    if refusal is not None:
        return _unread_checks(
            _say_lost("checks", refusal),
            refusal=refusal.reason if isinstance(refusal, Forbidden) else "",
            is_last_word=True,
        )
    if rollup is UNSET:
        return _Checks()
    if is_of_other_commit(rollup, detail.node.head_ref_oid):
        return _unread_checks("the checks that GitHub shows are another commit's")
    if detail.contexts is None:
        return _unread_checks("the checks could not be read to their end")
    verdict = decide_rollup(
        rollup, detail.contexts, observed_at=observed_at, settle=settle
    )
    return _Checks(
        verdict.state,
        verdict.settles_at,
        build_notes(verdict),
        is_last_word=verdict.settles_at is None,
        summary=verdict.summary,
    )


def _unread_checks(
    note: str, *, refusal: str = "", is_last_word: bool = False
) -> _Checks:
    summary = ChecksSummary(unread=refusal or note, is_refused=bool(refusal))
    return _Checks(notes=(note,), is_last_word=is_last_word, summary=summary)


def is_of_other_commit(rollup: Rollup | None, head_ref_oid: str) -> bool:
    """Tell whether the rollup says that it belongs to another commit than the head."""
    if rollup is None or rollup.commit is None:
        return False
    return rollup.commit.oid != head_ref_oid


@dataclass(frozen=True, slots=True)
class _Reviewed:
    state: Observed[ReviewState] = UNOBSERVED
    approvals: Observed[int] = UNOBSERVED
    requested: Observed[int] = UNOBSERVED


def _read_review(detail: Detail) -> _Reviewed:
    node = detail.node
    requests = node.review_requests
    if "reviewRequests" in detail.lost or requests is UNSET or requests is None:
        return _Reviewed()
    if "reviews" in detail.lost or node.reviews is UNSET or detail.reviews is None:
        return _Reviewed(requested=requests.total_count)
    verdict = decide_review(
        [build_review(each) for each in detail.reviews],
        requested=requests.total_count,
    )
    return _Reviewed(verdict.state, verdict.approvals, requests.total_count)


def build_review(node: ReviewNode) -> Review:
    """Return the review in the domain's words."""
    return Review(
        author=parse_login(node.author),
        state=node.state.upper(),
        submitted_at=node.submitted_at,
        node_id=node.id,
    )


def build_mark(
    comments: Iterable[CommentItem], reviews: Iterable[Review]
) -> CommentMark:
    """Return the mark over comments and the reviews that only comment."""
    commenting = [
        CommentItem(each.submitted_at, each.node_id)
        for each in reviews
        if each.state == "COMMENTED" and each.submitted_at is not None
    ]
    return build_comment_mark([*comments, *commenting])


def _read_comment_mark(detail: Detail) -> Observed[CommentMark]:
    node = detail.node
    comments = node.comments
    if comments is UNSET or comments is None or comments.nodes is None:
        return UNOBSERVED
    if node.reviews is UNSET or detail.reviews is None:
        return UNOBSERVED
    if not detail.lost.keys().isdisjoint({"comments", "reviews"}):
        return UNOBSERVED
    items = [CommentItem(each.created_at, each.id) for each in comments.nodes if each]
    return build_mark(items, [build_review(each) for each in detail.reviews])


def _count_unresolved(detail: Detail) -> Observed[int]:
    is_read = detail.node.review_threads is not UNSET and detail.threads is not None
    if not is_read or "reviewThreads" in detail.lost or detail.threads is None:
        return UNOBSERVED
    return sum(not each.is_resolved for each in detail.threads)


def _read_merged_by(detail: Detail) -> Observed[str | None]:
    merged_by = detail.node.merged_by
    if merged_by is UNSET or "mergedBy" in detail.lost:
        return UNOBSERVED
    return parse_login(merged_by)


def _read_base_deleted(detail: Detail) -> Observed[bool]:
    base_ref = detail.node.base_ref
    if base_ref is UNSET or "baseRef" in detail.lost:
        return UNOBSERVED
    return base_ref is None


def _read_decision(detail: Detail) -> Observed[ReviewDecision | None]:
    word = detail.node.review_decision
    if word is UNSET or "reviewDecision" in detail.lost:
        return UNOBSERVED
    return None if word is None else _DECISIONS.get(word, UNOBSERVED)


def _read_mergeable(node: DetailNode) -> Observed[Mergeable]:
    word = node.mergeable
    return UNOBSERVED if word is UNSET else _MERGEABLE.get(word, UNOBSERVED)


def _read_archived(node: DetailNode) -> Observed[bool]:
    is_archived = node.repository.is_archived
    return UNOBSERVED if is_archived is UNSET else is_archived


def _read_merge_queue(detail: Detail) -> Observed[bool]:
    is_queued = detail.node.is_in_merge_queue
    if is_queued is UNSET or "isInMergeQueue" in detail.lost:
        return UNOBSERVED
    return is_queued


def _read_auto_merge(detail: Detail) -> Observed[bool]:
    request = detail.node.auto_merge_request
    if request is UNSET or "autoMergeRequest" in detail.lost:
        return UNOBSERVED
    return request is not None


def _is_unfinished(detail: Detail) -> bool:
    has_cut_list = None in (detail.contexts, detail.reviews, detail.threads)
    return has_cut_list or any(
        isinstance(each, Retry | Unreadable) for each in detail.lost.values()
    )


def _say_lost(what: str, meaning: Missing) -> str:
    if isinstance(meaning, Forbidden) and meaning.code == "unknown_field":
        return f"{what} are not told: {meaning.reason}"
    if isinstance(meaning, Forbidden):
        return f"{what} are refused to this token: {meaning.reason}"
    return f"{what} could not be read: {meaning.reason}"
