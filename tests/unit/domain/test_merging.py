import pytest

from prwatch.domain.merging import merge_observations
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    RepositoryName,
    ReviewState,
)
from tests.readings import (
    FAILURE,
    NONE,
    SUCCESS,
    at,
    make_mark,
    make_observation,
)

KNOWN = {
    "merged_by": "mona",
    "is_archived": True,
    "is_base_deleted": True,
    "checks": FAILURE,
    "review": ReviewState.APPROVED,
    "review_decision": None,
    "mergeable": Mergeable.CONFLICTING,
    "merge_queue": True,
    "auto_merge": True,
    "unresolved_threads": 3,
    "requested_reviewers": 2,
    "approvals": 1,
    "comment_mark": make_mark(-9),
}


def test_what_was_not_read_never_overwrites_what_is_known():
    stored = make_observation(
        **KNOWN, checks_notes=("failed: build",), settles_at=at(9)
    )
    unread = make_observation(
        observed_at=at(60),
        repository=RepositoryName("octo", "renamed"),
        head_ref_oid="",
        **dict.fromkeys(KNOWN, UNOBSERVED),
    )

    assert merge_observations(stored, unread) == make_observation(
        **KNOWN,
        observed_at=at(60),
        repository=RepositoryName("octo", "renamed", "R_1"),
        checks_notes=("failed: build",),
        settles_at=at(9),
    )


def test_what_was_read_is_taken_over():
    stored = make_observation(**dict.fromkeys(KNOWN, UNOBSERVED), title="Old")
    new = make_observation(**KNOWN, observed_at=at(60), checks_notes=("failed: build",))

    assert merge_observations(stored, new) == new


def test_two_comment_marks_become_one():
    stored = make_observation(comment_mark=make_mark(-200, -150))
    new = make_observation(comment_mark=make_mark(-100))

    assert merge_observations(stored, new).comment_mark == make_mark(-200, -150, -100)


@pytest.mark.parametrize(
    ("head", "checks", "merged"),
    [
        pytest.param("a", NONE, SUCCESS, id="a null rollup on an unchanged head"),
        pytest.param("a", UNOBSERVED, SUCCESS, id="unread on an unchanged head"),
        pytest.param("b", UNOBSERVED, NONE, id="unread on a new head"),
        pytest.param("b", NONE, NONE, id="nothing yet on a new head"),
        pytest.param("b", FAILURE, FAILURE, id="a new head's own verdict"),
    ],
)
def test_checks_belong_to_their_head(head, checks, merged):
    stored = make_observation(head_ref_oid="a", checks=SUCCESS, checks_notes=("old",))
    new = make_observation(head_ref_oid=head, checks=checks, checks_notes=("new",))

    assert merge_observations(stored, new) == make_observation(
        head_ref_oid=head,
        checks=merged,
        checks_notes=("new",) if head == "b" else ("old",),
    )
