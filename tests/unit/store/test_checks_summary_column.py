from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.pull_request import ChecksState
from prwatch.store.checks_summary_column import (
    from_checks_summary,
    to_checks_summary,
)
from tests.readings import at

counts = st.integers(0, 300)
names = st.builds(
    NamedCheck,
    name=st.text(max_size=9),
    said=st.sampled_from(["failed", "in progress"]),
    state=st.sampled_from(ChecksState),
    app=st.sampled_from(["", "actions"]),
    since=st.none() | st.integers(-9, 9).map(at),
    is_required=st.none() | st.booleans(),
)
summaries = st.builds(
    ChecksSummary,
    total=counts,
    failing=counts,
    pending=counts,
    unapproved=counts,
    stale=counts,
    unreported=counts,
    ignored=counts,
    required=st.none() | counts,
    required_failing=counts,
    required_pending=counts,
    is_expecting=st.booleans(),
    named=st.lists(names, max_size=3).map(tuple),
    unread=st.text(max_size=9),
    is_refused=st.booleans(),
)


@given(st.none() | summaries)
def test_a_summary_survives_the_way_into_a_column_and_back(summary):
    assert from_checks_summary(to_checks_summary(summary)) == summary


def test_what_says_nothing_takes_no_place():
    assert to_checks_summary(ChecksSummary(total=3)) == '{"total":3}'
    assert to_checks_summary(None) is None
