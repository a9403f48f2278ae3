import itertools

import pytest

from prwatch.domain.pull_request import ReviewState
from prwatch.domain.verdict import Review, ReviewVerdict, decide_review
from tests.readings import at

APPROVED = "APPROVED"
CHANGES = "CHANGES_REQUESTED"
DISMISSED = "DISMISSED"


def make_review(state, seconds=0, author="mona", node_id=""):
    return Review(author=author, state=state, submitted_at=at(seconds), node_id=node_id)


@pytest.mark.parametrize(
    ("reviews", "requested", "verdict"),
    [
        pytest.param([], 0, ReviewVerdict(state=ReviewState.NONE), id="nobody"),
        pytest.param(
            [], 1, ReviewVerdict(state=ReviewState.PENDING), id="somebody is asked"
        ),
        pytest.param(
            [make_review(APPROVED)],
            0,
            ReviewVerdict(state=ReviewState.APPROVED, approvals=1),
            id="approved",
        ),
        pytest.param(
            [make_review(APPROVED)],
            1,
            ReviewVerdict(state=ReviewState.APPROVED, approvals=1),
            id="a reviewer who is asked again keeps the last opinion",
        ),
        pytest.param(
            [make_review(APPROVED, 0), make_review(CHANGES, 1)],
            0,
            ReviewVerdict(state=ReviewState.CHANGES_REQUESTED),
            id="the last opinion counts",
        ),
        pytest.param(
            [make_review(APPROVED), make_review(CHANGES, author="hubot")],
            0,
            ReviewVerdict(state=ReviewState.CHANGES_REQUESTED, approvals=1),
            id="changes requested win over an approval",
        ),
        pytest.param(
            [make_review(APPROVED, 0), make_review("COMMENTED", 1)],
            0,
            ReviewVerdict(state=ReviewState.APPROVED, approvals=1),
            id="a comment is no opinion",
        ),
        pytest.param(
            [make_review(DISMISSED)],
            0,
            ReviewVerdict(state=ReviewState.NONE),
            id="G1 a dismissed change request does not block",
        ),
        pytest.param(
            [make_review(CHANGES, 0), make_review(DISMISSED, 1)],
            0,
            ReviewVerdict(state=ReviewState.NONE),
            id="G2 a dismissed approval revives no older change request",
        ),
        pytest.param(
            [make_review(APPROVED, 0), make_review(DISMISSED, 1)],
            1,
            ReviewVerdict(state=ReviewState.PENDING),
            id="G3 a dismissed change request revives no older approval",
        ),
        pytest.param(
            [
                make_review(CHANGES, 0, author=None),
                make_review(APPROVED, 1, author=None),
            ],
            0,
            ReviewVerdict(state=ReviewState.APPROVED, approvals=1),
            id="E3 all deleted accounts are one reviewer",
        ),
        pytest.param(
            [
                make_review(APPROVED, node_id="PRR_1"),
                make_review(CHANGES, node_id="PRR_2"),
            ],
            0,
            ReviewVerdict(state=ReviewState.CHANGES_REQUESTED),
            id="ids order two reviews of one second",
        ),
        pytest.param(
            [
                Review(author="mona", state=CHANGES, submitted_at=None),
                make_review(APPROVED),
            ],
            0,
            ReviewVerdict(state=ReviewState.APPROVED, approvals=1),
            id="a review without a time is the oldest",
        ),
    ],
)
def test_the_last_opinion_of_each_reviewer_decides(reviews, requested, verdict):
    for order in itertools.permutations(reviews):
        assert decide_review(order, requested=requested) == verdict


def test_the_last_of_many_approvals_is_counted():
    """G10: the verdict takes any number of reviews."""
    reviews = [make_review(APPROVED, n, author=f"user-{n}") for n in range(37)]

    assert decide_review(reviews, requested=0) == ReviewVerdict(
        state=ReviewState.APPROVED, approvals=37
    )
