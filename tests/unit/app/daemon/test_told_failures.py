"""What of a sweep's failures is new, what stays, and what ended."""

import pytest

from prwatch.app.cleanup.report import CleanupReport, Finding
from prwatch.app.daemon.told_failures import ToldFailures
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass

ONE = "octo/hello#1"


def make_failure(reference=ONE, code="not_found", failure_class=FailureClass.CONFIG):
    return Failure(
        workspace="acme",
        scope="review",
        reference=reference,
        failure_class=failure_class,
        code=code,
        message=code,
    )


def make_report(*failures, swept=("acme",), **verdicts):
    """Build a report; `verdicts` are those of tasks: `one`, `two`."""
    numbers = {"one": 1, "two": 2}
    findings = [
        Finding(
            workspace="acme",
            task=f"review:octo/hello#{numbers[name]}",
            reference=f"octo/hello#{numbers[name]}",
            verdict=verdict,
        )
        for name, verdict in verdicts.items()
    ]
    return CleanupReport(failures=[*failures], findings=findings, swept=set(swept))


@pytest.fixture
def told():
    return ToldFailures()


def test_a_failure_is_new_once_and_again_for_another_reason(told):
    first, other = make_failure(), make_failure(code="forbidden")

    assert told.take(make_report(first, one="failed")) == ([first], [])
    assert told.take(make_report(first, one="failed")) == ([], [])
    assert told.take(make_report(other, one="failed")) == ([other], [])


@pytest.mark.parametrize("report", [{"one": "skipped"}, {"swept": ()}])
def test_what_is_left_out_neither_ended_nor_begins_anew(told, report):
    first = make_failure()
    told.take(make_report(first, one="failed"))

    assert told.take(make_report(**report)) == ([], [])
    assert told.take(make_report(first, one="failed")) == ([], [])
    assert told.take(make_report(one="open")) == ([], [first])


@pytest.mark.parametrize("report", [{}, {"one": "person_wrote"}, {"one": "gone"}])
def test_what_nobody_asks_about_any_more_is_forgotten_in_silence(told, report):
    first = make_failure()
    told.take(make_report(first, one="failed"))

    assert told.take(make_report(**report)) == ([], [])
    assert told.take(make_report(first, one="failed")) == ([first], [])


@pytest.mark.parametrize(
    ("verdicts", "is_over"),
    [
        ({"one": "skipped", "two": "skipped"}, False),
        ({"one": "skipped", "two": "policy_never"}, False),
        ({"one": "skipped", "two": "grace"}, True),
        ({"one": "failed", "two": "skipped"}, True),
    ],
)
def test_a_workspace_recovers_once_a_request_is_answered(told, verdicts, is_over):
    whole = make_failure(reference="", code="auth_failed")
    told.take(make_report(whole, one="skipped", two="skipped"))

    assert told.take(make_report(**verdicts)) == ([], [whole] if is_over else [])


def test_limits_are_told_elsewhere(told):
    limit = make_failure(reference="", failure_class=FailureClass.LIMIT)

    assert told.take(make_report(limit, one="skipped")) == ([], [])


def test_a_workspace_that_is_gone_is_forgotten(told):
    first = make_failure()
    told.take(make_report(first, one="failed"))
    told.keep_workspaces({"two"})

    assert told.take(make_report(first, one="failed")) == ([first], [])


def test_the_record_is_nobodys_workspace(told):
    record = Failure(
        workspace="",
        scope="review",
        reference="",
        failure_class=FailureClass.TRANSIENT,
        code="store_failed",
        message="full",
    )
    told.take(make_report(record))
    told.keep_workspaces({"acme"})

    assert told.take(make_report(record)) == ([], [])
    assert told.take(make_report()) == ([], [])
    assert told.take(make_report(record)) == ([record], [])
