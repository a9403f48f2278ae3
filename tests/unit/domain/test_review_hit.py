"""What becomes of hits, and the evidence that a review is done."""

import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.review_hit import (
    HitVerdict,
    Opinion,
    ReviewFacts,
    find_end,
    judge_hit,
)
from prwatch.domain.review_watch import (
    AuditAction,
    AuditActor,
    ReviewAudit,
    ReviewedPullRequest,
)

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
TIME = "2026-11-30T12:00:00.000000Z"
PULL_REQUEST = ReviewedPullRequest(
    owner="octo", name="hello", number=12, node_id="PR_12", repository_node_id="R_1"
)
OPEN = ReviewFacts(
    pull_request=PULL_REQUEST,
    title="Greet",
    url="https://github.com/octo/hello/pull/12",
    author="bob",
    is_draft=False,
    state=PullRequestState.OPEN,
    is_asked=True,
)
MERGED = replace(OPEN, state=PullRequestState.MERGED, closed_at=NOON, merged_at=NOON)
CLOSED = replace(OPEN, state=PullRequestState.CLOSED, closed_at=NOON)
APPROVED = replace(OPEN, opinion=Opinion.APPROVED, submitted_at=NOON, is_asked=False)


@pytest.mark.parametrize(
    ("facts", "evidence"),
    [
        pytest.param(OPEN, {}, id="open"),
        pytest.param(MERGED, {"state": "MERGED", "merged_at": TIME}, id="merged"),
        pytest.param(CLOSED, {"state": "CLOSED", "closed_at": TIME}, id="closed"),
        pytest.param(replace(MERGED, merged_at=None), {}, id="merged without a time"),
        pytest.param(replace(CLOSED, closed_at=None), {}, id="closed without a time"),
        pytest.param(
            APPROVED, {"review": "APPROVED", "submitted_at": TIME}, id="approved"
        ),
        pytest.param(replace(APPROVED, submitted_at=None), {}, id="approval unsent"),
        pytest.param(replace(APPROVED, is_asked=True), {}, id="asked again"),
        pytest.param(replace(APPROVED, opinion=Opinion.DISMISSED), {}, id="dismissed"),
        pytest.param(
            replace(APPROVED, opinion=Opinion.CHANGES_REQUESTED), {}, id="changes"
        ),
    ],
)
def test_a_review_is_done_by_positive_evidence_alone(facts, evidence):
    assert find_end(facts) == evidence


def make_audit(action=AuditAction.DELETED, evidence=None):
    return ReviewAudit(
        id="a1",
        workspace_id="w1",
        review_watch_id="v1",
        pull_request=PULL_REQUEST,
        external_id=PULL_REQUEST.external_id,
        action=action,
        reason="",
        evidence=evidence or {},
        acted_at=NOON,
        acted_by=AuditActor.PERSON,
    )


SILENT = replace(OPEN, is_asked=False)
DONE = make_audit(evidence={"review": "APPROVED"})


@pytest.mark.parametrize(
    ("facts", "last", "verdict"),
    [
        pytest.param(OPEN, None, HitVerdict.TAKE_UP, id="new"),
        pytest.param(MERGED, None, HitVerdict.ENDED, id="merged"),
        pytest.param(CLOSED, None, HitVerdict.ENDED, id="closed"),
        pytest.param(
            replace(CLOSED, closed_at=None), None, HitVerdict.ENDED, id="no time"
        ),
        pytest.param(APPROVED, None, HitVerdict.ENDED, id="approved"),
        pytest.param(APPROVED, DONE, HitVerdict.ENDED, id="approved, cleaned"),
        pytest.param(OPEN, DONE, HitVerdict.TAKE_UP, id="cleaned, asked again"),
        pytest.param(OPEN, make_audit(), HitVerdict.TAKE_UP, id="cleaned for nothing"),
        pytest.param(
            SILENT, DONE, HitVerdict.CLEANED, id="approved, cleaned, not shown"
        ),
        pytest.param(
            replace(SILENT, opinion=Opinion.DISMISSED),
            DONE,
            HitVerdict.TAKE_UP,
            id="cleaned, dismissed",
        ),
        pytest.param(
            replace(SILENT, opinion=Opinion.CHANGES_REQUESTED),
            DONE,
            HitVerdict.TAKE_UP,
            id="cleaned, replaced",
        ),
        pytest.param(
            OPEN,
            make_audit(evidence={"state": "CLOSED"}),
            HitVerdict.TAKE_UP,
            id="cleaned, reopened",
        ),
        pytest.param(
            OPEN,
            make_audit(evidence={"state": "MERGED"}),
            HitVerdict.CLEANED,
            id="merged, shown open",
        ),
        pytest.param(
            OPEN,
            make_audit(AuditAction.RELEASED, {"state": "MERGED"}),
            HitVerdict.TAKE_UP,
            id="released",
        ),
        pytest.param(
            OPEN,
            make_audit(AuditAction.RESTORED),
            HitVerdict.TAKE_UP,
            id="restored",
        ),
    ],
)
def test_a_hit_becomes_a_task_unless_it_is_done_or_was_cleaned(facts, last, verdict):
    assert judge_hit(facts, last) is verdict


def test_what_is_requested_no_more_is_no_hit_of_a_search_for_requests():
    requested = replace(OPEN, is_requested=True)

    def judge(facts, last=None):
        return judge_hit(facts, last, is_for_requests=True)

    assert judge(requested) is HitVerdict.TAKE_UP
    assert judge(replace(SILENT, is_requested=True)) is HitVerdict.TAKE_UP
    assert judge(SILENT) is HitVerdict.UNASKED
    assert judge(SILENT, DONE) is HitVerdict.UNASKED
    assert judge(MERGED) is HitVerdict.ENDED


def test_a_review_task_is_named_for_its_pull_request():
    assert PULL_REQUEST.external_id == "review:octo/hello#12"
