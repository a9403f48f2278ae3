import datetime as dt
from dataclasses import replace

from prwatch.domain.announce import flap_due_at
from prwatch.domain.events import Change, ChangeField
from prwatch.domain.pull_request import UNOBSERVED, ReviewState
from tests.readings import (
    FAILURE,
    NONE,
    PENDING,
    SETTLE,
    SUCCESS,
    Story,
    at,
    make_watermark,
)


def told(previous, current):
    return (Change(ChangeField.CHECKS, previous, current, is_feedback=True),)


def held(previous, current):
    return (Change(ChangeField.CHECKS, previous, current, is_feedback=False),)


def test_the_same_failure_is_told_once_however_often_it_is_seen():
    """I3: level is not edge."""
    story = Story(checks=PENDING)

    assert story.read(0, checks=FAILURE) == told("pending", "failure")
    assert [story.read(60 * turn) for turn in range(1, 20)] == [()] * 19


def test_the_state_at_association_counts_as_told():
    story = Story(checks=FAILURE)

    assert story.read(60, checks=PENDING) == told("failure", "pending")
    assert story.read(75, checks=FAILURE) == held("pending", "failure")


def test_a_flapping_check_is_told_once_for_each_state():
    """I5: fail, pending, fail five times on one head."""
    story = Story(checks=FAILURE)
    feedback = []

    for turn in range(5):
        feedback += story.read(30 * turn + 15, checks=PENDING)
        feedback += story.read(30 * turn + 25, checks=FAILURE)

    rung = [change for change in feedback if change.is_feedback]
    assert rung == [*told("failure", "pending")]
    assert len(feedback) == 10


def test_a_flap_that_stays_is_told_late():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)

    assert story.read(75, checks=FAILURE) == held("pending", "failure")
    assert flap_due_at(story.watermark, settle=SETTLE) == at(95)
    assert story.read(94) == ()
    assert story.read(95) == told("pending", "failure")
    assert flap_due_at(story.watermark, settle=SETTLE) is None
    assert story.read(200) == ()


def test_a_flap_that_went_back_to_what_was_told_last_is_not_told():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)
    story.read(75, checks=FAILURE)

    assert story.read(90, checks=PENDING) == held("failure", "pending")
    assert flap_due_at(story.watermark, settle=SETTLE) is None
    assert story.read(900) == ()


def test_a_flap_is_counted_from_its_last_edge():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)
    story.read(75, checks=FAILURE)
    story.read(90, checks=PENDING)

    assert story.read(105, checks=FAILURE) == held("pending", "failure")
    assert story.read(124) == ()
    assert story.read(125) == told("pending", "failure")


def test_a_reading_without_checks_does_not_tell_a_flap():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)
    story.read(75, checks=FAILURE)

    assert story.read(100, checks=UNOBSERVED) == ()
    assert story.read(101, checks=NONE) == ()
    assert story.read(102, checks=FAILURE) == told("pending", "failure")


def test_a_flap_travels_with_other_feedback_and_then_counts_as_told():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)

    changes = story.read(75, checks=FAILURE, review=ReviewState.APPROVED)

    assert changes == (
        *told("pending", "failure"),
        Change(ChangeField.REVIEW, "none", "approved", is_feedback=True),
    )
    assert flap_due_at(story.watermark, settle=SETTLE) is None
    assert story.read(200) == ()


def test_a_flap_does_not_ring_with_a_change_that_is_no_feedback():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)

    assert story.read(75, checks=FAILURE, is_archived=True) == (
        *held("pending", "failure"),
        Change(ChangeField.ARCHIVED, False, True, is_feedback=False),
    )


def test_a_late_announcement_travels_with_what_else_changed():
    story = Story(checks=FAILURE)
    story.read(60, checks=PENDING)
    story.read(75, checks=FAILURE)

    assert story.read(100, is_draft=True) == (
        Change(ChangeField.IS_DRAFT, False, True, is_feedback=True),
        *told("pending", "failure"),
    )
    assert story.read(200) == ()


def test_each_head_is_told_anew():
    story = Story(head_ref_oid="a", checks=FAILURE)

    story.read(60, head_ref_oid="b", checks=NONE)

    assert story.read(75, checks=PENDING) == told("none", "pending")
    assert story.read(90, checks=FAILURE) == told("pending", "failure")


def test_the_state_that_came_with_a_new_head_counts_as_told():
    story = Story(head_ref_oid="a", checks=SUCCESS)

    story.read(60, head_ref_oid="b", checks=SUCCESS)

    assert story.watermark.announced_checks == (SUCCESS,)
    assert story.read(75, checks=PENDING) == told("success", "pending")
    assert story.read(90, checks=SUCCESS) == held("pending", "success")


def test_a_new_head_ends_a_flap():
    story = Story(head_ref_oid="a", checks=FAILURE)
    story.read(60, checks=PENDING)
    story.read(75, checks=FAILURE)

    assert story.read(300, head_ref_oid="b", checks=FAILURE) == (
        Change(ChangeField.HEAD_REF_OID, "a", "b", is_feedback=True),
    )
    assert flap_due_at(story.watermark, settle=SETTLE) is None


def test_without_a_settle_window_every_edge_is_told():
    story = Story(checks=FAILURE, settle=dt.timedelta(0))

    assert story.read(1, checks=PENDING) == told("failure", "pending")
    assert story.read(2, checks=FAILURE) == told("pending", "failure")
    assert story.read(3, checks=PENDING) == told("failure", "pending")


def test_a_flap_of_unknown_age_is_not_told():
    watermark = replace(
        make_watermark(checks=FAILURE),
        announced_checks=(FAILURE, PENDING),
        checks_since=None,
    )

    assert flap_due_at(watermark, settle=SETTLE) is None
