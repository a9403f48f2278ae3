"""Words say more than the verdict, and never something else."""

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.checks_words import STATES, ChecksWord
from prwatch.domain.merge_progress import MergeProgress
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED, Mergeable, ReviewState
from prwatch.domain.verdict import decide_checks
from prwatch.domain.verdict_words import MergeWord, Need, ReviewWord, tell
from tests.property.test_compare import observations
from tests.property.test_verdict import runs, statuses
from tests.readings import SETTLE, at

counts = st.integers(0, 9)
moments = st.none() | st.integers(-9000, 9).map(at)
summaries = st.none() | st.builds(
    ChecksSummary,
    total=counts,
    failing=counts,
    pending=counts,
    unapproved=counts,
    stale=counts,
    unreported=counts,
    required=st.none() | counts,
    required_failing=counts,
    required_pending=counts,
    is_expecting=st.booleans(),
    unread=st.sampled_from(["", "no access"]),
    is_refused=st.booleans(),
)
known = st.builds(
    Known,
    observation=st.builds(
        lambda seen, summary: seen.__class__(
            **{
                **{name: getattr(seen, name) for name in seen.__slots__},
                "checks_summary": summary,
            }
        ),
        observations(),
        summaries,
    ),
    now=st.integers(0, 9000).map(at),
    is_live=st.booleans(),
    bare_since=moments,
    progress=st.builds(MergeProgress, ready_since=moments, queue_left_at=moments),
    mergeable_unknown_since=moments,
    unreadable=st.sampled_from([{}, {"checks": "unreadable"}, {"review": "no"}]),
)

REVIEWS = {
    ReviewWord.NOT_READ: {UNOBSERVED},
    ReviewWord.NONE: {ReviewState.NONE},
    ReviewWord.REQUIRED: {ReviewState.NONE},
    ReviewWord.WAITING: {ReviewState.PENDING},
    ReviewWord.APPROVED: {ReviewState.APPROVED},
    ReviewWord.MORE_REQUIRED: {ReviewState.APPROVED},
    ReviewWord.CHANGES_REQUESTED: {ReviewState.CHANGES_REQUESTED},
}
FAILURE_NEEDS = {Need.FAILING, Need.APPROVAL}


@given(known)
def test_no_word_contradicts_the_verdict(some):
    words, seen = tell(some), some.observation

    assert seen.checks in STATES[ChecksWord(words.checks.word)]
    assert seen.review in REVIEWS[ReviewWord(words.review.word)]
    assert (words.merge.word is MergeWord.MERGED) == (seen.state == "MERGED")
    assert (words.merge.word is MergeWord.CLOSED) == (seen.state == "CLOSED")
    if words.merge.word is MergeWord.CONFLICTING:
        assert seen.mergeable is Mergeable.CONFLICTING
    if words.merge.word is MergeWord.MERGEABLE:
        assert seen.mergeable is Mergeable.MERGEABLE
    if words.merge.word is MergeWord.QUEUED:
        assert seen.merge_queue is True


@given(known)
def test_a_failure_that_can_be_read_is_the_first_need_of_an_open_pull_request(some):
    need, seen = tell(some).need, some.observation

    assert (need is Need.FINISHED) == seen.is_final
    if not seen.is_final:
        is_red = seen.checks == "failure" and "checks" not in some.unreadable
        assert (need in FAILURE_NEEDS) == is_red


@given(known)
def test_every_text_says_something(some):
    words = tell(some)

    assert all((words.checks.text, words.review.text, words.merge.text))


@given(st.lists(runs, max_size=8), st.lists(statuses, max_size=4), st.data())
def test_numbers_agree_with_the_verdict_in_any_order(some_runs, some_statuses, data):
    def decide(settle=dt.timedelta(0), *, shuffle=False):
        first, second = some_runs, some_statuses
        if shuffle:
            first = data.draw(st.permutations(first))
            second = data.draw(st.permutations(second))
        return decide_checks(first, second, observed_at=at(0), settle=settle)

    verdict = decide()
    summary = verdict.summary

    assert summary == decide(SETTLE, shuffle=True).summary
    assert summary.running >= 0
    assert summary.has_passed == (verdict.state == "success")
    assert bool(summary.failing) == (verdict.state == "failure")
    if verdict.state == "pending":
        assert summary.pending
