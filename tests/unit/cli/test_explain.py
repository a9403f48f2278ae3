"""`prwatch explain` as a command line: what it prints of what is stored and read."""

import dataclasses
import datetime as dt

import pytest

from prwatch.app.command.explained import Explained, Obstacle, Outlook
from prwatch.cli.explain import print_explained, render_bar, tell_checks
from prwatch.cli.output import format_time
from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.events import Event, EventType
from prwatch.domain.explanation import Explanation, explain_checks
from prwatch.domain.phrase import Known, refresh
from prwatch.domain.pull_request import (
    UNOBSERVED,
    ChecksState,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.verdict import CheckRun, Review, StatusContext, decide_checks
from prwatch.store.events import EventRecord
from tests.readings import at, make_observation
from tests.unit.app.command.test_needs import make_row

NO_TIME = dt.timedelta(0)


@pytest.fixture
def prwatch(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n[[workspace]]\nname = "acme"\n')
    return call


def explain(runs=(), statuses=(), opinions=(), asked=(), **fields):
    verdict = decide_checks(runs, statuses, observed_at=at(0), settle=NO_TIME)
    observation = make_observation(**{"checks_summary": verdict.summary, **fields})
    return Explained(
        reference="octo/hello#12",
        repository="octo/hello",
        number=12,
        workspace="acme",
        tasks=("T-1", "T-2"),
        at=at(0),
        live=Explanation(
            observation=observation,
            checks=explain_checks(runs, statuses),
            opinions=opinions,
            asked=asked,
        ),
        known=refresh(observation, now=at(0), stored=None),
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
        "status needs approval",
        "checks failure",
        "1 of 3 needs approval: test; 1 running",
        "any failure wins, whatever else passed or runs",
        "review changes_requested",
        "changes requested, 1 asked",
        "merge no conflicts",
        "mergeable MERGEABLE",
        "merge queue not read",
        "auto-merge no",
        (
            "not read merge queue: the way it was read does not tell it: REST, or an"
            " old server"
        ),
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
            [
                "checks none",
                "not yet registered, after 1 min",
                "without any check there is neither failure nor success",
            ],
            id="not yet registered",
        ),
        pytest.param(
            explain(
                checks=UNOBSERVED,
                checks_notes=("checks are refused to this token: no access",),
                checks_summary=ChecksSummary(unread="no access", is_refused=True),
            ),
            ["checks not read", "unreadable with this token: no access"],
            id="unreadable",
        ),
        pytest.param(
            explain(runs=[make_run("a", "SUCCESS")], settles_at=at(20)),
            [
                "checks pending",
                "all 1 passed, settling",
                "nothing failed, and not everything has come to its end",
                f"a success from {format_time(at(20))}, if all stays so",
            ],
            id="settles",
        ),
        pytest.param(
            explain(
                runs=[make_run("a", "SUCCESS")],
                checks_notes=("expected: required checks have not reported",),
                checks_summary=ChecksSummary(total=1, is_expecting=True),
            ),
            [
                "checks pending",
                "required but not reported",
                "nothing failed, and not everything has come to its end",
                "expected: required checks have not reported",
            ],
            id="expected",
        ),
    ],
)
def test_the_verdict_on_checks_says_what_it_waits_for(tell, explained, lines):
    told = tell(explained)
    start = told.index("head aaaaaaaaaa") + 2
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
        "next look with the next cycle; no daemon tells when that is",
    ]
    (explained,) = told.value["explanations"]
    assert (explained["reference"], explained["live"]) == ("octo/hello#12", None)
    assert explained["stored"]["pull_request"] is None
    assert (words.code, told.code) == (0, 0)


def test_what_is_not_watched_has_nothing_stored(prwatch):
    called = prwatch("explain", "octo/hello#13")

    assert (called.code, called.out) == (1, "")
    assert "octo/hello#13 is not watched" in called.err


def make_event(seconds, *changes):
    return EventRecord(
        event=Event(
            id="e1",
            type=EventType.TASK_PR_UPDATED,
            source="prwatch:test",
            subject="acme/T-1/octo/hello#12",
            time=at(seconds),
            workspace_id="w1",
            task_id="t1",
            repository_id="r1",
            pr_number=12,
            watch_id="p1",
            revision=2,
            head_ref_oid="a" * 40,
            is_terminal=False,
            data={
                "changes": [
                    {"field": field, "previous": before, "current": after}
                    for field, before, after in changes
                ]
            },
        ),
        position=1,
    )


def test_what_a_daemon_says_and_what_changed_last_is_told(tell):
    obstacle = Obstacle(kind="limit of graphql", message="used up", until=at(600))
    outlook = Outlook(
        asked_at=at(-3),
        good_at=at(-3),
        due_at=at(12),
        why="every 15 s: checks run",
        stretched="idle ones are asked seldom",
        obstacles=(obstacle,),
    )
    told = tell(
        dataclasses.replace(
            explain(),
            outlook=outlook,
            obstacles=outlook.obstacles,
            changes=(make_event(-60, ("checks", "pending", "failure")),),
        )
    )

    assert f"in the way limit of graphql: used up; until {format_time(at(600))}" in told
    assert "next look in 12 s; every 15 s: checks run" in told
    assert "idle ones are asked seldom" in told
    assert told[-2:] == [
        "WHEN WHAT CHANGED",
        f"{format_time(at(-60))} checks: pending → failure",
    ]


@pytest.mark.parametrize(
    ("due_at", "words"),
    [
        pytest.param(at(-1), "next look now; why", id="late"),
        pytest.param(None, "next look why", id="never"),
    ],
)
def test_a_turn_that_is_over_or_never_comes_is_told(tell, due_at, words):
    outlook = Outlook(asked_at=None, good_at=None, due_at=due_at, why="why")

    assert words in tell(dataclasses.replace(explain(), outlook=outlook))


@pytest.mark.parametrize(
    ("done", "total", "picture"),
    [
        pytest.param(6, 8, "██████░░ 6 of 8", id="some"),
        pytest.param(0, 3, "░░░░░░░░ 0 of 3", id="none"),
        pytest.param(3, 3, "████████ 3 of 3", id="all"),
        pytest.param(99, 100, "███████░ 99 of 100", id="nearly all"),
    ],
)
def test_a_bar_is_full_only_when_everything_is_done(done, total, picture):
    assert render_bar(done, total) == picture


def test_what_is_stored_is_told_with_what_decided_and_when_it_was_seen(tell):
    summary = decide_checks(
        [make_run("build", "FAILURE", app="ci")], [], observed_at=at(0), settle=NO_TIME
    ).summary
    seen = make_observation(
        checks=ChecksState.FAILURE,
        checks_summary=summary,
        checks_notes=("failed: build", "unknown word: ODD"),
        review_decision=ReviewDecision.APPROVED,
        auto_merge=True,
    )
    known = Known(observation=seen, now=at(600))
    row = make_row(1, task="T-1")
    told = tell(
        dataclasses.replace(
            explain(),
            at=at(600),
            live=None,
            known=known,
            stored=dataclasses.replace(row, known=known, observed_at=at(0)),
            outlook=Outlook(asked_at=None, good_at=at(595), due_at=None, why="why"),
        )
    )

    assert told[2] == (
        f"read stored; its last change is of {format_time(at(0))}, 10 min ago;"
        " seen to be so 5 s ago"
    )
    assert "unknown word: ODD" in told
    assert "failed: build" not in told
    assert "GitHub's decision: APPROVED" in told
    assert "auto-merge yes" in told
    table = told.index("CHECK APP SAYS REQUIRED SINCE") + 1
    assert told[table] == f"build ci failed - {format_time(at(-60))}"
    assert told[-1] == "them, and which of them are required."


def test_on_a_terminal_the_checks_are_a_picture_too():
    summary = ChecksSummary(total=8, pending=2)

    assert "██████░░ 6 of 8" in list_check_lines(summary, is_drawn=True)
    assert "██████░░ 6 of 8" not in list_check_lines(summary, is_drawn=False)


def list_check_lines(summary, *, is_drawn):
    explained = explain(checks=ChecksState.PENDING, checks_summary=summary)
    return list(tell_checks(explained, explained.words, is_drawn=is_drawn))
