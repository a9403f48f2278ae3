"""Gathers everything that is wrong with a configuration, to be told in one go."""

import datetime as dt
import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from prwatch.config.inline_secrets import holds_secret
from prwatch.config.toml_lines import KeyPath, get_line

_MAX_QUOTED: Final = 60
_MAX_COMPARED: Final = 100
_MAX_NUMBER: Final = 10**18
_HIDDEN: Final = "text that is not shown, since it may be a secret"
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,30}")
_KINDS: Final[Mapping[type, str]] = {
    dict: "a table",
    list: "an array",
    dt.date: "a date",
    dt.time: "a time",
}


def render_key(path: KeyPath) -> str:
    """Return the key as people write it: `workspace[0].watch[1].branch`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE_KEY.fullmatch(part) else quote(part)
            text += f".{name}" if text else name
    return text


def quote(text: str) -> str:
    """Return the text in quotes on one line, short, and never a secret."""
    if holds_secret(text):
        return _HIDDEN
    cut = text[:_MAX_QUOTED]
    shown = json.dumps(cut, ensure_ascii=not cut.isprintable())
    return shown if cut == text else f"{shown} and more"


def describe(value: object, *, is_quotable: bool = True) -> str:
    """Return a value as TOML would say it, short, and never a secret."""
    if isinstance(value, str):
        return quote(value) if is_quotable else _HIDDEN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        # Thousands of digits are an error of str(), and no help.
        return "a huge number" if abs(value) > _MAX_NUMBER else str(value)
    return next(
        (name for kind, name in _KINDS.items() if isinstance(value, kind)),
        "something else",
    )


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a sentence's end that names the nearest word, or all of them."""
    words = list(known)
    # To compare takes the square of the length, and no word is that long.
    word = word[:_MAX_COMPARED]
    nearest = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if nearest:
        return f"did you mean {nearest[0]}?"
    return "allowed are " + ", ".join(sorted(words))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was given when it was not in the file, and under which name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(slots=True)
class Problems:
    """
    What is wrong so far, at most one sentence a key.

    `file` names the file in messages; `lines` are those of its keys; `places` are
    the keys whose values came from elsewhere. With `columns` they are told as well.
    """

    file: str
    lines: Mapping[KeyPath, int]
    places: Mapping[KeyPath, Place] = field(default_factory=dict)
    columns: Mapping[KeyPath, int] = field(default_factory=dict)
    _found: dict[KeyPath, tuple[int, str]] = field(default_factory=dict)
    _parts: set[KeyPath] = field(default_factory=set)
    """The keys that were found wrong, and all around them."""
    _wrong_lines: set[int] = field(default_factory=set)

    def add(self, path: KeyPath, text: str) -> None:
        """Remember that the key is wrong. The first sentence about a key stays."""
        place = self.places.get(path)
        if place is not None:
            self._put(path, 0, f"{place.kind}: {place.name}: {text}")
            return
        line = get_line(self.lines, path)
        column = f":{get_line(self.columns, path)}" if self.columns else ""
        message = f"{self.file}:{line}{column}: {render_key(path)}: {text}"
        self._put(path, line, message)

    def add_line(self, line: int, text: str) -> None:
        """Remember that a line is wrong, unless a key of it is known to be."""
        if line in self._wrong_lines:
            return
        column = ":1" if self.columns else ""
        self._put((line,), line, f"{self.file}:{line}{column}: {text}")

    def add_place(self, place: Place, text: str) -> None:
        """Remember that something outside the file, which is no key, is wrong."""
        path = (place.kind, place.name)
        self._put(path, 0, f"{place.kind}: {place.name}: {text}")

    def has(self, path: KeyPath) -> bool:
        """Return whether the key, or a part of its value, was found wrong before."""
        return path in self._parts

    def render(self) -> tuple[str, ...]:
        """Return all of them, one line each, in the order of the file."""
        return tuple(text for _, text in sorted(self._found.values()))

    def _put(self, path: KeyPath, line: int, message: str) -> None:
        if path not in self._found:
            self._found[path] = (line, message)
            self._wrong_lines.add(line)
            self._parts.update(path[:length] for length in range(len(path) + 1))
