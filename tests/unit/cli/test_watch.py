"""`prwatch watch` as a command line: what it prints and with what it ends."""

import pytest

from tests.checkouts import make_checkout

ONE = '[[workspace]]\nname = "acme"\n'
TWO = f'{ONE}[[workspace]]\nname = "corp"\n'


@pytest.fixture
def watch(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    return lambda *arguments: call("watch", *arguments)


def test_a_watch_is_added_listed_shown_and_removed(watch):
    added = watch("add", "octo/hello#12")
    again = watch("add", "octo/hello#12")
    listed = watch("list")
    shown = watch("show", "octo/hello#12")
    removed = watch("remove", "octo/hello#12")
    empty = watch("list")

    assert added.out == "octo/hello#12 is now watched in acme\n"
    assert again.out == "octo/hello#12 is watched already in acme\n"
    assert listed.out.splitlines()[1].split() == [
        *("octo/hello#12", "unread", "-", "-", "-", "octo/hello#12", "-"),
    ]
    assert shown.out.splitlines()[0] == "octo/hello#12"
    assert "  task        octo/hello#12 (command)" in shown.out.splitlines()
    assert removed.out == "archived the task octo/hello#12\n"
    assert empty.out.startswith("Nothing is watched;")
    assert {each.code for each in (added, again, listed, shown, removed, empty)} == {0}


def test_objects_are_printed_for_programs(watch):
    added = watch("add", "octo/hello@fix", "--task", "T-1", "--json").value
    adopted = watch("add", "octo/hello", "--json").value
    listed = watch("list", "--json").value
    shown = watch("show", "octo/hello@fix", "--json").value

    assert (added["task"], added["new"], len(added["watches"])) == ("T-1", True, 1)
    assert (adopted["reference"], adopted["task"]) == ("octo/hello", None)
    assert listed["watches"] == added["watches"] == shown["watches"]
    assert [row["repository"] for row in listed["repository_watches"]] == ["octo/hello"]


def test_an_adoption_is_listed_below_the_watches(watch):
    watch("add", "octo/hello@fix", "--all")

    listed = watch("list")

    assert listed.out.endswith("all open pull requests of octo/hello are watched\n")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("add", "octo"), id="word"),
        pytest.param(("show", "octo/hello#0"), id="number"),
        pytest.param(("remove", "octo/hello@a..b"), id="branch"),
        pytest.param(("add", "0000-1111"), id="the id of a watch"),
        pytest.param(("add", "octo/hello", "--task", "T-1"), id="task of a repository"),
        pytest.param(("add", "octo/hello#1", "--task", ""), id="no task"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(watch, arguments):
    result = watch(*arguments)

    assert (result.code, result.out) == (2, "")
    assert "Error:" in result.err


@pytest.mark.parametrize("verb", ["show", "remove", "check"])
def test_what_is_not_watched_ends_with_1(watch, verb):
    result = watch(verb, "octo/hello#12")

    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines()[0] == "prwatch: octo/hello#12 is not watched"


def test_one_of_two_workspaces_must_be_chosen(call):
    call.configure(f'state_dir = "state"\n{TWO}')

    refused = call("watch", "add", "octo/hello#12")
    chosen = call("watch", "add", "octo/hello#12", "--workspace", "corp")

    assert (refused.code, refused.err) == (
        2,
        "prwatch: choose one with --workspace: acme, corp\n",
    )
    assert chosen.out == "octo/hello#12 is now watched in corp\n"


def test_without_a_reference_the_branch_of_the_folder_is_meant(watch, call, tmp_path):
    call.folder = make_checkout(
        tmp_path / "clone", remotes={"origin": "git@github.com:octo/hello.git"}
    )
    call.environ["PATH"] = "/usr/bin:/bin"
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')

    added = watch("add")
    shown = watch("show")
    adopted = watch("add", "--all")

    assert added.out == "octo/hello@fix is now watched in acme\n"
    assert shown.out.splitlines()[0] == "octo/hello@fix"
    assert adopted.out.splitlines()[0] == "octo/hello is now watched in acme"


def test_outside_of_a_checkout_nothing_is_meant(watch):
    result = watch("add")

    assert result.code == 1
    assert "is not inside a git checkout" in result.err


def test_a_default_branch_is_told(watch):
    result = watch("add", "octo/hello@main")

    assert "a default branch is not watched" in result.out
