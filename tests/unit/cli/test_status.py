"""`prwatch status`, `events` and `wait` where no daemon runs and nothing is stored."""

import pytest

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
        "last_event_at",
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
