"""`prwatch wait` and `watch check` against a GitHub that answers."""

import re

import pytest

from prwatch.simulator import Fault
from tests.hubs import get_environ, open_hub, write_config


@pytest.fixture
def hub():
    with open_hub() as opened:
        yield opened


@pytest.fixture
def world(hub):
    return hub[0]


@pytest.fixture
def prwatch(call, hub, tmp_path):
    call.environ.update(get_environ())
    call.configure(write_config(hub[1], tmp_path / "state"))
    return call


def get_pull_request(world):
    (found,) = world.pull_requests.values()
    return found


@pytest.mark.parametrize(
    ("goal", "play", "code", "words"),
    [
        pytest.param(
            "checks",
            lambda w, p: w.set_check(p, "test", conclusion="SUCCESS"),
            0,
            "checks decided: good after ",
            id="green",
        ),
        pytest.param(
            "checks",
            lambda w, p: w.set_check(p, "test", conclusion="FAILURE"),
            1,
            "checks decided: failed after ",
            id="red",
        ),
        pytest.param(
            "review",
            lambda w, p: w.submit_review(p, "mona", "APPROVED"),
            0,
            "review decided: good after ",
            id="approved",
        ),
        pytest.param(
            "merged", lambda w, p: w.merge(p), 0, "merged decided: good", id="merged"
        ),
        pytest.param(
            "merged", lambda w, p: w.close(p), 1, "merged decided: failed", id="closed"
        ),
        pytest.param(
            "merged", lambda w, p: None, 124, "merged not decided in time", id="late"
        ),
    ],
)
def test_waiting_ends_with_the_code_of_what_was_decided(
    prwatch, world, goal, play, code, words
):
    play(world, get_pull_request(world))

    result = prwatch("wait", "octo/hello#12", "--for", goal, "--timeout", "0s")

    assert result.code == code
    assert result.out.startswith(f"octo/hello#12: {words}")


def test_waiting_tells_what_it_saw_where_nobody_watches_a_terminal(prwatch):
    result = prwatch("wait", "octo/hello#12", "--timeout", "0s", "--json")

    assert (result.code, result.value["verdict"]) == (124, "timed_out")
    assert "wait.observed" in result.err
    assert "OPEN, checks not yet registered, review none" in result.err


def test_waiting_for_what_is_down_tells_why_at_the_end(prwatch, world):
    world.faults.add(Fault(kind="html503", times=None))

    result = prwatch("wait", "octo/hello#12", "--timeout", "0s")

    assert result.code == 124
    assert result.out.startswith("octo/hello#12: checks not decided in time after ")
    assert "; " in result.out


def test_a_check_tells_what_changed(prwatch, world):
    prwatch("watch", "add", "octo/hello@fix")
    first = prwatch("watch", "check", "octo/hello@fix")
    quiet = prwatch("watch", "check", "octo/hello#12")
    world.submit_review(get_pull_request(world), "mona", "APPROVED")
    changed = prwatch("watch", "check", "octo/hello#12", "--json").value
    shown = prwatch("watch", "show", "octo/hello#12").out.splitlines()

    assert "\nwrote 1 event; asked GitHub " in first.out
    assert re.fullmatch(
        r"nothing changed; asked GitHub \d times?\n"
        r"octo/hello#12: OPEN, checks not yet registered, review none\n",
        quiet.out,
    )
    assert [c["events"] for c in changed["checks"]] == [
        {"GitHubPRFeedback": 1, "GitHubTaskPRUpdated": 1}
    ]
    assert "  review      approved" in shown
    assert "              approved, 1 in favour" in shown
    assert any(line.startswith("  last change ") for line in shown)


def test_what_cannot_be_read_ends_with_4(prwatch):
    prwatch("watch", "add", "octo/hello#99")

    result = prwatch("watch", "check", "octo/hello#99")

    assert result.code == 4
    assert result.err.splitlines()[-1].startswith("octo/hello#99: ")


def test_a_branch_with_several_pull_requests_says_so(prwatch, world):
    world.open_pull_request("octo/hello", branch="fix", base="next", number=13)
    prwatch("watch", "add", "octo/hello@fix")
    prwatch("watch", "check", "octo/hello@fix")

    shown = prwatch("watch", "show", "octo/hello#12").out

    assert "  this branch has several pull requests: also #13\n" in shown


def test_a_draft_and_an_archived_task_are_told(prwatch, world):
    prwatch("watch", "add", "octo/hello#12", "--task", "T-1")
    world.mark_draft(get_pull_request(world))
    prwatch("watch", "check", "octo/hello#12")
    listed = prwatch("watch", "list").out
    prwatch("task", "archive", "T-1")
    every = prwatch("watch", "list", "--all").out

    assert "octo/hello#12  draft  not yet registered" in listed
    assert "OPEN, task archived" in every
