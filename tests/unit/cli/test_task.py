"""`prwatch task` as a command line."""

import pytest

ONE = '[[workspace]]\nname = "acme"\n'


@pytest.fixture
def task(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    return lambda *arguments: call("task", *arguments)


def test_a_task_lives_from_its_beginning_to_its_end(task):
    said = [
        task("add", "T-1", "--title", "Login", "--repository", "octo/hello").out,
        task("link", "T-1", "octo/hello#12").out,
        task("session", "start", "T-1", "S-1", "--repository", "octo/hello@fix").out,
        task("session", "end", "T-1", "S-1").out,
        task("session", "end", "T-1", "S-1").out,
        task("detach", "T-1", "octo/hello#12").out,
        task("archive", "T-1").out,
        task("archive", "T-1").out,
        task("unarchive", "T-1").out,
        task("unarchive", "T-1").out,
    ]

    assert said == [
        "the task T-1 is in place\n",
        "the task T-1 has octo/hello#12\n",
        "the task T-1 has the running session S-1\n",
        "the task T-1 has ended its session S-1\n",
        "the task T-1 had ended its session S-1\n",
        "the task T-1 no longer has octo/hello#12\n",
        "the task T-1 is archived now\n",
        "the task T-1 was archived already\n",
        "the task T-1 is active again\n",
        "the task T-1 was active already\n",
    ]


def test_what_people_say_of_a_task_is_told_as_news_or_not(task):
    task("add", "T-1")

    said = [
        task("note", "T-1").out,
        task("wait", "T-1", "an answer").out,
        task("wait", "T-1", "an answer").out,
        task("resume", "T-1").out,
        task("resume", "T-1").out,
    ]

    assert said == [
        "the task T-1 has a person's words now\n",
        "the task T-1 waits for an answer\n",
        "the task T-1 waits for an answer already\n",
        "the task T-1 waits no longer\n",
        "the task T-1 did not wait\n",
    ]


@pytest.mark.parametrize("reason", ["", "  ", "a\nb"])
def test_a_reason_to_wait_for_says_something(task, reason):
    task("add", "T-1")
    told = task("wait", "T-1", reason)

    assert told.code == 2
    assert "allowed is a line of at most 1000 characters" in told.err
    assert "waits for" not in task("show", "T-1").out


def test_a_task_is_shown_with_all_that_hangs_on_it(task):
    task("add", "T-1", "--title", "Login", "--repository", "octo/hello@fix")
    task("link", "T-1", "octo/other#3")
    task("session", "start", "T-1", "S-1", "--repository", "octo/hello@fix")

    shown = task("show", "T-1").out.splitlines()
    listed = task("list").out.splitlines()

    assert shown == [
        "T-1  Login",
        "  workspace acme, from command",
        "  works in octo/hello@fix",
        "  is linked to octo/other#3",
        "  session S-1 runs on octo/hello@fix",
        "  octo/hello@fix searching",
        "  octo/other#3 unread",
    ]
    assert listed[1].startswith("T-1   acme       Login")


def test_an_archived_task_is_listed_only_when_it_is_asked_for(task):
    task("add", "T-1")
    task("session", "start", "T-1", "S-1")
    task("session", "end", "T-1", "S-1")
    task("archive", "T-1")

    listed = task("list")
    every = task("list", "--all", "--json").value
    shown = task("show", "T-1").out

    assert listed.out == "There is no task; `prwatch task add` makes one.\n"
    assert [row["id"] for row in every["tasks"]] == ["T-1"]
    assert "  archived " in shown
    assert "  session S-1 ended " in shown


def test_objects_are_printed_for_programs(task):
    added = task("add", "T-1", "--link", "octo/hello#12", "--json").value
    shown = task("show", "T-1", "--json").value
    archived = task("archive", "T-1", "--json").value

    assert added == shown
    assert (added["id"], added["links"]) == ("T-1", ["octo/hello#12"])
    assert archived == {"task": "T-1", "changed": True}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("add", ""), id="no id"),
        pytest.param(("add", "T\n1"), id="line break"),
        pytest.param(("add", "T-1", "--title", "a\nb"), id="title"),
        pytest.param(("add", "T-1", "--link", "octo/hello@fix"), id="link"),
        pytest.param(("add", "T-1", "--repository", "octo/hello#1"), id="repository"),
        pytest.param(("link", "T-1", "octo/hello"), id="linked repository"),
        pytest.param(
            ("session", "start", "T-1", "S-1", "--repository", "octo/hello"),
            id="no branch",
        ),
        pytest.param(
            (
                *("session", "start", "T-1", "S-1"),
                *("--repository", "octo/hello@a", "--worktree", "."),
            ),
            id="both",
        ),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(task, arguments):
    result = task(*arguments)

    assert (result.code, result.out) == (2, "")
    assert "Error:" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("show", "T-1"), id="show"),
        pytest.param(("link", "T-1", "octo/hello#1"), id="link"),
        pytest.param(("detach", "T-1", "octo/hello#1"), id="detach"),
        pytest.param(("archive", "T-1"), id="archive"),
        pytest.param(("unarchive", "T-1"), id="unarchive"),
        pytest.param(("note", "T-1"), id="note"),
        pytest.param(("wait", "T-1"), id="wait"),
        pytest.param(("resume", "T-1"), id="resume"),
        pytest.param(("session", "start", "T-1", "S-1"), id="start"),
        pytest.param(("session", "end", "T-1", "S-1"), id="end"),
    ],
)
def test_a_task_that_is_not_there_ends_with_1(task, arguments):
    result = task(*arguments)

    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "prwatch: there is no task T-1\nhint: `prwatch task list` lists them\n"
    )
