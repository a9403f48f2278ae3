import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.compare import compare
from prwatch.domain.events import Change, ChangeField
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.timestamp import format_time
from tests.readings import (
    FAILURE,
    NONE,
    NOON,
    PENDING,
    SETTLE,
    SUCCESS,
    Story,
    at,
    make_mark,
    make_observation,
    make_watermark,
)

OPEN = PullRequestState.OPEN
CLOSED = PullRequestState.CLOSED
MERGED = PullRequestState.MERGED


def feedback(field, previous, current, reason=""):
    return Change(
        ChangeField(field), previous, current, is_feedback=True, reason=reason
    )


def quiet(field, previous, current):
    return Change(ChangeField(field), previous, current, is_feedback=False)


def compare_fields(before, after, **options):
    return compare(
        make_watermark(**before), make_observation(**after), settle=SETTLE, **options
    )


def test_a_new_association_is_one_change():
    """I2: a fresh store makes no storm of changes."""
    observation = make_observation(checks=FAILURE, review=ReviewState.APPROVED)

    assert compare(None, observation, settle=SETTLE) == (quiet("associated", None, 12),)


@pytest.mark.parametrize("state", [CLOSED, MERGED])
def test_a_pull_request_that_is_final_at_first_sight_says_so(state):
    assert compare(None, make_observation(state=state), settle=SETTLE) == (
        quiet("associated", None, 12),
        feedback("state", None, state.value),
    )


def test_the_same_reading_again_is_no_change():
    assert compare_fields({}, {"observed_at": at(9000)}) == ()


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        pytest.param(
            {"state": OPEN},
            {"state": CLOSED},
            (feedback("state", "OPEN", "CLOSED"),),
            id="closed",
        ),
        pytest.param(
            {"state": CLOSED},
            {"state": OPEN},
            (feedback("state", "CLOSED", "OPEN"),),
            id="reopened",
        ),
        pytest.param(
            {"state": OPEN},
            {"state": CLOSED, "is_base_deleted": True},
            (feedback("state", "OPEN", "CLOSED", "base_deleted"),),
            id="closed because the base went away",
        ),
        pytest.param(
            {"state": OPEN},
            {"state": MERGED, "is_base_deleted": True},
            (feedback("state", "OPEN", "MERGED"),),
            id="a stacked base that is deleted after the merge is no reason",
        ),
        pytest.param(
            {"is_draft": True},
            {"is_draft": False},
            (feedback("is_draft", True, False),),
            id="ready",
        ),
        pytest.param(
            {"review": ReviewState.CHANGES_REQUESTED},
            {"review": ReviewState.NONE},
            (feedback("review", "changes_requested", "none"),),
            id="G1 dismissed",
        ),
        pytest.param(
            {"review_decision": ReviewDecision.REVIEW_REQUIRED},
            {"review_decision": None},
            (feedback("review_decision", "REVIEW_REQUIRED", None),),
            id="no review is required any more",
        ),
        pytest.param(
            {"mergeable": Mergeable.MERGEABLE},
            {"mergeable": Mergeable.CONFLICTING},
            (feedback("mergeable", "MERGEABLE", "CONFLICTING"),),
            id="H5 a conflict",
        ),
        pytest.param(
            {"merge_queue": False},
            {"merge_queue": True},
            (feedback("merge_queue", False, True),),
            id="queued",
        ),
        pytest.param(
            {"auto_merge": True},
            {"auto_merge": False},
            (feedback("auto_merge", True, False),),
            id="disarmed",
        ),
        pytest.param(
            {"is_archived": False},
            {"is_archived": True},
            (quiet("archived", False, True),),
            id="E5 archived",
        ),
        pytest.param(
            {"comment_mark": make_mark()},
            {"comment_mark": make_mark(-9)},
            (feedback("comments", None, format_time(at(-9))),),
            id="the first comment",
        ),
        pytest.param(
            {"comment_mark": make_mark(-9)},
            {"comment_mark": make_mark(-60, -9)},
            (feedback("comments", format_time(at(-9)), format_time(at(-9))),),
            id="I9 a comment that appears behind a newer one",
        ),
        pytest.param(
            {"updated_at": at(-60)},
            {"updated_at": at(-59)},
            (quiet("activity", format_time(at(-60)), format_time(at(-59))),),
            id="activity alone",
        ),
        pytest.param(
            {"updated_at": at(-60), "is_draft": True},
            {"updated_at": at(-59), "is_draft": False},
            (feedback("is_draft", True, False),),
            id="activity beside something else is not told",
        ),
        pytest.param(
            {"head_ref_oid": "a", "checks": SUCCESS},
            {"head_ref_oid": "b", "checks": NONE},
            (
                feedback("checks", "success", "none"),
                feedback("head_ref_oid", "a", "b"),
            ),
            id="F25 a push",
        ),
        pytest.param(
            {"head_ref_oid": "a", "checks": NONE},
            {"head_ref_oid": "b", "checks": NONE},
            (feedback("head_ref_oid", "a", "b"),),
            id="a push before any check",
        ),
        pytest.param(
            {"checks": PENDING, "review": ReviewState.PENDING, "auto_merge": True},
            {
                "checks": SUCCESS,
                "review": ReviewState.APPROVED,
                "state": MERGED,
            },
            (
                feedback("state", "OPEN", "MERGED"),
                feedback("checks", "pending", "success"),
                feedback("review", "pending", "approved"),
                feedback("auto_merge", True, False),
            ),
            id="everything at once, in the order of the fields",
        ),
    ],
)
def test_what_differs_is_told(before, after, changes):
    assert compare_fields(before, after) == changes


@pytest.mark.parametrize(
    "field",
    [
        "checks",
        "review",
        "review_decision",
        "mergeable",
        "merge_queue",
        "auto_merge",
        "is_archived",
        "comment_mark",
    ],
)
def test_a_field_that_was_not_read_is_no_change(field):
    known = {
        "checks": FAILURE,
        "review": ReviewState.APPROVED,
        "review_decision": ReviewDecision.APPROVED,
        "mergeable": Mergeable.CONFLICTING,
        "merge_queue": True,
        "auto_merge": True,
        "is_archived": True,
        "comment_mark": make_mark(-9),
    }
    unread = known | {field: UNOBSERVED}

    assert compare_fields(known, unread) == ()
    assert compare_fields(unread, known) == ()


@pytest.mark.parametrize(
    "unimportant",
    [
        {"title": "Say hello again"},
        {"author": None},
        {"head_repository_id": None},
        {"unresolved_threads": 3},
        {"requested_reviewers": 3},
        {"approvals": 3},
        {"checks_notes": ("failed: other",)},
        {"settles_at": NOON},
        {"merged_by": "mona"},
        {"head_ref_oid": ""},
    ],
    ids=str,
)
def test_nothing_else_makes_a_change(unimportant):
    assert compare_fields({}, unimportant) == ()


def test_mergeable_that_passes_through_unknown_is_no_change():
    """H5, H7: GitHub computes it anew after each push to the base."""
    story = Story(mergeable=Mergeable.MERGEABLE)

    assert story.read(60, mergeable=UNOBSERVED) == ()
    assert story.read(120, mergeable=Mergeable.MERGEABLE) == ()
    assert story.read(180, mergeable=UNOBSERVED) == ()
    assert story.read(240, mergeable=Mergeable.CONFLICTING) == (
        feedback("mergeable", "MERGEABLE", "CONFLICTING"),
    )


def test_a_rollup_that_turns_null_on_an_unchanged_head_is_no_change():
    assert compare_fields({"checks": SUCCESS}, {"checks": NONE}) == ()


def test_checks_that_cannot_be_read_yet_on_a_new_head_are_none():
    """F14: the old head's verdict is not the new one's."""
    story = Story(head_ref_oid="a", checks=SUCCESS)

    assert story.read(60, head_ref_oid="b", checks=UNOBSERVED) == (
        feedback("checks", "success", "none"),
        feedback("head_ref_oid", "a", "b"),
    )
    assert story.read(75, checks=SUCCESS) == (feedback("checks", "none", "success"),)


def test_a_push_before_checks_were_ever_read_tells_the_head_alone():
    assert compare_fields(
        {"head_ref_oid": "a", "checks": UNOBSERVED},
        {"head_ref_oid": "b", "checks": UNOBSERVED},
    ) == (feedback("head_ref_oid", "a", "b"),)


def test_a_stale_reading_is_dropped_whole():
    """F22: what a lagging replica says is corrected by the next reading."""
    assert compare_fields({}, {"updated_at": at(-61), "state": CLOSED}) == ()


def test_a_stale_reading_that_is_believed_is_compared():
    stale = {"updated_at": at(-61), "state": CLOSED}

    assert compare_fields({}, stale, is_reading_believed=True) == (
        feedback("state", "OPEN", "CLOSED"),
    )
    assert compare_fields({}, {"updated_at": at(-61)}, is_reading_believed=True) == ()


@pytest.mark.parametrize("state", [OPEN, CLOSED])
def test_merged_is_final_even_against_a_reading_that_is_believed(state):
    """H8: a list shows a merged pull request as open for hours."""
    lagging = {"state": state, "updated_at": at(0), "checks": FAILURE}

    assert compare_fields({"state": MERGED}, lagging) == ()
    assert compare_fields({"state": MERGED}, lagging, is_reading_believed=True) == ()


def test_what_happened_during_an_outage_is_told_once_each():
    """I8: stop, fail, review and merge, start."""
    story = Story(checks=PENDING)

    assert story.read(
        36000,
        state=MERGED,
        checks=FAILURE,
        review=ReviewState.APPROVED,
        updated_at=at(35000),
    ) == (
        feedback("state", "OPEN", "MERGED"),
        feedback("checks", "pending", "failure"),
        feedback("review", "none", "approved"),
    )
    assert story.read(36060) == ()


def test_two_comments_of_one_second_are_each_told_once():
    """G7: the second one appears only after the poll."""
    first, second = (
        make_mark(-5).items[0],
        replace(make_mark(-5).items[0], node_id="IC_other"),
    )
    story = Story()

    assert len(story.read(0, comment_mark=make_mark(-5))) == 1
    both = replace(make_mark(), items=tuple(sorted((first, second))))
    assert len(story.read(15, comment_mark=both)) == 1
    assert story.read(30) == ()


def test_a_comparison_without_settling_is_the_same_but_for_flaps():
    zero = dt.timedelta(0)

    assert compare(
        make_watermark(checks=PENDING), make_observation(checks=SUCCESS), settle=zero
    ) == (feedback("checks", "pending", "success"),)
