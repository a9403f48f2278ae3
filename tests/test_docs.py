"""What the documentation says, compared with what the code does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import prwatch.errors
from prwatch.config.loader import load_config
from prwatch.domain import circuit
from prwatch.domain.events import ChangeField, EventType
from prwatch.domain.outbox import TRANSITIONS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
ARROW = re.compile(r"^ *(\S+) --> (\S+?)(?::.*)?$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def section(page, title):
    """Return the text below a heading, up to the next heading of its level or above."""
    level, _, _ = title.partition(" ")
    rest = page.read_text(encoding="utf-8").split(f"\n{title}\n", maxsplit=1)[1]
    return re.split(rf"\n#{{1,{len(level)}}} ", rest, maxsplit=1)[0]


def rows(text):
    """Return the cells of the tables in a text, without heads and code marks."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        [cell.replace("`", "") for cell in cells]
        for cells, following in zip(table, [*table[1:], None], strict=True)
        if not set("".join(cells)) <= set("-:")
        and not (following and set("".join(following)) <= set("-:"))
    ]


def arrows(title):
    """Return the arrows between states of the diagram below a heading."""
    text = section(DOCS / "explanation/state-machines.md", title)
    diagram = re.search(r"```mermaid\n(.*?)```", text, re.DOTALL).group(1)
    return {(start, end) for start, end in ARROW.findall(diagram)}


def error_classes(base=prwatch.errors.PrwatchError):
    yield base
    for child in base.__subclasses__():
        if child.__module__ == prwatch.errors.__name__:
            yield from error_classes(child)


def anchors(page):
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", text).lower().replace(" ", "-") for text in headings
    }


def make_targets():
    text = (ROOT / "Makefile").read_text()
    return set(re.findall(r"^([a-z0-9-]+):", text, re.MULTILINE))


def listed_commands(*group):
    """Return the commands that `prwatch GROUP --help` lists."""
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "from prwatch.cli.main import main; main()",
            *group,
            "--help",
        ],
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    _, _, commands = result.stdout.partition("\nCommands:\n")
    return set(re.findall(r"^  ([a-z][a-z-]*)(?: |$)", commands, re.MULTILINE))


def documented_commands():
    """Return the commands of the README with their subcommands."""
    table = rows(section(ROOT / "README.md", "## Commands"))
    return {
        command.removeprefix("prwatch "): set(filter(None, subcommands.split(", ")))
        for command, subcommands, _ in table
    }


def test_every_event_type_is_described():
    described = [
        row[0] for row in rows(section(DOCS / "reference/events.md", "## Types"))
    ]

    assert described == [str(each) for each in EventType]


def test_every_field_of_a_change_is_described():
    text = section(DOCS / "reference/events.md", "## Fields of a change")

    assert [row[0] for row in rows(text)] == [str(field) for field in ChangeField]


def test_every_error_is_described_as_it_is():
    page = (DOCS / "reference/errors.md").read_text("utf-8")
    described = [tuple(row[:4]) for row in rows(page) if len(row) == 6]

    assert sorted(described) == sorted(
        (
            each.code,
            each.__name__,
            "yes" if each.retryable else "no",
            str(each.exit_code),
        )
        for each in error_classes()
    )


def test_every_exit_code_of_an_error_is_described():
    described = {
        row[0] for row in rows(section(DOCS / "reference/errors.md", "## Exit codes"))
    }

    assert {str(each.exit_code) for each in error_classes()} <= described


def test_the_diagram_of_deliveries_shows_every_transition():
    inner = {arrow for arrow in arrows("## Delivery") if "[*]" not in arrow}

    assert inner == {
        (start, end) for start, ends in TRANSITIONS.items() for end in ends
    }


def test_the_diagram_of_circuits_shows_every_transition():
    inner = {arrow for arrow in arrows("## Circuit") if "[*]" not in arrow}

    assert inner == {
        (start, end) for start, ends in circuit.TRANSITIONS.items() for end in ends
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


def test_every_page_is_reached_from_the_index():
    index = DOCS / "README.md"
    linked = {
        (DOCS / link.partition("#")[0]).resolve()
        for link in LINK.findall(index.read_text(encoding="utf-8"))
        if "://" not in link
    }

    assert [page for page in DOCS.rglob("*.md") if page not in {*linked, index}] == []


@pytest.mark.parametrize(
    "page",
    sorted((DOCS / "decisions").glob("*.md")),
    ids=lambda page: page.name,
)
def test_a_decision_says_why_and_how_it_would_be_seen_to_be_wrong(page):
    headings = re.findall(r"^## (.+)$", page.read_text("utf-8"), re.MULTILINE)

    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page.name)
    assert headings == [
        "Context",
        "Choice",
        "Alternatives",
        "Consequences",
        "How we would notice that it was wrong",
    ]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_a_page_names_exists(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`|… )make ([a-z0-9-]+)", text, re.MULTILINE))

    assert named
    assert named - make_targets() == set()


def test_the_quick_start_is_two_commands():
    text = section(ROOT / "README.md", "## Quick start")
    first = re.search(r"```sh\n(.*?)```", text, re.DOTALL).group(1)

    assert [line.split("#")[0].strip() for line in first.splitlines()] == [
        "make run",
        "make test",
    ]


def test_every_make_target_says_what_it_does():
    text = (ROOT / "Makefile").read_text()
    described = set(re.findall(r"^([a-z0-9-]+):[^#\n]*## \S", text, re.MULTILINE))

    assert described == make_targets()


def test_the_configuration_of_the_readme_is_accepted(tmp_path):
    text = section(ROOT / "README.md", "## Configure")
    file = tmp_path / "prwatch.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1))

    loaded = load_config(file, environ={"HOME": str(tmp_path)})

    assert loaded.path == file


def test_the_readme_lists_every_command():
    assert set(documented_commands()) == listed_commands()


@pytest.mark.parametrize(
    "group", [name for name, below in documented_commands().items() if below]
)
def test_the_readme_lists_every_subcommand(group):
    assert documented_commands()[group] == listed_commands(group)
