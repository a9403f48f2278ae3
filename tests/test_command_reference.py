"""The reference of commands, compared with what the commands take."""

import importlib
import re
from pathlib import Path

import click
import pytest

PAGE = Path(__file__).parent.parent / "docs/reference/commands.md"
GLOBAL = {"--config", "--state-dir", "--json", "--log-level"}
GROUPS = ("status", "watch", "task", "wait", "events")


def list_commands(command, path):
    """Yield every command that does something, with the words that call it."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from list_commands(below, f"{path} {name}")
    else:
        yield path, command


def all_commands():
    for name in GROUPS:
        command = importlib.import_module(f"prwatch.cli.{name}").command
        yield from list_commands(command, f"prwatch {name}")


def find_section(path):
    """Return the text below the heading of a command, up to the next heading."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(
        rf"^##+ {re.escape(path)}$\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"{path} is not described"
    return found[1]


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*each, id=each[0]) for each in all_commands()]
)
def test_every_option_of_a_command_is_described_and_no_other(path, command):
    described = set(re.findall(r"^\| `(--?[a-z-]+)`", find_section(path), re.MULTILINE))
    options = {
        parameter.opts[0]
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }

    assert described == options - GLOBAL
    assert command.get_short_help_str()


def test_every_described_command_exists():
    text = PAGE.read_text(encoding="utf-8")
    described = set(re.findall(r"^### (prwatch .+)$", text, re.MULTILINE))
    known = {path for path, _ in all_commands()}
    ours = {path for path in described if path.split()[1] in GROUPS}

    assert ours - known == set()
