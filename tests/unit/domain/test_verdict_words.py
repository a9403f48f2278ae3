"""The words for reviews and merges, and what a pull request needs from a person."""

import pytest

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.merge_progress import NO_PROGRESS, MergeProgress
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.verdict_words import Need, tell
from tests.readings import FAILURE, NONE, PENDING, SUCCESS, at, make_observation

HOUR = 3600
CONFLICT = {"mergeable": Mergeable.CONFLICTING}
ARMED = {"auto_merge": True, "checks": SUCCESS}
MERGED, CLOSED = PullRequestState.MERGED, PullRequestState.CLOSED
STUCK = MergeProgress(ready_since=at(-HOUR))
OUT = MergeProgress(queue_left_at=at(-1200))
ASKED = {"review": ReviewState.PENDING}
REFUSED = {"review": ReviewState.CHANGES_REQUESTED}
APPROVED = {"review": ReviewState.APPROVED}
REQUIRED = {"review_decision": ReviewDecision.REVIEW_REQUIRED}


def tell_words(*, progress=NO_PROGRESS, unknown_since=None, **fields):
    return tell(
        Known(
            observation=make_observation(**fields),
            now=at(0),
            is_live=True,
            progress=progress,
            mergeable_unknown_since=unknown_since,
        )
    )


@pytest.mark.parametrize(
    ("fields", "word", "text"),
    [
        pytest.param({}, "none", "none", id="nobody is asked"),
        pytest.param({"review": UNOBSERVED}, "not_read", "not read", id="not read"),
        pytest.param(
            {**ASKED, "requested_reviewers": 2},
            "waiting",
            "waiting for a review, 2 asked",
            id="somebody is asked",
        ),
        pytest.param(
            {**APPROVED, "approvals": 2, "unresolved_threads": 1},
            "approved",
            "approved, 2 in favour, 1 unresolved thread",
            id="approved",
        ),
        pytest.param(
            {
                **REFUSED,
                "approvals": 1,
                "requested_reviewers": UNOBSERVED,
                "unresolved_threads": 2,
            },
            "changes_requested",
            "changes requested, 1 in favour, 2 unresolved threads",
            id="changes are requested",
        ),
        pytest.param(
            {**APPROVED, **REQUIRED, "approvals": 1},
            "more_required",
            "approved, and more is required, 1 in favour",
            id="one approval is not enough",
        ),
        pytest.param(
            REQUIRED,
            "required",
            "required, and nobody is asked",
            id="nobody is asked though it is required",
        ),
        pytest.param(
            {**ASKED, **REQUIRED},
            "waiting",
            "waiting for a review",
            id="somebody is asked as required",
        ),
    ],
)
def test_the_reviews_are_told_in_words(fields, word, text):
    assert tell_words(**fields).review.as_json() == {"word": word, "text": text}


@pytest.mark.parametrize(
    ("fields", "word", "text"),
    [
        pytest.param({}, "mergeable", "no conflicts", id="mergeable"),
        pytest.param(CONFLICT, "conflicting", "conflicts with main", id="conflict"),
        pytest.param(
            {**CONFLICT, "base_ref_name": ""},
            "conflicting",
            "conflicts with its base",
            id="conflict with an unknown base",
        ),
        pytest.param(
            {"merge_queue": True}, "queued", "in the merge queue", id="queued"
        ),
        pytest.param(
            {"progress": OUT, **CONFLICT},
            "queue_removed",
            "left the merge queue without a merge, 20 min ago",
            id="thrown out of the queue",
        ),
        pytest.param(
            {"mergeable": UNOBSERVED, "observed_at": at(-HOUR + 1)},
            "worked_out",
            "GitHub works out whether it can be merged",
            id="not told yet",
        ),
        pytest.param(
            {"mergeable": UNOBSERVED, "observed_at": at(-HOUR)},
            "unknown",
            "unknown: GitHub has not said in 1 h whether it can be merged",
            id="not told for an hour",
        ),
        pytest.param(
            {"unknown_since": at(-HOUR)},
            "unknown",
            "unknown: GitHub has not said in 1 h whether it can be merged",
            id="told once, and not for an hour",
        ),
        pytest.param(
            {"unknown_since": at(-60), **CONFLICT},
            "conflicting",
            "conflicts with main",
            id="a minute of silence",
        ),
        pytest.param(ARMED, "armed", "auto-merge is armed", id="armed"),
        pytest.param(
            {**ARMED, "progress": MergeProgress(ready_since=at(-HOUR + 1))},
            "armed",
            "auto-merge is armed",
            id="ready for less than an hour",
        ),
        pytest.param(
            {**ARMED, "progress": STUCK},
            "stuck",
            "stuck: auto-merge is armed with nothing in its way for 1 h",
            id="ready for an hour",
        ),
        pytest.param(
            {**ARMED, "checks": PENDING, "progress": STUCK},
            "armed",
            "auto-merge is armed",
            id="not ready any more",
        ),
        pytest.param(
            {"state": MERGED, "merged_at": at(-60), "progress": STUCK},
            "merged",
            "merged 1 min ago",
            id="merged",
        ),
        pytest.param(
            {"state": CLOSED, "closed_at": at(-60), "progress": OUT},
            "closed",
            "closed 1 min ago",
            id="closed",
        ),
    ],
)
def test_the_way_to_a_merge_is_told_in_words(fields, word, text):
    assert tell_words(**fields).merge.as_json() == {"word": word, "text": text}


@pytest.mark.parametrize(
    ("fields", "need"),
    [
        pytest.param({"checks": FAILURE, **REFUSED}, "failing", id="failing"),
        pytest.param(
            {
                "checks": FAILURE,
                "checks_summary": ChecksSummary(total=1, failing=1, unapproved=1),
                **REFUSED,
            },
            "needs_approval",
            id="approval",
        ),
        pytest.param({**REFUSED, "progress": OUT}, "changes_requested", id="changes"),
        pytest.param({"progress": OUT, **CONFLICT}, "queue_removed", id="removed"),
        pytest.param({**ARMED, "progress": STUCK, **ASKED}, "stuck", id="stuck"),
        pytest.param({**CONFLICT, **ASKED}, "conflicting", id="conflict"),
        pytest.param(
            {"checks_summary": ChecksSummary(total=1, is_expecting=True), **ASKED},
            "not_reported",
            id="required but not reported",
        ),
        pytest.param(ASKED, "waiting_for_review", id="review and running checks"),
        pytest.param(REQUIRED, "waiting_for_review", id="nobody is asked"),
        pytest.param({**ASKED, "is_draft": True}, "running", id="a draft's review"),
        pytest.param({**REFUSED, "is_draft": True}, "changes_requested", id="a draft"),
        pytest.param({"checks": UNOBSERVED}, "unreadable", id="unreadable"),
        pytest.param({}, "running", id="running"),
        pytest.param({"merge_queue": True, "checks": SUCCESS}, "queued", id="queued"),
        pytest.param({"checks": NONE}, "no_checks", id="no checks"),
        pytest.param({"checks": SUCCESS, **APPROVED}, "green", id="green"),
        pytest.param({"state": MERGED, "checks": FAILURE}, "finished", id="finished"),
    ],
)
def test_the_most_urgent_need_is_told(fields, need):
    words = tell_words(**fields)

    assert words.need is Need(need)
    assert words.as_json() == {
        "needs": need,
        "checks": words.checks.as_json(),
        "review": words.review.as_json(),
        "merge": words.merge.as_json(),
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"checks": FAILURE}, "failed", id="checks"),
        pytest.param({"checks": SUCCESS, **ASKED}, "waiting for a review", id="review"),
        pytest.param({**ARMED, **CONFLICT}, "conflicts with main", id="merge"),
        pytest.param(
            {
                "checks": UNOBSERVED,
                "checks_summary": ChecksSummary(unread="no access", is_refused=True),
            },
            "unreadable with this token",
            id="unreadable",
        ),
        pytest.param(
            {"state": MERGED, "merged_at": at(-60)}, "merged 1 min ago", id="the end"
        ),
    ],
)
def test_the_reason_of_a_need_is_told(fields, reason):
    assert tell_words(**fields).reason == reason


def test_a_word_is_read_without_its_underscores():
    assert tell_words(**CONFLICT, **REFUSED).review.short == "changes requested"
