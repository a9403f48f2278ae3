"""Named SQL texts: how they are read from files and meant for each driver."""

import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = re.compile(r"^-- name: (?P<name>\w+)(?: \((?P<engine>sqlite|postgres)\))?$")

# What is skipped is matched first: comments, texts, quoted names and casts.
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|::|:(?P<name>[a-z_]\w*)",
    re.DOTALL | re.IGNORECASE,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_WRITING = re.compile(r"\b(?:INSERT INTO|UPDATE \w+ SET|UPDATE \w+$|DELETE FROM)\b")


@dataclass(frozen=True, slots=True)
class Query:
    """
    One statement with `:name` placeholders.

    `text` serves both engines unless `postgres` holds a text of its own, which
    is the case only where the engines must differ (row locks).
    """

    name: str
    text: str
    postgres: str = ""

    @property
    def postgres_text(self) -> str:
        """Return the text that PostgreSQL runs, still with `:name` placeholders."""
        return self.postgres or self.text


@functools.lru_cache(maxsize=512)
def number_placeholders(text: str) -> tuple[str, tuple[str, ...]]:
    """
    Return the text with `$1`, `$2`, … and the names that they stand for, in order.

    A name that occurs twice keeps its number. Strings, quoted names, comments and
    `::` casts are left alone.
    """
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _TOKEN.sub(number, text), tuple(names)


@functools.lru_cache(maxsize=512)
def is_writing(text: str) -> bool:
    """Return whether a statement writes rows, judged by its text."""
    bare = " ".join(_COMMENT.sub(" ", text).split())
    return _WRITING.search(bare) is not None


@functools.cache
def load_queries(name: str) -> Mapping[str, Query]:
    """Return the queries of `queries/<name>.sql` by their own names."""
    folder = importlib.resources.files("prwatch.store") / "queries"
    text = (folder / f"{name}.sql").read_text(encoding="utf-8")
    return parse_queries(text)


def parse_queries(text: str) -> Mapping[str, Query]:
    """
    Split a file into its queries.

    Each begins with `-- name: <name>`, or `-- name: <name> (postgres)` for the
    text that one engine needs instead of the common one, and ends before the next.

    Raises:
        ValueError: A name occurs twice, or text stands before the first name.
    """
    texts: dict[tuple[str, str], str] = {}
    key: tuple[str, str] | None = None
    for line in text.splitlines():
        match = _NAME.match(line)
        if match:
            key = (match["name"], match["engine"] or "")
            if key in texts:
                raise ValueError(f"query {match['name']} is there twice")
            texts[key] = ""
        elif key is not None:
            texts[key] += line + "\n"
        elif line.strip() and not line.startswith("--"):
            raise ValueError(f"text before the first query: {line!r}")
    return {
        name: Query(name, body.strip(), texts.get((name, "postgres"), "").strip())
        for (name, engine), body in texts.items()
        if engine != "postgres"
    }
