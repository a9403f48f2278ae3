"""
Reads the text of a watch file: its raw values, and where each of them stands.

The text is written by others, so nothing of it may cost more than its length: files
are short, names have few parts, and neither tables nor arrays are deep.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from prwatch.config.inline_secrets import holds_secret
from prwatch.config.toml_lines import Places, locate_places
from prwatch.errors import ConfigError

MAX_DEPTH: Final = 8
"""Tables and arrays in each other; what is asked for has four."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Reading a name of many parts takes the square of their number, and more.
_LONG_NAME: Final = re.compile(
    r"(?<![\w-])(?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){16}"
)
_PLACE: Final = re.compile(r"\(at line ([0-9]+), column ([0-9]+)\)")

Table: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WatchDocument:
    """The values of a watch file, and the places of their keys."""

    table: Table
    places: Places


def decode_text(content: bytes, name: str) -> str:
    """
    Return a file's text with line ends of one character.

    Raises:
        ConfigError: It is no text in UTF-8.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - before.rfind(b"\n")
        raise refuse(name, line, column, "a byte that is not UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    strange = _CONTROL.search(text)
    if strange is not None:
        reason = f"the control character {strange[0]!a}"
        raise refuse_at(name, text, strange.start(), reason)
    return text


def read_toml(text: str, name: str) -> WatchDocument:
    """
    Return the values of a TOML text.

    Raises:
        ConfigError: It is none, or deeper than anything that is asked for.
    """
    long = _LONG_NAME.search(text)
    if long is not None:
        raise refuse_at(name, text, long.start(), "a name of too many parts")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refuse_toml(name, text, str(error)) from None
    except RecursionError:
        raise refuse(name, 1, 1, "arrays that are too deep") from None
    except ValueError:  # the parser lets the one of int() through
        raise refuse(name, 1, 1, "a number of too many digits") from None
    if _is_deep(table):
        raise refuse(name, 1, 1, f"tables more than {MAX_DEPTH} deep")
    return WatchDocument(table, locate_places(text))


def _refuse_toml(name: str, text: str, message: str) -> ConfigError:
    reason = message.partition(" (at ")[0]
    reason = f"{reason[:1].lower()}{reason[1:]}"
    place = _PLACE.search(message)
    if place is None:
        return refuse_at(name, text, len(text), reason)
    return refuse(name, int(place[1]), int(place[2]), reason)


def _is_deep(table: Table) -> bool:
    """Return whether a value is deeper than allowed, looking no deeper than that."""
    level: list[object] = [table]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _list_inner(outer)]
    return bool(level)


def _list_inner(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def refuse_at(name: str, text: str, at: int, reason: str) -> ConfigError:
    """Return the error of what stands at that position of a text."""
    line = text.count("\n", 0, at) + 1
    return refuse(name, line, at - text.rfind("\n", 0, at), reason)


def refuse(name: str, line: int, column: int, reason: str) -> ConfigError:
    """Return the error of a file that cannot be read; it shows no secret."""
    if holds_secret(reason):
        reason = "a mistake next to a secret, which must not stand here"
    problem = f"{name}:{line}:{column}: {reason}"
    return ConfigError(f"{name} cannot be read", problems=(problem,))
