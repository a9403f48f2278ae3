"""
Reads a YAML text as the values that TOML would give, with the place of each key.

It follows the parser's events and builds the values itself, so a text costs no more
than its length: aliases, which may stand for any amount of it, are refused, and so
are tags. Of plain words, `true` and `false` are flags and digits are numbers; all
else is text, also what YAML takes for a date, a null or another way to say yes.
"""

import importlib.util
import re
from dataclasses import dataclass, field
from typing import Any, Final

from prwatch.config.toml_lines import KeyPath, Places
from prwatch.config.watch_document import MAX_DEPTH, WatchDocument, refuse, refuse_at
from prwatch.errors import ConfigError

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLAGS: Final = {"true": True, "false": False}


@dataclass(slots=True)
class _Open:
    """A table or an array whose end was not met. `key` waits for its value."""

    value: dict[str, Any] | list[Any]
    path: KeyPath
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """The values so far, and the places of their keys."""

    name: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    columns: dict[KeyPath, int] = field(default_factory=dict)
    root: dict[str, Any] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    documents: int = 0

    def take(self, event: Any) -> None:
        """Take one event of the parser."""
        match type(event).__name__:
            case "DocumentStartEvent":
                self.documents += 1
                if self.documents > 1:
                    raise self.refuse(event, "a second document")
            case "AliasEvent":
                raise self.refuse(event, "an alias, which is not allowed")
            case "MappingStartEvent":
                self._open(event, {})
            case "SequenceStartEvent":
                self._open(event, [])
            case "MappingEndEvent" | "SequenceEndEvent":
                self.stack.pop()
            case "ScalarEvent":
                self._take_scalar(event)

    def refuse(self, event: Any, reason: str) -> ConfigError:
        """Return the error of what stands where the event begins."""
        mark = event.start_mark
        return refuse(self.name, mark.line + 1, mark.column + 1, reason)

    def _open(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        self._check_plain(event)
        if len(self.stack) >= MAX_DEPTH:
            raise self.refuse(event, f"values more than {MAX_DEPTH} deep")
        if not self.stack:
            if not isinstance(value, dict):
                raise self.refuse(event, "an array; allowed is a table")
            self.root = value
            self.stack.append(_Open(value, ()))
            return
        path = self._add(event, value)
        self.stack.append(_Open(value, path))

    def _take_scalar(self, event: Any) -> None:
        self._check_plain(event)
        if not self.stack:
            if event.value or not event.implicit[0]:
                raise self.refuse(event, "text; allowed is a table")
            return
        top = self.stack[-1]
        if isinstance(top.value, dict) and top.key is None:
            if event.value in top.value:
                raise self.refuse(event, "a key that stands here already")
            top.key = event.value
            self._mark(event, (*top.path, event.value))
            return
        self._add(event, _read_scalar(event))

    def _add(self, event: Any, value: Any) -> KeyPath:
        """Put a value where it belongs, and return its path."""
        top = self.stack[-1]
        if isinstance(top.value, list):
            path = (*top.path, len(top.value))
            top.value.append(value)
            self._mark(event, path)
            return path
        if top.key is None:
            raise self.refuse(event, "a key that is no text")
        key, top.key = top.key, None
        top.value[key] = value
        return (*top.path, key)

    def _mark(self, event: Any, path: KeyPath) -> None:
        self.lines[path] = event.start_mark.line + 1
        self.columns[path] = event.start_mark.column + 1

    def _check_plain(self, event: Any) -> None:
        if event.anchor is not None:
            raise self.refuse(event, "an anchor, which is not allowed")
        if event.tag is not None:
            raise self.refuse(event, "a tag, which is not allowed")


def read_yaml(text: str, name: str) -> WatchDocument:
    """
    Return the values of a YAML text.

    Raises:
        ConfigError: It is none, uses what is not allowed here, or the libraries of
            the extra `yaml` are not installed.
    """
    if importlib.util.find_spec("yaml") is None:
        raise ConfigError(
            f"{name} cannot be read",
            problems=(f"{name}:1:1: YAML needs the extra `yaml`",),
            hint="pip install 'prwatch[yaml]'",
        )
    import yaml  # noqa: PLC0415 - an extra

    builder = _Builder(name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise refuse(name, line, column, str(error.problem or "no YAML")) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        raise refuse_at(name, text, position, "a character that no YAML has") from None
    return WatchDocument(builder.root, Places(builder.lines, builder.columns))


def _read_scalar(event: Any) -> object:
    """Return what a plain word means; what is quoted is text."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _FLAGS:
        return _FLAGS[text]
    return int(text) if _NUMBER.fullmatch(text) else text
