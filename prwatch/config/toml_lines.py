"""
Where in a TOML text each key stands: its line and column. TOML 1.0, https://toml.io/en/v1.0.0.

The standard parser gives values without places. This scanner gives places without
values: it walks a text that `tomllib` has already accepted, so it checks nothing.
"""

import bisect
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""A key: names of tables and positions in arrays, outermost first."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
# A closing delimiter may be preceded by up to two quotes that belong to the text.
_STRINGS: Final = (
    re.compile(r'"""(?:\\.|[^\\])*?"""(?:"{0,2})', re.DOTALL),
    re.compile(r"'''.*?'''(?:'{0,2})", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)


@dataclass(frozen=True, slots=True)
class Places:
    """The line and the column of each key, both counted from 1."""

    lines: Mapping[KeyPath, int]
    columns: Mapping[KeyPath, int]


def locate_keys(text: str) -> Mapping[KeyPath, int]:
    """Return the line of every key, table and array element, as `locate_places`."""
    return locate_places(text).lines


def locate_places(text: str) -> Places:
    """
    Return the place of every key, table and array element.

    The text is valid TOML. A table that has several headers stands where it is
    named first; an element of an array of tables stands at its own header.
    """
    scanner = _Scanner(text)
    scanner.scan_document()
    return Places(scanner.lines, scanner.columns)


def get_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """Return the line of the key, or of the nearest table around it, or 1."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.columns: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._elements: dict[KeyPath, int] = {}

    def scan_document(self) -> None:
        table: KeyPath = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._scan_header()
            else:
                self._scan_pair(table)
            self._skip_blank()

    def _scan_header(self) -> KeyPath:
        at = self._at
        is_element = self._text.startswith("[[", at)
        self._at += 2 if is_element else 1
        names = self._scan_key()
        self._skip_blank()
        self._at += 2 if is_element else 1
        table: KeyPath = ()
        for name in names[:-1]:
            table = self._enter((*table, name), at)
        table = (*table, names[-1])
        if is_element:
            self._mark(table, at)
            self._elements[table] = self._elements.get(table, 0) + 1
            return self._enter(table, at)
        self._mark(table, at)
        return table

    def _enter(self, table: KeyPath, at: int) -> KeyPath:
        """Return the table, or its last element so far if it is an array."""
        self._mark(table, at)
        if table in self._elements:
            table = (*table, self._elements[table] - 1)
            self._mark(table, at)
        return table

    def _scan_pair(self, table: KeyPath) -> None:
        at = self._at
        path = table
        for name in self._scan_key():
            path = (*path, name)
            self._mark(path, at)
        self._skip_blank()
        self._at += 1
        self._skip_blank()
        self._scan_value(path)

    def _scan_key(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip_blank()
            names.append(self._scan_name())
            self._skip_blank()
            if not self._text.startswith(".", self._at):
                return names
            self._at += 1

    def _scan_name(self) -> str:
        if bare := _BARE_KEY.match(self._text, self._at):
            self._at = bare.end()
            return bare[0]
        start = self._at
        self._skip_string()
        name = tomllib.loads(f"name = {self._text[start : self._at]}")["name"]
        return str(name)

    def _scan_value(self, path: KeyPath) -> None:
        match self._text[self._at : self._at + 1]:
            case "[":
                self._scan_array(path)
            case "{":
                self._scan_inline_table(path)
            case '"' | "'":
                self._skip_string()
            case _:
                self._skip(_BARE_VALUE)

    def _scan_array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._is_before("]"):
            self._mark((*path, index), self._at)
            self._scan_value((*path, index))
            self._skip_comma()
            index += 1
        self._at += 1

    def _scan_inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._is_before("}"):
            self._scan_pair(path)
            self._skip_comma()
        self._at += 1

    def _is_before(self, end: str) -> bool:
        self._skip_blank()
        return self._at < len(self._text) and self._text[self._at] != end

    def _skip_comma(self) -> None:
        self._skip_blank()
        if self._text.startswith(",", self._at):
            self._at += 1

    def _skip_blank(self) -> None:
        self._skip(_BLANK)

    def _skip_string(self) -> None:
        for string in _STRINGS:
            if string.match(self._text, self._at):
                self._skip(string)
                return

    def _skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self._text, self._at):
            self._at = match.end()

    def _mark(self, path: KeyPath, at: int) -> None:
        if path not in self.lines:
            line = bisect.bisect_left(self._newlines, at)
            self.lines[path] = line + 1
            self.columns[path] = at - (self._newlines[line - 1] if line else -1)
