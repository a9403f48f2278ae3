"""`prwatch status`, `events` and `wait` where no daemon runs and nothing is stored."""

import datetime as dt

import pytest

from prwatch.app.command.needs import NeedGroup, NeedRow
from prwatch.app.command.status import DaemonStatus, Status
from prwatch.cli.status import print_status
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import Mergeable, ReviewState
from prwatch.domain.verdict_words import tell
from prwatch.store.rate_limit import RateLimitBlock
from tests.readings import FAILURE, SUCCESS, make_observation

ONE = '[[workspace]]\nname = "acme"\n'


@pytest.fixture
def prwatch(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    return call


def test_without_a_daemon_it_is_said_what_is_shown(prwatch):
    before = prwatch("status")
    prwatch("watch", "add", "octo/hello#12")
    prwatch("watch", "add", "octo/hello")
    after = prwatch("status")

    assert before.out.splitlines()[:2] == [
        "No daemon runs.",
        "The store knows of no change yet.",
    ]
    assert "acme       1 unread, 1 repositories  -       -       -" in after.out
    assert (before.code, after.code) == (0, 0)


def test_the_status_is_an_object_for_programs(prwatch):
    status = prwatch("status", "--json").value

    assert set(status) == {
        *("at", "daemon", "store_known_at", "workspaces", "sinks", "rate_limits"),
        *("last_event_at", "needs"),
    }
    assert [each["name"] for each in status["sinks"]] == ["stdout"]


def test_no_event_yet_is_said(prwatch):
    words = prwatch("events", "tail")
    lines = prwatch("events", "tail", "--json")
    retried = prwatch("events", "retry", "--dead")
    counted = prwatch("events", "retry", "--dead", "--json")

    assert words.out == "There is no event yet.\n"
    assert lines.out == ""
    assert retried.out == "no delivery is dead\n"
    assert counted.value == {"retried": 0}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("events", "show", "0000"), 1, id="unknown event"),
        pytest.param(("events", "retry", "0000"), 1, id="unknown event again"),
        pytest.param(("events", "retry"), 2, id="nothing to retry"),
        pytest.param(("events", "retry", "0000", "--dead"), 2, id="both"),
        pytest.param(("events", "tail", "--type", "Other"), 2, id="type"),
        pytest.param(("events", "tail", "--limit", "-1"), 2, id="limit"),
        pytest.param(("events", "tail", "--workspace", "other"), 1, id="workspace"),
        pytest.param(("wait", "octo/hello@fix"), 2, id="wait for a branch"),
        pytest.param(("wait", "octo/hello#1", "--timeout", "soon"), 2, id="timeout"),
        pytest.param(("wait", "octo/hello#1", "--for", "luck"), 2, id="goal"),
    ],
)
def test_what_cannot_be_done_ends_with_its_code(prwatch, arguments, code):
    result = prwatch(*arguments)

    assert (result.code, result.out) == (code, "")
    assert result.err


NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
CYCLE = {
    "finished_at": "2026-11-30T11:59:30.000000Z",
    "failures": [
        {
            "workspace": "acme",
            "scope": "record",
            "reference": "octo/hello#9",
            "message": "not found",
        }
    ],
}
LOOPS = {
    "watch_cycle": {"state": "running", "consecutive_failures": 0},
    "relay log": {
        "state": "waiting",
        "consecutive_failures": 3,
        "last_error": {"code": "store_failed", "message": "the disk is full"},
    },
}


def make_status(daemon, needs=()):
    return Status(
        at=NOW,
        daemon=daemon,
        workspaces=(),
        needs=needs,
        sinks=(),
        blocks=(
            RateLimitBlock(
                account="a", bucket="core", blocked_until=NOW.replace(hour=13)
            ),
        ),
        last_event_at=None,
    )


def test_the_facts_of_a_daemon_are_told_in_words(capsys):
    facts = {
        "last_cycle": CYCLE,
        "loops": LOOPS,
        "worktree_problems": ["~/src cannot be read"],
        "stretched": ["9 idle pull requests are asked every 5 min"],
    }

    print_status(make_status(DaemonStatus(pid=7, facts=facts)))

    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "The daemon runs with pid 7.",
        "Its last cycle ended 30 s ago.",
        "  loop relay log: waiting, failures in a row: 3 the disk is full",
    ]
    assert lines[-4].startswith("GitHub refuses calls to its core interface until ")
    assert lines[-3:] == [
        "~/src cannot be read",
        "9 idle pull requests are asked every 5 min",
        "acme: octo/hello#9: not found",
    ]


def test_a_daemon_that_has_not_finished_a_cycle_has_nothing_to_tell(capsys):
    facts = {"last_cycle": None, "loops": {}, "worktree_problems": []}

    print_status(make_status(DaemonStatus(pid=7, facts=facts)))

    assert capsys.readouterr().out.splitlines()[:2] == [
        "The daemon runs with pid 7.",
        "No workspace is configured; `prwatch init` writes a configuration.",
    ]


def test_a_daemon_that_does_not_answer_is_told(capsys):
    print_status(make_status(DaemonStatus(pid=7, problem="it is busy")))

    assert capsys.readouterr().out.splitlines()[:2] == [
        "The daemon runs with pid 7.",
        "It does not answer (it is busy); this is what the store knows.",
    ]


def make_group(count, **fields):
    seen = make_observation(**fields)
    words = tell(Known(observation=seen, now=NOW, is_live=True))
    row = NeedRow(
        workspace="acme",
        reference="octo/hello#12",
        title=seen.title,
        url=seen.url,
        words=words,
        observed_at=NOW - dt.timedelta(hours=3),
    )
    return NeedGroup(need=words.need, count=count, rows=(row,))


def test_what_needs_a_person_is_told_with_its_reason_and_age(capsys):
    needs = (
        make_group(1, checks=FAILURE),
        make_group(3, checks=SUCCESS, review=ReviewState.PENDING),
        make_group(1, checks=SUCCESS, mergeable=Mergeable.CONFLICTING),
        make_group(5, checks=SUCCESS),
    )

    print_status(make_status(None, needs))

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    start = lines.index("STATUS PULL REQUEST BECAUSE FOR TITLE") + 1
    assert lines[start : start + 5] == [
        "failing octo/hello#12 failed 3 h Say hello",
        "waiting for review octo/hello#12 waiting for a review 3 h Say hello",
        "conflicting octo/hello#12 conflicts with main 3 h Say hello",
        "green octo/hello#12 passed 3 h Say hello",
        "And 2 waiting for review, 4 green; `prwatch watch list` names all.",
    ]


def test_a_limit_is_a_number_from_nothing_on(prwatch):
    assert prwatch("status", "--limit", "0").code == 0
    assert prwatch("status", "--limit", "-1").code == 2
