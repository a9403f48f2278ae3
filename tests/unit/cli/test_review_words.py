"""What a dry run and a failure say to people: readable times, and what comes next."""

import pytest

from prwatch.cli.review_words import (
    WORDS,
    tell_evidence,
    tell_failure,
    tell_finding,
)
from prwatch.domain.review_cleanup import Keep, Stand

MERGED = {"state": "MERGED", "merged_at": "2026-11-30T12:00:00.123456Z"}
UNTIL = "2026-11-30T12:05:00.000001Z"
REFUSED = "review:octo/hello#1 in acme was not looked at: the token is refused"
REST = ("deleted", "gone", "skipped", "failed", "changed")


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")


def make_finding(verdict, **changes):
    values = {
        "task": "review:octo/hello#1",
        "workspace": "acme",
        "verdict": verdict,
        "evidence": {},
        "reason": "",
        "until": None,
    }
    return {**values, **changes}


def test_each_verdict_has_words():
    verdicts = {*(each.value for each in Keep), *(each.value for each in Stand), *REST}

    assert verdicts - {"done"} == WORDS.keys()


@pytest.mark.parametrize("verdict", ["seen_done", "grace"])
def test_what_is_done_says_after_when_it_may_go(verdict):
    told = tell_finding(make_finding(verdict, evidence=MERGED, until=UNTIL))

    assert told == (
        "review:octo/hello#1 in acme is done (MERGED 2026-11-30 12:00:00 UTC); it goes"
        " when one more look after 2026-11-30 12:05:00 UTC shows the same"
    )


def test_what_failed_says_until_when_it_is_not_asked_again():
    told = [
        tell_finding(make_finding("skipped", reason="the token is refused", until=end))
        for end in (UNTIL, None)
    ]

    assert told == [
        f"{REFUSED}; not asked again before 2026-11-30 12:05:00 UTC",
        REFUSED,
    ]


def test_a_failure_names_what_it_is_of():
    failure = {"reference": "", "workspace": "acme", "message": "refused", "remedy": ""}

    assert tell_failure(failure) == "acme: refused"
    assert tell_failure({**failure, "reference": "octo/hello#1"}) == (
        "octo/hello#1 in acme: refused"
    )
    assert tell_failure({**failure, "workspace": ""}) == "refused"
    assert tell_failure({**failure, "remedy": "renew it"}) == "acme: refused; renew it"


def test_what_is_no_time_stays_as_it_is():
    assert tell_evidence({"a": "APPROVED", "b": 5, "c": "2026-11-30"}) == (
        "APPROVED 5 2026-11-30"
    )
