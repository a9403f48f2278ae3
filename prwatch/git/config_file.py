"""Read the few settings that matter from a git configuration file."""

import re
from dataclasses import dataclass, field
from typing import Final

_SECTION: Final = re.compile(
    r'\[\s*(?P<name>[A-Za-z0-9.-]+)(?:\s+"(?P<sub>(?:[^"\\]|\\.)*)")?\s*\](?P<rest>.*)'
)
_SETTING: Final = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(?P<value>.*))?")
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class GitConfig:
    """
    The settings of one repository, values in the order of the file.

    Keys are `section.key` or `section.subsection.key`; section and key are lower
    case, a subsection is as it was written. `is_whole` says that the file refers to
    no other, so that git itself would read no more from the repository.
    """

    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_whole: bool = True

    def find(self, key: str) -> str:
        """Return the value that counts, which is the last one, or ''."""
        return self.values.get(key, ("",))[-1]

    def is_true(self, key: str) -> bool:
        """Return whether a setting is on. A key without a value is."""
        return self.find(key).lower() in {"true", "yes", "on", "1"}

    def list_subsections(self, section: str, key: str) -> tuple[str, ...]:
        """List the subsections of `section` that have `key`, in the file's order."""
        head, tail = f"{section}.", f".{key}"
        return tuple(
            name[len(head) : -len(tail)]
            for name in self.values
            if name.startswith(head)
            and name.endswith(tail)
            and len(name) > len(head) + len(tail)
        )


def parse_config(text: str) -> GitConfig:
    """
    Parse a configuration file as git-config(1) describes it.

    Lines that make no sense are passed over: git refuses such a file by itself.
    """
    values: dict[str, list[str]] = {}
    prefix = ""
    for line in _join_lines(text):
        rest = line.strip()
        section = _SECTION.match(rest)
        if section:
            prefix = _section_prefix(section)
            rest = section["rest"].strip()
        setting = _SETTING.match(rest)
        if prefix and setting:
            raw = setting["value"]
            value = "true" if raw is None else _read_value(raw)
            values.setdefault(prefix + setting["key"].lower(), []).append(value)
    return _build_config(values)


def parse_config_list(listing: str) -> GitConfig:
    """Parse what `git config --null --list` prints; includes are resolved in it."""
    values: dict[str, list[str]] = {}
    for entry in listing.split("\0"):
        key, separator, value = entry.partition("\n")
        if key:
            values.setdefault(key, []).append(value if separator else "true")
    return GitConfig({key: tuple(found) for key, found in values.items()})


def _build_config(values: dict[str, list[str]]) -> GitConfig:
    """Build the settings of one file, and see whether it refers to others."""
    config = GitConfig({key: tuple(found) for key, found in values.items()})
    refers = any(key.startswith(("include.", "includeif.")) for key in values)
    is_whole = not refers and not config.is_true("extensions.worktreeconfig")
    return GitConfig(config.values, is_whole)


def _join_lines(text: str) -> list[str]:
    return re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n", r"\1", text).split("\n")


def _section_prefix(section: re.Match[str]) -> str:
    name = section["name"].lower()
    if section["sub"] is None:
        return f"{name}."
    subsection = re.sub(r"\\(.)", r"\1", section["sub"])
    return f"{name}.{subsection}."


def _read_value(raw: str) -> str:
    """Take quotes, escapes and a comment out of a value."""
    out: list[str] = []
    kept = 0
    is_quoted = False
    characters = iter(raw)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            out.append(_ESCAPES.get(escaped, escaped))
            kept = len(out)
        elif character == '"':
            is_quoted = not is_quoted
            kept = len(out)
        elif character in "#;" and not is_quoted:
            break
        else:
            out.append(character)
            if is_quoted or not character.isspace():
                kept = len(out)
    return "".join(out[:kept])
