"""`prwatch review policy`, `release` and `show --removed` as command lines."""

import contextlib
import sqlite3

import pytest

ONE = '[[workspace]]\nname = "acme"\n'
TASK = "review:octo/hello#1"


@pytest.fixture
def review(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    call("review", "add", "mine")
    call("review", "remove", "mine")
    database = sqlite3.connect(tmp_path / "state/prwatch.db", isolation_level=None)
    with contextlib.closing(database):
        ((workspace,),) = database.execute("SELECT id FROM workspaces")
        database.execute(
            "INSERT INTO tasks VALUES"
            " ('t1', ?, ?, 'review', 'Fix it', NULL, NULL, '', 1)",
            (workspace, TASK),
        )
        database.execute(
            "INSERT INTO review_tasks VALUES ('r1', ?, '', 'never', '', 'user',"
            " 'octo', 'hello', '', 1, 'PR_1', 't1', 1, '', NULL, '{}', 1)",
            (workspace,),
        )
    return lambda *arguments: call("review", *arguments)


def test_what_removed_watches_left_is_shown_and_decided_about(review):
    said = [
        review("list").out.splitlines()[-1],
        review("show", "--removed").out,
        review("policy", TASK, "auto").out,
        review("show", "--removed").out.splitlines()[1],
        review("release", TASK).out,
    ]
    left = review("show", "--removed").out.splitlines()

    assert said == [
        "acme: 1 task of removed review watches; `prwatch review show --removed`",
        (
            "removed review watches in acme\n"
            f"  {TASK} (open, never, kept: policy never) Fix it\n"
        ),
        f"{TASK} in acme is cleaned up auto\n",
        f"  {TASK} (open, auto) Fix it",
        f"{TASK} in acme is yours; cleaning up leaves it alone\n",
    ]
    assert left[0] == "removed review watches in acme"
    assert left[1].endswith(f"{TASK} released: asked_for")
    assert "removed review watches" not in review("list").out


def test_programs_get_what_was_left(review):
    (listed,) = review("list", "--json").value["removed"]
    (shown,) = review("show", "--removed", "--json").value["removed"]
    put = review("policy", TASK, "always", "--json").value
    released = review("release", TASK, "--json").value

    assert listed == shown
    assert [(each["id"], each["policy"]) for each in shown["tasks"]] == [
        (TASK, "never")
    ]
    assert (put["id"], put["policy"]) == (TASK, "always")
    assert released == {"id": TASK, "workspace": "acme", "released": True}


def test_what_cannot_be_meant_is_refused(review):
    refused = [
        review("show"),
        review("show", "mine", "--removed"),
        review("policy", TASK, "sometimes"),
        review("release", "nothing"),
    ]

    assert [each.code for each in refused[:3]] == [2, 2, 2]
    assert "give either NAME or --removed" in refused[0].err
    assert "no removed review watch left nothing" in refused[3].err
