"""The list of commands, the top options, and how errors become exit codes."""

import importlib
import importlib.util

import click
import pytest

import prwatch
from prwatch.app.command.wait import Goal
from prwatch.cli.events import TYPES
from prwatch.cli.main import COMMANDS, run
from prwatch.cli.options import LOG_LEVELS, Options
from prwatch.cli.status import DELIVERY_STATES
from prwatch.cli.wait import GOALS
from prwatch.config.model import LOG_LEVELS as CONFIGURED_LEVELS
from prwatch.domain.events import EventType
from prwatch.domain.outbox import DeliveryState
from prwatch.errors import ConfigError, ProviderUnavailable, StoreUnavailable


def test_without_arguments_it_helps(call):
    result = call()

    assert result.code == 0
    assert result.out.startswith("Usage: prwatch ")
    assert result.err == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_the_command_says_of_itself(name):
    if importlib.util.find_spec(COMMANDS[name].module) is None:
        pytest.fail(f"there is no module {COMMANDS[name].module}")

    command = importlib.import_module(COMMANDS[name].module).command

    first_line = command.help.strip().splitlines()[0]
    assert (command.name, first_line) == (name, COMMANDS[name].summary)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command_with_its_summary(call, option):
    text = call(option).out.partition("Commands:\n")[2]

    assert " ".join(text.split()) == " ".join(
        f"{name} {entry.summary}" for name, entry in COMMANDS.items()
    )


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_the_version_is_printed(call, arguments):
    assert call(*arguments).out == f"prwatch {prwatch.__version__}\n"


def test_the_version_is_an_object_for_programs(call):
    value = call("version", "--json").value

    assert value.pop("python").count(".") == 2
    assert value == {"version": prwatch.__version__}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["nope"], "No such command 'nope'", id="unknown command"),
        pytest.param(["--nope"], "No such option", id="unknown option"),
        pytest.param(["--cycle", "version"], "without a command", id="two commands"),
        pytest.param(["--full"], "--full goes with --cycle", id="full alone"),
        pytest.param(["--log-level", "loud"], "'loud' is not one of", id="level"),
    ],
)
def test_a_wrong_command_line_ends_with_2(call, arguments, said):
    result = call(*arguments)

    assert (result.code, result.out) == (2, "")
    assert said in result.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        pytest.param(LOG_LEVELS, CONFIGURED_LEVELS, id="levels"),
        pytest.param(TYPES, EventType, id="types of events"),
        pytest.param(DELIVERY_STATES, DeliveryState, id="states of deliveries"),
        pytest.param(GOALS, Goal, id="goals of a wait"),
    ],
)
def test_words_that_spare_an_import_are_those_that_are_meant(words, meant):
    assert words == tuple(meant)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(
            ConfigError("no", hint="do it"),
            2,
            "prwatch: no\nhint: do it\n",
            id="config",
        ),
        pytest.param(
            StoreUnavailable("it is locked"), 3, "prwatch: it is locked\n", id="store"
        ),
        pytest.param(
            ExceptionGroup("tasks", [ProviderUnavailable("GitHub is down")]),
            4,
            "prwatch: GitHub is down\n",
            id="from a task group",
        ),
        pytest.param(KeyboardInterrupt(), 130, "", id="Ctrl+C"),
        pytest.param(
            BaseExceptionGroup("tasks", [KeyboardInterrupt()]),
            130,
            "",
            id="Ctrl+C in a task group",
        ),
        pytest.param(click.exceptions.Exit(124), 124, "", id="an exit code"),
    ],
)
def test_an_error_is_one_clear_line_and_an_exit_code(capsys, error, code, said):
    command = click.Command("fail", callback=raising(error))

    assert run_command(command) == code
    assert capsys.readouterr() == ("", said)


def raising(error):
    def callback():
        raise error

    return callback


def run_command(command):
    group = click.Group("prwatch", commands=[command])
    return run([command.name], Options(), group=group)


def test_a_bug_is_no_error_of_ours(capsys):
    command = click.Command("fail", callback=raising(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        run_command(command)


def test_what_a_command_returns_is_no_exit_code(capsys):
    assert run_command(click.Command("count", callback=lambda: 7)) == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(call, shell):
    result = call("completion", shell)

    assert result.code == 0
    assert "_PRWATCH_COMPLETE" in result.out
