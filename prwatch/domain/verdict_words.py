"""
The words for a whole pull request, and what it needs from a person.

Every command that shows a pull request tells it through `tell`, so that no two of them
can disagree. The verdicts are those of the observation; nothing is decided anew.
"""

import datetime as dt
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.checks_words import ChecksWord, tell_checks
from prwatch.domain.merge_progress import STUCK_AFTER, is_ready
from prwatch.domain.phrase import Known, Phrase
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    Observation,
    Observed,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)

UNKNOWN_AFTER: Final = dt.timedelta(hours=1)
"""How long GitHub may work out mergeability before it counts as unknown."""


class ReviewWord(enum.StrEnum):
    """What the reviews come to."""

    NOT_READ = "not_read"
    NONE = "none"
    REQUIRED = "required"
    """GitHub wants a review, and nobody is asked for one."""
    WAITING = "waiting"
    """Somebody is asked."""
    APPROVED = "approved"
    MORE_REQUIRED = "more_required"
    """Somebody approved, and GitHub wants more."""
    CHANGES_REQUESTED = "changes_requested"


class MergeWord(enum.StrEnum):
    """How far it is from being merged."""

    MERGED = "merged"
    CLOSED = "closed"
    QUEUED = "queued"
    QUEUE_REMOVED = "queue_removed"
    """It left the merge queue without a merge, with the head that it has now."""
    CONFLICTING = "conflicting"
    STUCK = "stuck"
    """Auto-merge is armed, nothing is in its way, and nothing happens."""
    WORKED_OUT = "worked_out"
    """GitHub has not told yet whether it can be merged."""
    UNKNOWN = "unknown"
    """GitHub has not told for an hour."""
    ARMED = "armed"
    MERGEABLE = "mergeable"
    """It has no conflicts; what else it takes GitHub does not say with it."""


class Need(enum.StrEnum):
    """What a pull request needs, what needs a person first in front."""

    FAILING = "failing"
    APPROVAL = "needs_approval"
    CHANGES_REQUESTED = "changes_requested"
    QUEUE_REMOVED = "queue_removed"
    STUCK = "stuck"
    CONFLICTING = "conflicting"
    NOT_REPORTED = "not_reported"
    """A required check does not report, or a run is stale."""
    REVIEW = "waiting_for_review"
    UNREADABLE = "unreadable"
    RUNNING = "running"
    QUEUED = "queued"
    NO_CHECKS = "no_checks"
    GREEN = "green"
    FINISHED = "finished"


_NEED_OF_CHECKS: Final[Mapping[ChecksWord, Need]] = {
    ChecksWord.UNREADABLE: Need.UNREADABLE,
    ChecksWord.NOT_READ: Need.UNREADABLE,
    ChecksWord.NOT_REGISTERED: Need.NO_CHECKS,
    ChecksWord.NONE_REPORTED: Need.NO_CHECKS,
    ChecksWord.NEVER_REPORTED: Need.NO_CHECKS,
    ChecksWord.FAILED: Need.FAILING,
    ChecksWord.NEEDS_APPROVAL: Need.APPROVAL,
    ChecksWord.RUNNING: Need.RUNNING,
    ChecksWord.OPTIONAL_RUNNING: Need.RUNNING,
    ChecksWord.NOT_REPORTED: Need.NOT_REPORTED,
    ChecksWord.STALE: Need.NOT_REPORTED,
    ChecksWord.SETTLING: Need.RUNNING,
    ChecksWord.PASSED: Need.GREEN,
}
_NEED_OF_REVIEW: Final[Mapping[ReviewWord, Need]] = {
    ReviewWord.CHANGES_REQUESTED: Need.CHANGES_REQUESTED,
    ReviewWord.WAITING: Need.REVIEW,
    ReviewWord.REQUIRED: Need.REVIEW,
    ReviewWord.MORE_REQUIRED: Need.REVIEW,
}
_NEED_OF_MERGE: Final[Mapping[MergeWord, Need]] = {
    MergeWord.QUEUE_REMOVED: Need.QUEUE_REMOVED,
    MergeWord.STUCK: Need.STUCK,
    MergeWord.CONFLICTING: Need.CONFLICTING,
    MergeWord.QUEUED: Need.QUEUED,
}
_REVIEWS: Final[Mapping[ReviewState, tuple[ReviewWord, str]]] = {
    ReviewState.CHANGES_REQUESTED: (ReviewWord.CHANGES_REQUESTED, "changes requested"),
    ReviewState.APPROVED: (ReviewWord.APPROVED, "approved"),
    ReviewState.PENDING: (ReviewWord.WAITING, "waiting for a review"),
    ReviewState.NONE: (ReviewWord.NONE, "none"),
}
_REQUIRED_REVIEWS: Final[Mapping[ReviewState, tuple[ReviewWord, str]]] = {
    ReviewState.APPROVED: (ReviewWord.MORE_REQUIRED, "approved, and more is required"),
    ReviewState.NONE: (ReviewWord.REQUIRED, "required, and nobody is asked"),
}
"""What is said instead where GitHub requires a review that is not there."""
_OF_REVIEW: Final = frozenset(_NEED_OF_REVIEW.values())
_OF_MERGE: Final = frozenset({*_NEED_OF_MERGE.values(), Need.FINISHED})
_URGENCY: Final = {need: position for position, need in enumerate(Need)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What people are told of one pull request."""

    checks: Phrase
    review: Phrase
    merge: Phrase
    need: Need

    @property
    def reason(self) -> str:
        """Return the text that tells why this is needed, without what would help."""
        if self.need in _OF_REVIEW:
            return self.review.text
        if self.need is Need.UNREADABLE:
            return self.checks.text.partition(": ")[0]
        return self.merge.text if self.need in _OF_MERGE else self.checks.text

    def as_json(self) -> dict[str, object]:
        """Return the words and texts as plain values."""
        return {
            "needs": self.need.value,
            "checks": self.checks.as_json(),
            "review": self.review.as_json(),
            "merge": self.merge.as_json(),
        }


def tell(known: Known) -> Words:
    """Return the words for what is known of a pull request."""
    checks, review = tell_checks(known), _tell_review(known)
    merge = _tell_merge(known)
    return Words(
        checks=checks,
        review=review,
        merge=merge,
        need=_decide_need(known, checks, review, merge),
    )


def _decide_need(known: Known, checks: Phrase, review: Phrase, merge: Phrase) -> Need:
    """Return the most urgent need. A draft waits for nobody's review."""
    if known.observation.is_final:
        return Need.FINISHED
    needs = [_NEED_OF_CHECKS[ChecksWord(checks.word)]]
    need = _NEED_OF_REVIEW.get(ReviewWord(review.word))
    if need and not (need is Need.REVIEW and known.observation.is_draft):
        needs.append(need)
    if need := _NEED_OF_MERGE.get(MergeWord(merge.word)):
        needs.append(need)
    return min(needs, key=lambda need: _URGENCY[need])


def _tell_review(known: Known) -> Phrase:
    seen = known.observation
    if seen.review is UNOBSERVED:
        return Phrase(word=ReviewWord.NOT_READ, text="not read")
    word, words = _REVIEWS[seen.review]
    if seen.review_decision is ReviewDecision.REVIEW_REQUIRED:
        word, words = _REQUIRED_REVIEWS.get(seen.review, (word, words))
    return Phrase(word=word, text=", ".join([words, *_tell_counts(seen)]))


def _tell_counts(seen: Observation) -> Iterator[str]:
    if approvals := _count(seen.approvals):
        yield f"{approvals} in favour"
    if asked := _count(seen.requested_reviewers):
        yield f"{asked} asked"
    if threads := _count(seen.unresolved_threads):
        yield f"{threads} unresolved {'thread' if threads == 1 else 'threads'}"


def _count(value: Observed[int]) -> int:
    return 0 if value is UNOBSERVED else value


def _tell_merge(known: Known) -> Phrase:
    seen = known.observation
    if seen.is_final:
        return _tell_end(known)
    if seen.merge_queue is True:
        return Phrase(word=MergeWord.QUEUED, text="in the merge queue")
    return _tell_expulsion(known) or _tell_unknown(known) or _tell_mergeable(known)


def _tell_expulsion(known: Known) -> Phrase | None:
    left_at = known.progress.queue_left_at
    if left_at is None:
        return None
    words = f"left the merge queue without a merge, {known.tell_age(left_at)} ago"
    return Phrase(word=MergeWord.QUEUE_REMOVED, text=words)


def _tell_unknown(known: Known) -> Phrase | None:
    """Tell that GitHub does not say; for an hour what it said last stands."""
    seen = known.observation
    since = known.mergeable_unknown_since
    if since is None and seen.mergeable is UNOBSERVED:
        since = seen.observed_at
    if since is not None and known.now - since >= UNKNOWN_AFTER:
        age = known.tell_age(since)
        words = f"unknown: GitHub has not said in {age} whether it can be merged"
        return Phrase(word=MergeWord.UNKNOWN, text=words)
    if seen.mergeable is UNOBSERVED:
        words = "GitHub works out whether it can be merged"
        return Phrase(word=MergeWord.WORKED_OUT, text=words)
    return None


def _tell_mergeable(known: Known) -> Phrase:
    seen = known.observation
    if seen.mergeable is Mergeable.CONFLICTING:
        base = seen.base_ref_name or "its base"
        return Phrase(word=MergeWord.CONFLICTING, text=f"conflicts with {base}")
    if _is_stuck(known):
        age = known.tell_age(known.progress.ready_since or known.now)
        words = f"stuck: auto-merge is armed with nothing in its way for {age}"
        return Phrase(word=MergeWord.STUCK, text=words)
    if seen.auto_merge is True:
        return Phrase(word=MergeWord.ARMED, text="auto-merge is armed")
    return Phrase(word=MergeWord.MERGEABLE, text="no conflicts")


def _is_stuck(known: Known) -> bool:
    since = known.progress.ready_since
    if since is None or not is_ready(known.observation):
        return False
    return known.now - since >= STUCK_AFTER


def _tell_end(known: Known) -> Phrase:
    seen = known.observation
    if seen.state is PullRequestState.MERGED:
        moment = seen.merged_at or seen.closed_at or seen.observed_at
        words = f"merged {known.tell_age(moment)} ago"
        return Phrase(word=MergeWord.MERGED, text=words)
    moment = seen.closed_at or seen.observed_at
    words = f"closed {known.tell_age(moment)} ago"
    return Phrase(word=MergeWord.CLOSED, text=words)
