import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.check_runs import CONCLUSIONS, STATUS_STATES
from prwatch.domain.explanation import explain_checks
from prwatch.domain.pull_request import ChecksState, CommentItem
from prwatch.domain.verdict import (
    CheckRun,
    Review,
    StatusContext,
    build_comment_mark,
    combine_states,
    decide_checks,
    decide_review,
)
from tests.readings import SETTLE, at

times = st.integers(-60, 5).map(at)

runs = st.builds(
    CheckRun,
    name=st.sampled_from(["build", "lint", "${{ matrix.x }}"]),
    app=st.sampled_from(["", "actions"]),
    suite_id=st.sampled_from(["1", "2"]),
    workflow=st.sampled_from(["", "CI"]),
    event=st.sampled_from(["", "push"]),
    status=st.sampled_from(["COMPLETED", "QUEUED", "ODD"]),
    conclusion=st.sampled_from([None, "", "ODD", *CONCLUSIONS]),
    started_at=st.none() | times,
    completed_at=st.none() | times,
    database_id=st.integers(0, 3),
)
statuses = st.builds(
    StatusContext,
    context=st.sampled_from(["ci", "docs"]),
    state=st.sampled_from([*STATUS_STATES, "ODD"]),
    created_at=st.none() | times,
)
reviews = st.builds(
    Review,
    author=st.sampled_from([None, "mona", "hubot"]),
    state=st.sampled_from(
        ["APPROVED", "CHANGES_REQUESTED", "DISMISSED", "COMMENTED", "PENDING"]
    ),
    submitted_at=st.none() | times,
    node_id=st.sampled_from(["", "PRR_1", "PRR_2"]),
)


def decide(some_runs, some_statuses, settle=SETTLE, seconds=0):
    return decide_checks(
        some_runs, some_statuses, observed_at=at(seconds), settle=settle
    )


@given(st.lists(runs, max_size=8), st.lists(statuses, max_size=4), st.data())
def test_the_order_of_checks_does_not_matter(some_runs, some_statuses, data):
    shuffled_runs = data.draw(st.permutations(some_runs))
    shuffled_statuses = data.draw(st.permutations(some_statuses))

    assert decide(some_runs, some_statuses) == decide(shuffled_runs, shuffled_statuses)


@given(st.lists(runs, max_size=8), st.lists(statuses, max_size=4))
def test_a_check_that_is_listed_twice_counts_once(some_runs, some_statuses):
    assert decide(some_runs, some_statuses) == decide(some_runs * 2, some_statuses * 2)


@given(st.lists(runs, max_size=8), st.lists(statuses, max_size=4))
def test_an_explanation_has_every_check_and_comes_to_the_verdict(
    some_runs, some_statuses
):
    explained = explain_checks(some_runs, some_statuses)
    verdict = decide(some_runs, some_statuses, settle=dt.timedelta(0))

    assert len(explained) == len(some_runs) + len(some_statuses)
    assert combine_states([each.state for each in explained if each.counts]) == (
        verdict.state
    )


@given(st.lists(runs, max_size=8), st.lists(statuses, max_size=4))
def test_settling_delays_a_success_and_nothing_else(some_runs, some_statuses):
    at_once = decide(some_runs, some_statuses, settle=dt.timedelta(0))
    now = decide(some_runs, some_statuses)

    if now.settles_at is None:
        assert now == at_once
    else:
        assert at_once.state is ChecksState.SUCCESS
        assert now.state is ChecksState.PENDING
        later = (now.settles_at - at(0)).total_seconds()
        assert later > 0
        assert decide(some_runs, some_statuses, seconds=later) == at_once


@given(st.lists(reviews, max_size=8), st.integers(0, 2), st.data())
def test_the_order_of_reviews_does_not_matter(some_reviews, requested, data):
    shuffled = data.draw(st.permutations(some_reviews))

    assert decide_review(some_reviews, requested=requested) == decide_review(
        shuffled, requested=requested
    )


@given(
    st.lists(
        st.builds(
            CommentItem,
            created_at=st.integers(-300, 0).map(at),
            node_id=st.integers(0, 40).map(str),
        ),
        max_size=40,
    ),
    st.data(),
)
def test_a_mark_is_bounded_and_the_same_in_any_order(items, data):
    mark = build_comment_mark(items)

    assert len(mark.items) <= 20
    assert mark == build_comment_mark(data.draw(st.permutations(items)))
    assert mark == build_comment_mark(mark.items)
    assert mark.newest_at == max((item.created_at for item in items), default=None)
