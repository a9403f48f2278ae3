"""`prwatch review` as a command line, and what `prwatch task` says of a person."""

import contextlib
import sqlite3

import pytest

ONE = '[[workspace]]\nname = "acme"\n'
DECLARED = f'{ONE}[[workspace.review]]\nname = "team"\npolicy = "never"\n'


@pytest.fixture
def review(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    return lambda *arguments: call("review", *arguments)


def test_a_review_watch_lives_from_its_beginning_to_its_end(review):
    said = [
        review("list").out,
        review("add", "mine", "--organisation", "octo", "--interval", "10m").out,
        review("edit", "mine", "--repository", "octo/hello", "--disable").out,
        review("show", "mine").out,
        review("edit", "mine", "--anywhere", "--scope", "user_and_teams").out,
        review("show", "mine").out.splitlines()[0],
        review("edit", "mine", "--login", "ada", "--query", "").out,
        review("show", "mine").out.splitlines()[0],
        review("remove", "mine").out,
    ]

    assert said == [
        "There is no review watch; `prwatch review add` makes one.\n",
        "the review watch mine was added to acme\n",
        "the review watch mine now has these settings in acme\n",
        (
            "mine  requests to you in octo/hello\n"
            "  workspace acme, from command, disabled\n"
            "  searched every 600 s, cleaned up auto\n"
        ),
        "the review watch mine now has these settings in acme\n",
        "mine  requests to you and your teams",
        "the review watch mine now has these settings in acme\n",
        "mine  requests to ada and their teams",
        "the review watch mine is removed; its tasks stay\n",
    ]


def test_a_name_that_a_person_took_from_an_entry_is_told(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    call("review", "add", "team")
    call.configure(f'state_dir = "{tmp_path}/state"\n{DECLARED}')

    told = (
        "review watch team is left to the person who made it; choose another name, or"
        " let it go: prwatch review remove team"
    )
    assert call("review", "list").err == f"{told}\n"
    assert call("review", "list", "--json").value["warnings"] == [told]


def test_a_review_watch_is_listed_with_its_state(review):
    review("add", "mine", "--query", "label:x", "--policy", "always")

    listed = review("list").out.splitlines()
    (row,) = review("list", "--json").value["review_watches"]

    assert " ".join(listed[0].split()) == (
        "NAME WORKSPACE FROM SEARCHES FOR POLICY TASKS NEXT SEARCH STATE"
    )
    assert " ".join(listed[1].split()) == "mine acme command label:x always 0 - new"
    assert (row["query"], row["policy"], row["interval"]) == ("label:x", "always", "5m")
    assert (row["state"], row["tasks"], row["audit"]) == ("new", [], [])
    assert review("show", "mine", "--json").value == row
    assert review("remove", "mine", "--json").value == {"name": "mine", "removed": True}


def spoil(tmp_path, sql):
    database = sqlite3.connect(tmp_path / "state/prwatch.db", isolation_level=None)
    with contextlib.closing(database):
        database.execute("PRAGMA ignore_check_constraints = ON")
        assert database.execute(sql).rowcount == 1


def test_an_unreadable_review_watch_is_told_and_can_only_be_removed(review, tmp_path):
    review("add", "mine")
    review("add", "other")
    spoil(tmp_path, "UPDATE review_watches SET scope = 'no' WHERE name = 'mine'")

    listed = review("list")
    rows = review("list", "--json").value["review_watches"]
    refused = [
        review(*each)
        for each in (["show", "mine"], ["edit", "mine", "--disable"], ["poll", "mine"])
    ]
    removed = review("remove", "mine")

    problem = "its row cannot be read: 'no' is not a valid ReviewScope"
    assert problem in listed.out
    assert [(row["name"], row["state"]) for row in rows] == [
        ("other", "new"),
        ("mine", "unreadable"),
    ]
    assert {called.code for called in refused} == {1}
    assert all(problem in called.err for called in refused)
    assert removed.code == 0
    assert problem not in review("list").out


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("over_cap", "more than 1,000 match, and GitHub shows no more"),
        ("left_out", "GitHub left out a part"),
        ("unread", "some of what it found could not be read"),
    ],
)
def test_a_search_that_is_not_complete_says_why(review, tmp_path, reason, words):
    review("add", "mine")
    spoil(
        tmp_path,
        "UPDATE review_watches SET incomplete_since = 0,"
        f" incomplete_reason = '{reason}'",
    )

    assert f"incomplete: {words}" in " ".join(review("list").out.split())
    assert "  not complete since 1970-01-01" in review("show", "mine").out
    assert words in review("show", "mine").out
    row = review("show", "mine", "--json").value
    assert (row["state"], row["incomplete_reason"]) == ("incomplete", reason)


def test_a_stranger_begins_no_line_of_ours(review, tmp_path):
    review("add", "mine")
    spoil(tmp_path, "UPDATE review_watches SET last_error = 'x' || char(10) || 'good'")

    assert "  x\\ngood\n" in review("show", "mine").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["add", "a b"], 2, "name of a review watch", id="name"),
        pytest.param(["add", "x", "--query", "is:issue"], 2, "issues", id="query"),
        pytest.param(["add", "x", "--repository", "octo"], 2, "owner/name", id="place"),
        pytest.param(["add", "x", "--interval", "5s"], 2, "interval", id="interval"),
        pytest.param(["edit", "x"], 2, "at least one thing", id="no change"),
        pytest.param(["edit", "x", "--query", "y"], 1, "no review watch x", id="none"),
        pytest.param(["poll", "x"], 1, "no review watch x", id="poll none"),
    ],
)
def test_what_cannot_be_done_is_said(review, arguments, code, words):
    called = review(*arguments)

    assert called.code == code
    assert words in called.err


def test_a_search_without_any_token_is_refused(review):
    review("add", "mine")

    called = review("poll", "--json")

    assert called.code == 2
    assert "token" in called.err


def test_a_search_that_its_own_settings_forbid_exits_with_two(call, tmp_path):
    call.environ["TOKEN"] = "ghp_" + "a" * 36
    call.configure(
        f'state_dir = "{tmp_path}/state"\n[poll]\nread_path = "rest"\n'
        '[[workspace]]\nname = "acme"\ntoken_env = "TOKEN"\n'
    )
    call("review", "add", "mine")
    call("review", "add", "other")

    called = call("review", "poll")

    assert called.code == 2
    assert called.err == (
        "mine in acme: a review watch is searched through GraphQL alone\n"
        "other in acme: a review watch is searched through GraphQL alone\n"
    )


def test_what_people_say_of_a_task_is_shown(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    call("task", "add", "T-1")
    said = [
        call("task", "note", "T-1").out,
        call("task", "wait", "T-1").out,
        call("task", "wait", "T-1").out,
        call("task", "wait", "T-1", "an answer").out,
        call("task", "show", "T-1").out.splitlines()[-1],
        call("task", "resume", "T-1").out,
        call("task", "resume", "T-1").out,
    ]
    shown = call("task", "show", "T-1", "--json").value

    assert said == [
        "the task T-1 has a person's words now\n",
        "the task T-1 waits for a prompt\n",
        "the task T-1 waits for a prompt already\n",
        "the task T-1 waits for an answer\n",
        "  waits for an answer",
        "the task T-1 waits no longer\n",
        "the task T-1 did not wait\n",
    ]
    assert shown["waits_for"] == ""
    assert shown["person_wrote_at"] is not None
