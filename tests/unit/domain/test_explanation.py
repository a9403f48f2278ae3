import pytest

from prwatch.domain.explanation import (
    CheckKind,
    ExplainedCheck,
    Standing,
    explain_checks,
)
from prwatch.domain.verdict import CheckRun, StatusContext
from tests.readings import FAILURE, PENDING, SUCCESS, at


def make_run(name="build", conclusion="SUCCESS", **fields):
    values = {
        "app": "github-actions",
        "workflow": "CI",
        "event": "push",
        "status": "COMPLETED",
        "started_at": at(0),
        "completed_at": at(60) if conclusion else None,
    }
    return CheckRun(name=name, conclusion=conclusion, **(values | fields))


def summarise(checks):
    return [(each.name, each.said, each.standing.value, each.reason) for each in checks]


def test_a_check_run_is_told_with_all_that_is_known():
    run = make_run(url="https://ci.example/1", is_required=True)

    assert explain_checks([run], []) == (
        ExplainedCheck(
            kind=CheckKind.CHECK_RUN,
            name="build",
            word="SUCCESS",
            said="success",
            state=SUCCESS,
            standing=Standing.COUNTS,
            app="github-actions",
            workflow="CI",
            event="push",
            since=at(60),
            url="https://ci.example/1",
            is_required=True,
        ),
    )


def test_a_required_status_that_did_not_report_is_pending_and_says_so():
    status = StatusContext(context="ci/lint", state="EXPECTED", is_required=True)

    assert explain_checks([], [status]) == (
        ExplainedCheck(
            kind=CheckKind.STATUS,
            name="ci/lint",
            word="EXPECTED",
            said="not reported yet",
            state=PENDING,
            standing=Standing.COUNTS,
            is_required=True,
        ),
    )


@pytest.mark.parametrize(
    ("run", "said", "state"),
    [
        pytest.param(
            make_run(conclusion="ACTION_REQUIRED"), "needs approval", FAILURE, id="approval"
        ),
        pytest.param(make_run(conclusion="TIMED_OUT"), "timed out", FAILURE, id="time"),
        pytest.param(make_run(conclusion="STALE"), "stale", PENDING, id="stale"),
        pytest.param(make_run(conclusion="NEUTRAL"), "neutral", SUCCESS, id="neutral"),
        pytest.param(make_run(conclusion="NEW_WORD"), "new word", PENDING, id="new word"),
        pytest.param(
            make_run(conclusion="", status="IN_PROGRESS"), "in progress", PENDING, id="runs"
        ),
        pytest.param(
            make_run(conclusion=None, status="COMPLETED"), "not concluded", PENDING, id="odd"
        ),
    ],
)  # fmt: skip
def test_a_word_of_github_is_told_in_words(run, said, state):
    (check,) = explain_checks([run], [])

    assert (check.said, check.state) == (said, state)


def test_a_run_that_goes_on_stands_since_its_start():
    (check,) = explain_checks([make_run(conclusion="", status="IN_PROGRESS")], [])

    assert check.since == at(0)


def test_what_does_not_count_comes_last_and_says_why():
    older = make_run(conclusion="FAILURE", started_at=at(-90), completed_at=at(-80))
    queued = make_run("lint", None, status="QUEUED", started_at=None)
    checks = explain_checks(
        [
            make_run("lint"),
            make_run("${{ matrix.os }}", "SKIPPED"),
            older,
            queued,
            make_run(),
        ],
        [
            StatusContext(context="ci", state="PENDING", created_at=at(0)),
            StatusContext(context="ci", state="ERROR", created_at=at(5)),
        ],
    )

    assert summarise(checks) == [
        ("ci", "failed", "counts", ""),
        ("lint", "queued", "counts", ""),
        ("build", "success", "counts", ""),
        ("build", "failed", "superseded", "a newer run counts"),
        ("ci", "pending", "superseded", "a newer status of the context counts"),
        (
            "${{ matrix.os }}",
            "skipped",
            "ignored",
            "a job that was never expanded, nor run",
        ),
        ("lint", "success", "superseded", "a newer run waits for its start"),
    ]


def test_of_two_that_began_in_one_second_the_better_one_does_not_count():
    checks = explain_checks([make_run(), make_run(conclusion="FAILURE")], [])

    assert summarise(checks) == [
        ("build", "failed", "counts", ""),
        (
            "build",
            "success",
            "superseded",
            "another that began at the same time counts",
        ),
    ]


def test_an_older_suite_that_ran_beside_a_newer_one_counts():
    beside = {"workflow": "", "event": ""}
    first = make_run(conclusion="FAILURE", suite_id="1", **beside)
    second = make_run(suite_id="2", started_at=at(30), **beside)

    assert [each.counts for each in explain_checks([first, second], [])] == [True, True]
