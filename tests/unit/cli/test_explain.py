"""`prwatch explain` as a command line: what it prints of what is stored and read."""

import dataclasses

import pytest

from prwatch.app.command.explain import Explained
from prwatch.cli.explain import print_explained
from prwatch.cli.output import format_time
from prwatch.domain.explanation import Explanation, explain_checks
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, ReviewState
from prwatch.domain.verdict import CheckRun, Review, StatusContext
from tests.readings import at, make_observation


@pytest.fixture
def prwatch(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n[[workspace]]\nname = "acme"\n')
    return call


def explain(runs=(), statuses=(), opinions=(), asked=(), **fields):
    return Explained(
        reference="octo/hello#12",
        repository="octo/hello",
        number=12,
        workspace="acme",
        tasks=("T-1", "T-2"),
        at=at(0),
        live=Explanation(
            observation=make_observation(**fields),
            checks=explain_checks(runs, statuses),
            opinions=opinions,
            asked=asked,
        ),
    )


def make_run(name, conclusion, **fields):
    values = {"status": "COMPLETED", "started_at": at(-90), "completed_at": at(-60)}
    return CheckRun(name=name, conclusion=conclusion, **(values | fields))


@pytest.fixture
def tell(capsys):
    """Return the printed lines, with one space wherever there are several."""

    def tell(explained):
        print_explained(explained)
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return tell


def test_every_check_and_reviewer_is_told_with_time_and_place(tell):
    told = tell(
        explain(
            runs=[
                make_run(
                    "test",
                    "ACTION_REQUIRED",
                    app="github-actions",
                    workflow="CI",
                    is_required=True,
                    url="https://ci.example/1",
                ),
                make_run("lint", "", status="IN_PROGRESS", completed_at=None),
                make_run("lint", "FAILURE", started_at=at(-120), completed_at=at(-100)),
            ],
            statuses=[StatusContext(context="deploy", state="EXPECTED")],
            opinions=(
                Review(author="alice", state="CHANGES_REQUESTED", submitted_at=at(-30)),
                Review(author=None, state="DISMISSED", submitted_at=at(-40)),
            ),
            asked=("octo/team",),
            checks=ChecksState.FAILURE,
            checks_notes=("needs approval: test", "not reported yet: deploy"),
            review=ReviewState.CHANGES_REQUESTED,
            requested_reviewers=1,
            is_draft=True,
            merge_queue=UNOBSERVED,
        )
    )

    assert told == [
        "workspace acme",
        "tasks T-1, T-2",
        f"read {format_time(at(0))}, now",
        "title Say hello",
        "url https://github.com/octo/hello/pull/12",
        "state OPEN, a draft",
        "head aaaaaaaaaa",
        "checks failure, running 1 of 3",
        "review changes_requested, 1 asked",
        "mergeable MERGEABLE",
        "merge queue not read",
        "auto-merge no",
        "CHECK APP WORKFLOW SAYS REQUIRED SINCE URL",
        (
            "test github-actions CI needs approval yes"
            f" {format_time(at(-60))} https://ci.example/1"
        ),
        "deploy - - not reported yet - - -",
        f"lint - - in progress - {format_time(at(-90))} -",
        f"lint - - failed (superseded: a newer run counts) - {format_time(at(-100))} -",
        "REVIEWER SAYS SINCE",
        f"alice changes requested {format_time(at(-30))}",
        f"a deleted account dismissed {format_time(at(-40))}",
        "octo/team asked -",
    ]


@pytest.mark.parametrize(
    ("explained", "lines"),
    [
        pytest.param(
            explain(checks=ChecksState.NONE),
            ["checks none: nothing is registered for this head yet"],
            id="not yet registered",
        ),
        pytest.param(
            explain(
                checks=UNOBSERVED, checks_notes=("checks are refused to this token",)
            ),
            ["checks not read", "checks are refused to this token"],
            id="unreadable",
        ),
        pytest.param(
            explain(runs=[make_run("a", "SUCCESS")], settles_at=at(20)),
            [
                "checks pending",
                f"all passed; a success from {format_time(at(20))}, if all stays so",
            ],
            id="settles",
        ),
        pytest.param(
            explain(
                runs=[make_run("a", "SUCCESS")],
                checks_notes=("expected: required checks have not reported",),
            ),
            ["checks pending", "expected: required checks have not reported"],
            id="expected",
        ),
    ],
)
def test_the_verdict_on_checks_says_what_it_waits_for(tell, explained, lines):
    told = tell(explained)
    start = told.index("head aaaaaaaaaa") + 1
    end = next(i for i, line in enumerate(told) if line.startswith("review "))

    assert told[start:end] == lines


def test_a_pull_request_that_nobody_watches_says_so(tell):
    told = tell(dataclasses.replace(explain(), tasks=()))

    assert told[1] == "tasks not watched"


def test_before_the_first_reading_there_is_nothing_to_explain(prwatch):
    prwatch("watch", "add", "octo/hello#12")

    words = prwatch("explain", "octo/hello#12")
    told = prwatch("explain", "octo/hello#12", "--json")

    assert [" ".join(line.split()) for line in words.out.splitlines()] == [
        "octo/hello#12",
        "workspace acme",
        "tasks octo/hello#12",
        "read never",
        "state unread: there is nothing to explain yet",
    ]
    (explained,) = told.value["explanations"]
    assert (explained["reference"], explained["live"]) == ("octo/hello#12", None)
    assert explained["stored"]["pull_request"] is None
    assert (words.code, told.code) == (0, 0)


def test_what_is_not_watched_has_nothing_stored(prwatch):
    called = prwatch("explain", "octo/hello#13")

    assert (called.code, called.out) == (1, "")
    assert "octo/hello#13 is not watched" in called.err
