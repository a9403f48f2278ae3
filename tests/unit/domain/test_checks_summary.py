import datetime as dt

from prwatch.domain.checks_summary import (
    NAME_LIMIT,
    NAMED_LIMIT,
    ChecksSummary,
    NamedCheck,
)
from prwatch.domain.verdict import CheckRun, StatusContext, decide_checks
from tests.readings import FAILURE, PENDING, at


def make_run(name="build", conclusion="SUCCESS", **fields):
    values = {
        "app": "github-actions",
        "workflow": "CI",
        "status": "COMPLETED" if conclusion else "IN_PROGRESS",
        "started_at": at(0),
        "completed_at": at(60) if conclusion else None,
    }
    return CheckRun(name=name, conclusion=conclusion, **(values | fields))


def make_status(context="ci", state="SUCCESS", **fields):
    return StatusContext(context=context, state=state, created_at=at(5), **fields)


def summarise(runs=(), statuses=()):
    verdict = decide_checks(
        runs, statuses, observed_at=at(90), settle=dt.timedelta(seconds=20)
    )
    return verdict.summary


def test_what_counts_is_counted_by_what_it_says():
    summary = summarise(
        [
            make_run("a"),
            make_run("b", "FAILURE"),
            make_run("c", "ACTION_REQUIRED"),
            make_run("d", "STALE"),
            make_run("e", None),
            make_run("${{ matrix.os }}", "SKIPPED"),
            make_run("a", "FAILURE", started_at=at(-60), completed_at=at(-50)),
        ],
        [make_status(), make_status("lint", "EXPECTED")],
    )

    assert (summary.total, summary.failing, summary.pending) == (7, 2, 3)
    assert (summary.unapproved, summary.stale, summary.unreported) == (1, 1, 1)
    assert (summary.running, summary.ignored, summary.has_passed) == (1, 1, False)


def test_what_decides_is_named_with_the_failures_first():
    summary = summarise(
        [make_run("a", None), make_run("b", "TIMED_OUT", is_required=True)],
        [make_status("c", "PENDING"), make_status("d")],
    )

    assert summary.named == (
        NamedCheck(
            name="b",
            said="timed out",
            state=FAILURE,
            app="github-actions",
            since=at(60),
            is_required=True,
        ),
        NamedCheck(
            name="a",
            said="in progress",
            state=PENDING,
            app="github-actions",
            since=at(0),
        ),
        NamedCheck(name="c", said="pending", state=PENDING, since=at(5)),
    )


def test_what_is_required_is_counted_where_it_is_known_of_all():
    runs = [
        make_run("a", is_required=True),
        make_run("b", None, is_required=False),
        make_run("c", "FAILURE", is_required=True),
        make_run("d", None, is_required=True),
    ]
    known, unknown = summarise(runs), summarise([*runs, make_run("e")])

    assert (known.required, known.required_failing, known.required_pending) == (3, 1, 1)
    assert unknown.required is None
    assert summarise().required is None


def test_a_summary_is_bounded_whatever_the_number_of_checks():
    runs = [make_run(f"{n:03}" + "x" * 200, "FAILURE") for n in range(300)]

    summary = summarise(runs)

    assert (summary.total, summary.failing) == (300, 300)
    assert [each.name[:3] for each in summary.named] == [
        f"{n:03}" for n in range(NAMED_LIMIT)
    ]
    assert {len(each.name) for each in summary.named} == {NAME_LIMIT}


def test_all_passed_needs_at_least_one():
    assert summarise([make_run()], [make_status()]).has_passed
    assert not ChecksSummary().has_passed
