"""Commands that need no network, run in this process."""

import io
import re
import sys

import pytest

from prwatch.cli.main import main
from prwatch.cli.output import print_table
from prwatch.simulator.story import STORY

UNREACHABLE = '[[workspace]]\nname = "acme"\ntoken_env = "MISSING"\n'


class Terminal(io.StringIO):
    """Takes text as a terminal does."""

    def isatty(self):
        return True


def test_the_demo_is_told_step_by_step(call):
    result = call("demo")

    assert (result.code, result.err) == (0, "")
    told = re.findall(r"^[ \d]\d\. .+$", result.out, re.MULTILINE)
    assert told == [
        f"{number:>2}. {step.words}" for number, step in enumerate(STORY, start=1)
    ]
    assert "  checks: none → pending\n" in result.out
    assert "  is_draft: no → yes\n" in result.out
    assert "  associated: (nothing) → 12\n" in result.out
    assert "(a day passes: an archived repository is asked once a day)" in result.out
    assert f"\n{len(STORY)} steps, " in result.out


def test_the_demo_is_a_line_an_event_for_programs(call):
    lines = call("demo", "--json").out.splitlines()

    assert all(line.startswith('{"') and line.endswith("}") for line in lines)


def test_a_pass_over_nothing_says_how_to_begin(call):
    result = call("--cycle")

    assert result.code == 0
    assert (
        result.err == "Nothing is configured; `prwatch init` writes a configuration.\n"
    )


def test_a_pass_over_nothing_is_an_object_all_the_same(call):
    assert call("cycle", "--json", "--full").value["references"] == 0


def test_a_pass_that_no_workspace_can_make_is_refused(call):
    call.configure(UNREACHABLE)

    result = call("cycle")

    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "prwatch: no workspace has a token that can be used",
        "prwatch: workspace acme: environment variable MISSING is not set",
    ]


def test_the_doctor_marks_what_is_broken_and_says_what_to_do(call):
    call.configure(UNREACHABLE)

    words = call("doctor")
    value = call("doctor", "--json").value

    lines = words.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("BROKEN"))
    assert words.code == 1
    assert lines[at : at + 2] == [
        "BROKEN   token of acme: environment variable MISSING is not set",
        "         → give the workspace a token, then run `prwatch config check`",
    ]
    assert value["ok"] is False


def test_the_doctor_looks_at_a_configuration_that_cannot_be_used(call):
    call.configure("[poll]\ninterval = 1\n")

    result = call("doctor")

    assert result.code == 1
    assert result.out.startswith("BROKEN   configuration: ")


def test_an_account_that_cannot_be_asked_is_listed_and_explained(call):
    call.configure(UNREACHABLE)

    words = call("auth", "status")
    value = call("auth", "status", "--json").value

    assert words.code == 1
    assert [line.split()[:3] for line in words.out.splitlines()] == [
        ["WORKSPACE", "HOST", "LOGIN"],
        ["acme", "github.com", "-"],
    ]
    assert words.err == (
        "acme: environment variable MISSING is not set;"
        " give the workspace a token, then run `prwatch config check`\n"
    )
    assert value["workspaces"][0]["problem"]["code"] == "config_invalid"


def test_without_workspaces_there_are_no_accounts(call):
    result = call("auth", "status")

    assert (result.code, result.out) == (
        0,
        "No workspace is configured; `prwatch init` writes a configuration.\n",
    )


@pytest.fixture
def standing_in():
    """Return a function that runs with another standard output."""
    before = sys.stdout

    def use(stream):
        sys.stdout = stream
        return stream

    yield use
    sys.stdout = before


def test_a_table_is_drawn_on_a_terminal(standing_in):
    terminal = standing_in(Terminal())

    print_table(("reference", "title"), [("octo/hello#12", "[bold]x\x1b[2J")])

    text = terminal.getvalue()
    assert "─" in text
    assert "octo/hello#12" in text
    # A title is neither markup nor a command to the terminal.
    assert "[bold]x\\x1b[2J" in text


@pytest.fixture
def arguments():
    """Return a function that sets the command line of this process."""
    before, hook = sys.argv, sys.excepthook

    def use(*words):
        sys.argv = ["prwatch", *words]

    yield use
    sys.argv, sys.excepthook = before, hook


def test_the_process_ends_with_the_exit_code_of_its_command_line(arguments, capsys):
    arguments("nope")

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert "No such command 'nope'" in capsys.readouterr().err


def test_a_shell_that_asks_is_answered(arguments, capsys, monkeypatch):
    arguments()
    monkeypatch.setenv("_PRWATCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "prwatch dem")
    monkeypatch.setenv("COMP_CWORD", "1")

    with pytest.raises(SystemExit) as ended:
        main()

    assert (ended.value.code, capsys.readouterr().out) == (0, "plain,demo\n")
