from dataclasses import replace

import pytest

from prwatch.domain.advance import advance, restore_watermark
from prwatch.domain.compare import compare
from prwatch.domain.events import Change, ChangeField
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.watch import Watermark
from tests.readings import (
    FAILURE,
    NONE,
    NOON,
    PENDING,
    SETTLE,
    SUCCESS,
    at,
    make_mark,
    make_observation,
    make_watermark,
)


def step(watermark, observation, **options):
    changes = compare(watermark, observation, settle=SETTLE, **options)
    return advance(watermark, observation, changes)


def test_the_first_reading_is_the_watermark():
    observation = make_observation(comment_mark=make_mark(-9))

    assert advance(None, observation, ()) == Watermark(
        state=PullRequestState.OPEN,
        updated_at=at(-60),
        head_ref_oid="a" * 40,
        observed_at=NOON,
        is_draft=False,
        checks=PENDING,
        review=ReviewState.NONE,
        review_decision=None,
        mergeable=Mergeable.MERGEABLE,
        merge_queue=False,
        auto_merge=False,
        is_archived=False,
        comment_mark=make_mark(-9),
        announced_checks=(PENDING,),
        checks_since=NOON,
    )


@pytest.mark.parametrize("checks", [UNOBSERVED, NONE])
def test_no_checks_at_association_are_not_told(checks):
    assert make_watermark(checks=checks).announced_checks == ()


def test_an_unchanged_reading_leaves_the_watermark_alone():
    watermark = make_watermark()

    assert step(watermark, make_observation(observed_at=at(60))) is watermark


def test_a_stale_reading_leaves_the_watermark_alone():
    watermark = make_watermark(review=UNOBSERVED)

    assert step(watermark, make_observation(updated_at=at(-61))) is watermark


def test_a_field_that_is_read_for_the_first_time_is_learnt_without_a_change():
    watermark = make_watermark(review_decision=UNOBSERVED, checks=UNOBSERVED)

    learnt = step(
        watermark,
        make_observation(
            observed_at=at(60),
            review_decision=ReviewDecision.APPROVED,
            checks=FAILURE,
        ),
    )

    assert learnt == replace(
        watermark,
        observed_at=at(60),
        review_decision=ReviewDecision.APPROVED,
        checks=FAILURE,
        checks_since=at(60),
    )


def test_what_was_not_read_keeps_its_value_beside_a_change():
    watermark = make_watermark(review=ReviewState.APPROVED, comment_mark=make_mark(-9))

    moved = step(
        watermark,
        make_observation(
            observed_at=at(60),
            updated_at=at(50),
            is_draft=True,
            head_ref_oid="",
            checks=UNOBSERVED,
            review=UNOBSERVED,
            review_decision=UNOBSERVED,
            mergeable=UNOBSERVED,
            merge_queue=UNOBSERVED,
            auto_merge=UNOBSERVED,
            is_archived=UNOBSERVED,
            comment_mark=UNOBSERVED,
        ),
    )

    assert moved == replace(
        watermark, observed_at=at(60), updated_at=at(50), is_draft=True
    )


def test_a_change_takes_over_every_value_that_was_read():
    watermark = make_watermark(head_ref_oid="a", comment_mark=make_mark(-200))
    observation = make_observation(
        observed_at=at(60),
        updated_at=at(50),
        state=PullRequestState.MERGED,
        head_ref_oid="b",
        checks=SUCCESS,
        review=ReviewState.APPROVED,
        review_decision=ReviewDecision.APPROVED,
        mergeable=Mergeable.CONFLICTING,
        merge_queue=True,
        auto_merge=True,
        is_archived=True,
        comment_mark=make_mark(-100, 40),
    )

    assert step(watermark, observation) == Watermark(
        state=PullRequestState.MERGED,
        updated_at=at(50),
        head_ref_oid="b",
        observed_at=at(60),
        checks=SUCCESS,
        review=ReviewState.APPROVED,
        review_decision=ReviewDecision.APPROVED,
        mergeable=Mergeable.CONFLICTING,
        merge_queue=True,
        auto_merge=True,
        is_archived=True,
        comment_mark=make_mark(40),
        announced_checks=(SUCCESS,),
        checks_since=at(60),
    )


def test_the_update_time_goes_back_only_with_a_reading_that_is_believed():
    stale = make_observation(updated_at=at(-90), is_draft=True, observed_at=at(700))

    assert step(make_watermark(), stale, is_reading_believed=True) == replace(
        make_watermark(), updated_at=at(-90), is_draft=True, observed_at=at(700)
    )


def test_a_new_head_whose_checks_were_not_read_has_none():
    watermark = make_watermark(head_ref_oid="a", checks=SUCCESS)

    moved = step(
        watermark,
        make_observation(head_ref_oid="b", checks=UNOBSERVED, observed_at=at(60)),
    )

    assert moved == replace(
        watermark,
        head_ref_oid="b",
        checks=NONE,
        announced_checks=(),
        checks_since=at(60),
        observed_at=at(60),
    )


def test_a_finished_pull_request_goes_on_where_it_stood():
    closed = make_observation(state=PullRequestState.CLOSED, checks=FAILURE)
    stored = TaskPullRequest(
        task_id="TASK-1",
        repository_id="REPO-1",
        pr_number=12,
        observation=closed,
        observed_at=at(5),
    )

    watermark = restore_watermark(stored)

    assert watermark == replace(advance(None, closed, ()), observed_at=at(5))
    reopened = make_observation(checks=FAILURE, updated_at=at(0))
    assert compare(watermark, reopened, settle=SETTLE) == (
        Change(ChangeField.STATE, "CLOSED", "OPEN", is_feedback=True),
    )
