"""
Values that environment variables and flags give instead of the file.

`PRWATCH_SECTION_KEY` sets a single value of a table, `PRWATCH_KEY` one at the top.
Keys of arrays of tables cannot be set this way.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from prwatch.config.model import Config
from prwatch.config.problems import Place, Problems, suggest
from prwatch.config.reader import find_form
from prwatch.config.toml_lines import KeyPath

PREFIX: Final = "PRWATCH_"
CONFIG_VARIABLE: Final = "PRWATCH_CONFIG"
ENVIRONMENT: Final = "environment"
COMMAND_LINE: Final = "command line"
STATE_DIR_KEY: Final[KeyPath] = ("state_dir",)
_MISSPELLED = 0.85
_FLAGS = {"true": True, "false": False}

_OPTIONS: Final = {"daemon.metrics_listen": "--metrics-listen"}
"""The options that do not bear the name of their section."""


def iter_scalars() -> Iterator[tuple[KeyPath, object]]:
    """Yield each key that is a single value, with the default that it has."""
    for info in msgspec.structs.fields(Config):
        if isinstance(info.default, msgspec.Struct):
            for inner in msgspec.structs.fields(type(info.default)):
                yield (info.encode_name, inner.encode_name), inner.default
        elif find_form(info.type) is not None:
            yield (info.encode_name,), info.default


def name_variable(path: KeyPath) -> str:
    """Return the environment variable that sets the key."""
    return PREFIX + "_".join(str(part) for part in path).upper()


def list_overrides(
    environ: Mapping[str, str], flags: Mapping[str, str]
) -> Mapping[KeyPath, tuple[object, Place]]:
    """
    Return the values given outside the file, and where. Flags win.

    An empty variable counts as not set. `flags` are keyed as in `poll.interval`.
    `STATE_DIRECTORY`, which systemd sets, is not among them: the file wins over it.
    """
    found: dict[KeyPath, tuple[object, Place]] = {}
    for path, default in iter_scalars():
        name = name_variable(path)
        if text := environ.get(name, ""):
            found[path] = _parse(text, default), Place(ENVIRONMENT, name)
        flag = ".".join(str(part) for part in path)
        if flag in flags:
            option = _OPTIONS.get(flag, "--" + flag.replace(".", "-").replace("_", "-"))
            found[path] = _parse(flags[flag], default), Place(COMMAND_LINE, option)
    unknown = flags.keys() - {".".join(map(str, path)) for path, _ in iter_scalars()}
    if unknown:
        raise ValueError(f"no such key: {', '.join(sorted(unknown))}")
    return found


def build_overlay(
    table: Mapping[str, Any], overrides: Mapping[KeyPath, tuple[object, Place]]
) -> dict[str, Any]:
    """Return the raw table with the overriding values in place of its own."""
    merged = dict(table)
    for path, (value, _) in overrides.items():
        *sections, key = path
        target = merged
        for section in sections:
            inner = target.get(str(section), {})
            if not isinstance(inner, dict):
                break  # the file has something else there, and is told so
            target[str(section)] = target = dict(inner)
        else:
            target[str(key)] = value
    return merged


def check_names(
    environ: Mapping[str, str], referenced: frozenset[str], problems: Problems
) -> None:
    """Note variables that were surely meant for us but set nothing."""
    known = {name_variable(path) for path, _ in iter_scalars()} | {CONFIG_VARIABLE}
    sections = tuple(
        f"{PREFIX}{path[0]}_".upper() for path, _ in iter_scalars() if len(path) > 1
    )
    for name in environ.keys() - known - referenced:
        if name.startswith(sections) or (
            name.startswith(PREFIX)
            and difflib.get_close_matches(name, known, n=1, cutoff=_MISSPELLED)
        ):
            problems.add_place(
                Place(ENVIRONMENT, name), f"sets no key; {suggest(name, known)}"
            )


def _parse(text: str, default: object) -> object:
    """Return the text as the TOML value that a key with this default has."""
    if isinstance(default, bool):
        return _FLAGS.get(text.lower(), text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            return text
    return text
