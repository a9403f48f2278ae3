import datetime as dt
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.comments import build_comment_mark
from prwatch.domain.compare import (
    advance,
    compare,
    flap_due_at,
    is_stale,
    merge_observations,
)
from prwatch.domain.events import ChangeField
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    Mergeable,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from tests.readings import SETTLE, at, make_comment, make_observation

OBSERVED_FIELDS = (
    "merged_by",
    "is_archived",
    "is_base_deleted",
    "checks",
    "review",
    "review_decision",
    "mergeable",
    "merge_queue",
    "auto_merge",
    "unresolved_threads",
    "requested_reviewers",
    "approvals",
    "comment_mark",
)

marks = st.sets(st.integers(-300, -1), max_size=30).map(
    lambda seconds: build_comment_mark(make_comment(second) for second in seconds)
)


def maybe(values):
    return st.one_of(st.just(UNOBSERVED), values)


def observations(wrap=maybe):
    return st.builds(
        make_observation,
        observed_at=st.integers(0, 120).map(at),
        state=st.sampled_from(PullRequestState),
        updated_at=st.integers(-5, 0).map(at),
        is_draft=st.booleans(),
        head_ref_oid=st.sampled_from(["a", "b"]),
        merged_by=wrap(st.sampled_from([None, "mona"])),
        is_archived=wrap(st.booleans()),
        is_base_deleted=wrap(st.booleans()),
        checks=wrap(st.sampled_from(ChecksState)),
        review=wrap(st.sampled_from(ReviewState)),
        review_decision=wrap(st.sampled_from([None, *ReviewDecision])),
        mergeable=wrap(st.sampled_from(Mergeable)),
        merge_queue=wrap(st.booleans()),
        auto_merge=wrap(st.booleans()),
        unresolved_threads=wrap(st.integers(0, 3)),
        requested_reviewers=wrap(st.integers(0, 3)),
        approvals=wrap(st.integers(0, 3)),
        comment_mark=wrap(marks),
    )


settles = st.sampled_from([dt.timedelta(0), SETTLE])


def replay(readings, settle):
    """Return the watermark after all readings, and the changes of each."""
    watermark, told = None, []
    for reading in readings:
        changes = compare(watermark, reading, settle=settle)
        watermark = advance(watermark, reading, changes)
        told.append(changes)
    return watermark, told


@given(st.lists(observations(), min_size=1, max_size=8), settles)
def test_what_was_committed_is_no_change_any_more(readings, settle):
    watermark, _ = replay(readings, settle)
    last = readings[-1]

    again = compare(watermark, last, settle=settle)

    if flap_due_at(watermark, settle=settle) is None:
        assert again == ()
    else:
        assert {change.field for change in again} <= {ChangeField.CHECKS}
        told = advance(watermark, last, again)
        assert compare(told, last, settle=settle) == ()


@given(st.lists(observations(), min_size=1, max_size=8), settles)
def test_the_same_readings_tell_the_same(readings, settle):
    assert replay(readings, settle) == replay(readings, settle)


@given(st.lists(observations(), min_size=1, max_size=8), settles)
def test_without_changes_a_watermark_that_knows_all_is_left_alone(readings, settle):
    watermark, _ = replay(readings, settle)
    last = readings[-1]
    changes = compare(watermark, last, settle=settle)

    if not changes:
        assert advance(watermark, last, changes) is watermark


@given(observations(st.one_of), observations(st.one_of))
def test_of_two_readings_that_differ_one_at_least_is_told(one, other):
    """Were neither told after the other, they would be one state to the product."""
    first = compare(advance(None, one, ()), other, settle=SETTLE)
    second = compare(advance(None, other, ()), one, settle=SETTLE)

    if not first and not second:
        same = replace(
            other,
            **{
                name: getattr(one, name)
                for name in (
                    "observed_at",
                    "merged_by",
                    "is_base_deleted",
                    "unresolved_threads",
                    "requested_reviewers",
                    "approvals",
                )
            },
        )
        # A rollup that turned null, and comments that are gone, say nothing.
        for name in ("checks", "comment_mark"):
            same = replace(same, **{name: getattr(one, name)})
        assert same == one or is_stale(advance(None, one, ()), other)


@given(observations(), observations())
def test_two_readings_never_follow_each_other_as_activity(one, other):
    """An update time moves forward: of two orders one at most is activity."""
    activities = [
        change
        for before, after in ((one, other), (other, one))
        for change in compare(advance(None, before, ()), after, settle=SETTLE)
        if change.field is ChangeField.ACTIVITY
    ]

    assert len(activities) <= 1


@given(
    observations(),
    observations(),
    st.sets(st.sampled_from(OBSERVED_FIELDS)),
    settles,
)
def test_what_was_not_read_never_changes(before, after, unread, settle):
    after = replace(after, **dict.fromkeys(unread, UNOBSERVED))
    watermark = advance(None, before, ())

    changes = compare(watermark, after, settle=settle)
    moved = advance(watermark, after, changes)

    told = {change.field.value for change in changes}
    silent = unread - {"checks"} if "head_ref_oid" in told else unread
    assert told.isdisjoint(silent)
    for field in fields(watermark):
        if field.name in silent:
            assert getattr(moved, field.name) == getattr(watermark, field.name)


@given(observations(st.one_of), st.data())
def test_parts_of_one_reading_merge_in_any_order(whole, data):
    parts = [
        replace(
            whole,
            observed_at=at(data.draw(st.integers(0, 60))),
            **dict.fromkeys(
                data.draw(st.sets(st.sampled_from(OBSERVED_FIELDS))), UNOBSERVED
            ),
        )
        for _ in range(4)
    ]

    def merge(ordered):
        merged = ordered[0]
        for part in ordered[1:]:
            merged = merge_observations(merged, part)
        return merged

    assert merge(parts) == merge(data.draw(st.permutations(parts)))


@given(observations(), observations())
def test_merging_with_itself_or_again_changes_nothing(stored, new):
    merged = merge_observations(stored, new)

    assert merge_observations(stored, stored) == stored
    assert merge_observations(merged, new) == merged


@given(st.lists(observations(), min_size=1, max_size=8), settles)
def test_the_stored_reading_agrees_with_the_watermark(readings, settle):
    watermark, stored = None, None
    for reading in readings:
        changes = compare(watermark, reading, settle=settle)
        if changes:
            stored = reading if stored is None else merge_observations(stored, reading)
        watermark = advance(watermark, reading, changes)
    learnt = {
        field.name
        for field in fields(watermark)
        if hasattr(stored, field.name)
        and getattr(stored, field.name) is not UNOBSERVED
        and field.name != "observed_at"
    }

    assert {name: getattr(watermark, name) for name in learnt} == {
        name: getattr(stored, name) for name in learnt
    }


@given(st.lists(observations(), min_size=1, max_size=8), settles)
def test_a_merge_is_never_taken_back(readings, settle):
    watermark, told = replay(readings, settle)
    states = [
        change.current
        for changes in told
        for change in changes
        if change.field is ChangeField.STATE
    ]

    assert states.count("MERGED") <= 1
    if "MERGED" in states:
        assert states[-1] == "MERGED"
        assert watermark.state is PullRequestState.MERGED
