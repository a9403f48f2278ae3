"""The example and the reference of the configuration name every key, and truly."""

import ast
import functools
import inspect
import re
import sys
import tomllib
import typing
from pathlib import Path

import msgspec
import pytest

from prwatch.config import Config, list_desired, load_config
from prwatch.config.environment import iter_scalars, name_variable
from prwatch.config.reader import find_form

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "config.example.toml"
REFERENCE = ROOT / "docs" / "reference" / "configuration.md"
HEADER = re.compile(r"(?:# )?\[{1,2}([a-z_.]+)\]{1,2}")
PAIR = re.compile(r"(# )?([a-z_]+) = (.+)")


def list_keys(kind=Config, section=""):
    """Yield the struct, the section and the field of every key of the model."""
    for info in msgspec.structs.fields(kind):
        inner = next(iter(typing.get_args(info.type)), info.type)
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            name = f"{section}.{info.encode_name}" if section else info.encode_name
            yield from list_keys(inner, name)
        else:
            yield kind, section, info


@functools.cache
def get_meanings(kind):
    """Return the text below each attribute of the struct, on one line."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    pairs = zip(tree.body, tree.body[1:], strict=False)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def read_example(text):
    """Return for each key the value that it is shown with first, and its comment."""
    section, comment, found = "", [], {}
    for line in text.splitlines():
        pair = PAIR.fullmatch(line)
        if header := HEADER.fullmatch(line):
            section = header[1]
        elif pair:
            shown = (pair[3], bool(pair[1]), " ".join(comment))
            found.setdefault((section, pair[2]), shown)
        elif line.startswith("#"):
            comment.append(line.removeprefix("#").strip())
        else:
            comment = []
    return found


def read_value(info, text):
    value = tomllib.loads(f"value = {text}")["value"]
    form = find_form(info.type)
    if form is not None:
        return form.read(value)
    element = find_form(typing.get_args(info.type)[0])
    return tuple(element.read(each) for each in value)


def render_default(info):
    """Return the default as the reference shows it."""
    if info.required:
        return "required"
    if info.default in {"", None, 0} and info.default is not False:
        return "none"
    if info.default == ():
        return "`[]`"
    shown = find_form(info.type).show(info.default)
    text = {True: "true", False: "false"}.get(shown, shown)
    return f'`"{text}"`' if isinstance(shown, str) else f"`{text}`"


def render_row(kind, info):
    """Return the line of the key in the table of its section."""
    element = next(iter(typing.get_args(info.type)), None)
    form = find_form(info.type)
    allowed = (
        form.allowed if form else f"an array; each is {find_form(element).allowed}"
    )
    meaning = get_meanings(kind)[info.name]
    cells = (f"`{info.encode_name}`", allowed, render_default(info), meaning)
    return f"| {' | '.join(cells)} |"


def render_reference():
    """Return the tables that the reference has to hold, by section."""
    tables = {}
    for kind, section, info in list_keys():
        tables.setdefault(section, []).append(render_row(kind, info))
    return tables


def read_reference(text):
    """Return the rows of the reference by section."""
    tables, section = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            header = re.search(r"`\[{1,2}([a-z_.]+)\]{1,2}`", line)
            section = header[1] if header else ("" if line == "## Top" else None)
        elif line.startswith("| `") and section is not None:
            tables.setdefault(section, []).append(line)
    return tables


KEYS = [
    pytest.param(section, info, id=f"{section}.{info.encode_name}".lstrip("."))
    for _, section, info in list_keys()
]


def test_the_example_is_a_configuration_that_can_be_used():
    loaded = load_config(EXAMPLE, environ={"HOME": "/home/me"})

    assert [workspace.name for workspace in list_desired(loaded.config)] == ["acme"]
    assert [sink.kind for sink in loaded.config.sinks] == [
        "stdout",
        "jsonl",
        "webhook",
        "command",
    ]


def test_the_example_changes_no_default_of_a_table():
    environ = {"HOME": "/home/me"}
    shown = load_config(EXAMPLE, environ=environ).config
    default = load_config(None, environ=environ).config

    sections = ("state_dir", "instance", "poll", "daemon", "events", "log", "http")
    assert {name: getattr(shown, name) for name in sections} == {
        name: getattr(default, name) for name in sections
    }


def test_the_example_has_every_key_and_no_other():
    known = {(section, info.encode_name) for _, section, info in list_keys()}

    assert set(read_example(EXAMPLE.read_text())) == known


@pytest.mark.parametrize(("section", "info"), KEYS)
def test_a_key_that_leaves_the_example_is_missed(section, info):
    lines = EXAMPLE.read_text().splitlines()
    kept, current = [], ""
    for line in lines:
        header = HEADER.fullmatch(line)
        current = header[1] if header else current
        pair = PAIR.fullmatch(line)
        if not (pair and current == section and pair[2] == info.encode_name):
            kept.append(line)

    missed = set(read_example("\n".join(lines))) - set(read_example("\n".join(kept)))
    assert missed == {(section, info.encode_name)}


@pytest.mark.parametrize(("section", "info"), KEYS)
def test_the_example_shows_a_valid_value_and_says_the_default(section, info):
    text, is_commented, comment = read_example(EXAMPLE.read_text())[
        section, info.encode_name
    ]

    value = read_value(info, text)
    if info.required:
        assert "Required" in comment
    elif info.default in {"", None, 0, ()} and info.default is not False:
        assert "Default: " in comment or "Required" in comment
    else:
        assert (value, is_commented) == (info.default, False)
        assert f"Default: {text}" in comment


def test_the_reference_has_the_row_of_every_key():
    assert read_reference(REFERENCE.read_text()) == render_reference()


def test_the_reference_names_every_environment_variable_that_sets_a_key():
    named = set(re.findall(r"`(PRWATCH_[A-Z_]+)`", REFERENCE.read_text()))

    assert named >= {name_variable(path) for path, _ in iter_scalars()}


if __name__ == "__main__":
    for name, rows in render_reference().items():
        sys.stdout.write("\n".join([f"## {name}", *rows, "", ""]))
