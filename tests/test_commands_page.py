"""The reference of the commands, compared with the commands."""

import importlib
import re
from pathlib import Path

import click
import pytest

from prwatch.cli.main import COMMANDS, cli

PAGE = Path(__file__).parent.parent / "docs/reference/commands.md"
EVERYWHERE = {"--config", "--state-dir", "--json", "--log-level"}


def walk(name, command):
    """Yield the name of each command below, with its own options."""
    yield (
        name,
        {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option)
            and not EVERYWHERE & set(parameter.opts)
            for option in parameter.opts
        },
    )
    if isinstance(command, click.Group):
        for below, inner in command.commands.items():
            yield from walk(f"{name} {below}", inner)


def each_command():
    yield from walk("prwatch", cli)
    for name, entry in COMMANDS.items():
        yield from walk(
            f"prwatch {name}", importlib.import_module(entry.module).command
        )


def sections():
    """Return the text below each heading that names a command."""
    parts = re.split(r"^#+ (.+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return {
        title: text
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
        if title == "prwatch" or title.startswith("prwatch ")
    }


def tabled(text):
    """Return the options that the first column of a table names."""
    return {
        option
        for row in re.findall(r"^\| (`-.+?) \|", text, re.MULTILINE)
        for option in re.findall(r"`(--?[a-z-]+)`", row)
    }


@pytest.mark.parametrize(
    ("name", "options"), [pytest.param(*each, id=each[0]) for each in each_command()]
)
def test_every_command_is_described_with_its_options(name, options):
    has_section = name in sections()
    is_group_of_described = any(other.startswith(f"{name} ") for other in sections())

    assert has_section or (is_group_of_described and not options)
    assert tabled(sections().get(name, "")) == options


def test_no_command_is_described_that_does_not_exist():
    assert sections().keys() - {name for name, _ in each_command()} == set()


def test_what_every_command_takes_is_said_once():
    introduction = PAGE.read_text("utf-8").partition("\n## ")[0]

    assert {option for option in EVERYWHERE if option in introduction} == EVERYWHERE
