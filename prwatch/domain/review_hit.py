"""What GitHub says of a pull request whose review is asked, and what to do about it."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.review_watch import AuditAction, ReviewAudit, ReviewedPullRequest
from prwatch.domain.timestamp import format_time


class Opinion(enum.StrEnum):
    """A person's last word on a pull request. Comments are none."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    DISMISSED = "DISMISSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFacts:
    """
    A pull request as one direct reading shows it to one person.

    `opinion` and `submitted_at` are that person's last word, None without one.
    `is_asked` says that the person's own review is requested now or, where teams count,
    that of a team which was asked after that word. `is_requested` says that a request
    stands which may be the person's: theirs, where teams count one to any team,
    whenever it was made, or one whose reviewer is not shown.
    """

    pull_request: ReviewedPullRequest
    title: str
    url: str
    author: str | None
    is_draft: bool
    state: PullRequestState
    closed_at: dt.datetime | None = None
    merged_at: dt.datetime | None = None
    opinion: Opinion | None = None
    submitted_at: dt.datetime | None = None
    is_asked: bool = False
    is_requested: bool = False


class HitVerdict(enum.StrEnum):
    """What becomes of a hit that is not known yet."""

    TAKE_UP = "take_up"
    ENDED = "ended"
    UNASKED = "unasked"
    """No request stands any more that the search was for: its index lags."""
    CLEANED = "cleaned"
    """It was cleaned away, and nothing shows that its work is no longer done."""


def find_end(facts: ReviewFacts) -> Mapping[str, object]:
    """
    Return the evidence that the work of a review is done; empty without any.

    A state counts together with its time, and an approval while nobody asks again.
    """
    if facts.state is PullRequestState.MERGED and facts.merged_at is not None:
        return {"state": "MERGED", "merged_at": format_time(facts.merged_at)}
    if facts.state is PullRequestState.CLOSED and facts.closed_at is not None:
        return {"state": "CLOSED", "closed_at": format_time(facts.closed_at)}
    if (
        facts.opinion is Opinion.APPROVED
        and facts.submitted_at is not None
        and not facts.is_asked
    ):
        return {"review": "APPROVED", "submitted_at": format_time(facts.submitted_at)}
    return {}


def judge_hit(
    facts: ReviewFacts, last: ReviewAudit | None, *, is_for_requests: bool = False
) -> HitVerdict:
    """
    Decide about a hit; `last` is the newest that became of it under this watch.

    A search that `is_for_requests` lags: what it shows must still be requested. One
    that a person wrote finds what it finds.

    One that was cleaned away comes back once the reading contradicts the evidence of
    that: closed and reopened, or approved and asked again, dismissed or replaced. An
    entry without evidence proves nothing and keeps nothing away: no deletion of ours is
    without, and a request that nobody hears of is worse than a task made twice.
    """
    if facts.state is not PullRequestState.OPEN or find_end(facts):
        return HitVerdict.ENDED
    if is_for_requests and not facts.is_requested:
        return HitVerdict.UNASKED
    if last is None or last.action is not AuditAction.DELETED:
        return HitVerdict.TAKE_UP
    return HitVerdict.TAKE_UP if _is_refuted(last, facts) else HitVerdict.CLEANED


def _is_refuted(last: ReviewAudit, facts: ReviewFacts) -> bool:
    """Return whether an open pull request is no longer what it was cleaned for."""
    if last.evidence.get("state") == PullRequestState.MERGED:
        return False  # a merge is for good: what shows it open is an old answer
    if last.evidence.get("review") == Opinion.APPROVED:
        # An approval does not vanish: that it is not shown says nothing.
        return facts.is_asked or facts.opinion is not None
    return True
