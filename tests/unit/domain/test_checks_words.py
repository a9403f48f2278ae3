"""The words for checks: one row a state of the world."""

import datetime as dt

import pytest

from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.checks_words import GRACE, RULES, STATES, ChecksWord, tell_checks
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, PullRequestState
from tests.readings import FAILURE, NONE, PENDING, SUCCESS, at, make_observation

YOUNG, OLD = at(-89), at(-3 * 3600)


def name(state, *names):
    return tuple(NamedCheck(name=each, said="", state=state) for each in names)


def tell(checks, summary=None, *, is_live=True, bare_since=YOUNG, refusal="", **fields):
    observation = make_observation(
        checks=checks, checks_summary=summary and ChecksSummary(**summary), **fields
    )
    return tell_checks(
        Known(
            observation=observation,
            now=at(0),
            is_live=is_live,
            bare_since=bare_since,
            unreadable={"checks": refusal} if refusal else {},
        )
    )


@pytest.mark.parametrize(
    ("checks", "summary", "word", "text"),
    [
        pytest.param(
            SUCCESS, {"total": 8}, "passed", "all 8 passed", id="everything passed"
        ),
        pytest.param(SUCCESS, None, "passed", "passed", id="passed, uncounted"),
        pytest.param(
            SUCCESS,
            {"total": 2, "ignored": 1},
            "passed",
            "all 2 passed; 1 ignored (unexpanded matrix name)",
            id="an unexpanded matrix name",
        ),
        pytest.param(
            FAILURE,
            {"total": 8, "failing": 2, "named": name(FAILURE, "build", "lint")},
            "failed",
            "2 of 8 failed: build, lint",
            id="failed",
        ),
        pytest.param(
            FAILURE,
            {"total": 9, "failing": 5, "named": name(FAILURE, "a", "b", "c", "d")},
            "failed",
            "5 of 9 failed: a, b, c and 2 more",
            id="many failed",
        ),
        pytest.param(
            FAILURE,
            {"total": 4, "failing": 2, "unapproved": 1, "pending": 2},
            "failed",
            "2 of 4 failed; 1 of them for want of approval; 2 running",
            id="failed, unapproved and running",
        ),
        pytest.param(
            FAILURE,
            {"total": 4, "failing": 1, "required": 2},
            "failed",
            "1 of 4 failed; none of them required",
            id="only optional ones failed",
        ),
        pytest.param(
            FAILURE,
            {"total": 4, "failing": 2, "required": 2, "required_failing": 1},
            "failed",
            "2 of 4 failed; 1 of them required",
            id="a required one failed",
        ),
        pytest.param(FAILURE, None, "failed", "failed", id="failed, uncounted"),
        pytest.param(
            FAILURE,
            {
                "total": 3,
                "failing": 1,
                "unapproved": 1,
                "named": name(FAILURE, "test"),
            },
            "needs_approval",
            "1 of 3 needs approval: test",
            id="needs approval",
        ),
        pytest.param(
            FAILURE,
            {"total": 3, "failing": 2, "unapproved": 2, "pending": 1},
            "needs_approval",
            "2 of 3 need approval; 1 running",
            id="two need approval",
        ),
        pytest.param(
            PENDING,
            {"total": 8, "pending": 2, "named": name(PENDING, "lint", "test")},
            "running",
            "running 2 of 8: lint, test",
            id="running",
        ),
        pytest.param(PENDING, None, "running", "running", id="running, uncounted"),
        pytest.param(
            PENDING, {}, "running", "running", id="a state without any context"
        ),
        pytest.param(
            PENDING,
            {
                "total": 3,
                "pending": 1,
                "required": 2,
                "named": name(PENDING, "docs"),
            },
            "optional_running",
            "required green, 1 optional running: docs",
            id="optional running",
        ),
        pytest.param(
            PENDING,
            {"total": 3, "pending": 2, "required": 2, "required_pending": 1},
            "running",
            "running 2 of 3",
            id="a required one runs too",
        ),
        pytest.param(
            PENDING,
            {"total": 3, "pending": 1, "required": 0},
            "running",
            "running 1 of 3",
            id="nothing is required",
        ),
        pytest.param(
            PENDING,
            {"total": 3, "pending": 1, "required": 2, "is_expecting": True},
            "running",
            "running 1 of 3",
            id="optional running, required expected",
        ),
        pytest.param(
            PENDING,
            {
                "total": 3,
                "pending": 1,
                "unreported": 1,
                "named": name(PENDING, "ci/lint"),
            },
            "required_not_reported",
            "required but not reported: ci/lint",
            id="an expected status",
        ),
        pytest.param(
            PENDING,
            {"total": 3, "is_expecting": True},
            "required_not_reported",
            "required but not reported",
            id="green, and GitHub expects more",
        ),
        pytest.param(
            PENDING,
            {"total": 3, "pending": 1, "stale": 1, "named": name(PENDING, "old")},
            "stale",
            "1 stale: old",
            id="stale",
        ),
        pytest.param(
            PENDING, {"total": 3}, "settling", "all 3 passed, settling", id="settling"
        ),
        pytest.param(UNOBSERVED, None, "not_read", "not read", id="not read"),
        pytest.param(
            UNOBSERVED,
            {"unread": "the checks that GitHub shows are another commit's"},
            "not_read",
            "the checks that GitHub shows are another commit's",
            id="another commit's",
        ),
        pytest.param(
            UNOBSERVED,
            {"unread": "no access", "is_refused": True},
            "unreadable",
            "unreadable with this token: no access",
            id="refused",
        ),
        pytest.param(
            NONE,
            {"unread": "no access", "is_refused": True},
            "unreadable",
            "unreadable with this token: no access",
            id="refused for a new head",
        ),
        pytest.param(
            NONE,
            {"unread": "another commit's"},
            "not_read",
            "another commit's",
            id="not read for a new head",
        ),
        pytest.param(
            NONE,
            None,
            "not_yet_registered",
            "not yet registered, after 1 min 29 s",
            id="a young head without checks",
        ),
    ],
)
def test_the_checks_are_told_in_words(checks, summary, word, text):
    phrase = tell(checks, summary)

    assert phrase.as_json() == {"word": word, "text": text}


@pytest.mark.parametrize(
    ("fields", "word", "text"),
    [
        pytest.param(
            {"bare_since": at(0) - GRACE},
            "none_reported",
            "no check was reported in 10 min",
            id="the grace is over",
        ),
        pytest.param(
            {"bare_since": None, "observed_at": OLD},
            "none_reported",
            "no check was reported in 3 h",
            id="known since it was read",
        ),
        pytest.param(
            {"bare_since": at(5)},
            "not_yet_registered",
            "not yet registered, after 0 s",
            id="a clock that is ahead",
        ),
        pytest.param(
            {"state": PullRequestState.CLOSED},
            "never_reported",
            "no check was ever reported",
            id="closed",
        ),
    ],
)
def test_no_checks_mean_something_else_after_a_while(fields, word, text):
    assert tell(NONE, **fields).as_json() == {"word": word, "text": text}


def test_numbers_from_the_store_are_told_with_their_age():
    told = tell(
        PENDING, {"total": 8, "pending": 2}, is_live=False, observed_at=at(-240)
    )

    assert told.text == "running 2 of 8, as of 4 min ago"


def test_what_an_earlier_token_read_is_not_told_as_current():
    told = tell(
        FAILURE, {"total": 1, "failing": 1}, refusal="unreadable", observed_at=OLD
    )
    unknown = tell(UNOBSERVED, refusal="unreadable since then")

    assert told.as_json() == {
        "word": "unreadable",
        "text": "unreadable; last known failure, 3 h ago",
    }
    assert unknown.text == "unreadable since then"


def test_every_word_and_every_verdict_has_its_place():
    assert set(STATES) == set(ChecksWord)
    assert set(RULES) == set(ChecksState)


def test_the_grace_is_longer_than_a_busy_queue_of_jobs():
    assert dt.timedelta(seconds=90) <= GRACE <= dt.timedelta(minutes=10)
