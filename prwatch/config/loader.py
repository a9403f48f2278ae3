"""
Turns a file, the environment and flags into one checked configuration.

Everything that is wrong is told at once. Nothing else reads the environment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from prwatch.config.checks import check_config
from prwatch.config.completion import complete_config
from prwatch.config.document import Document, read_document
from prwatch.config.environment import (
    ENVIRONMENT,
    STATE_DIR_KEY,
    build_overlay,
    check_names,
    list_overrides,
)
from prwatch.config.inline_secrets import REASON, list_secret_lines
from prwatch.config.model import Config
from prwatch.config.places import anchor, expand_home, get_service_folder
from prwatch.config.problems import Place, Problems, render_key
from prwatch.config.reader import read_struct
from prwatch.config.toml_lines import KeyPath, get_line
from prwatch.errors import ConfigError

NO_FLAGS: Final[Mapping[str, str]] = MappingProxyType({})
DEFAULT_ORIGIN: Final = "default"
_Overrides = Mapping[KeyPath, tuple[object, Place]]


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """
    A configuration that can be used, and where each value came from.

    Every path in `config` is absolute. `origins` maps a key such as
    `poll.interval` or `sink[0].kind` to `default`, `FILE:LINE`,
    `environment VARIABLE` or `command line --FLAG`. `path` is the file, if any.
    """

    config: Config
    origins: Mapping[str, str]
    path: Path | None


def load_config(
    source: str | Path | None,
    *,
    environ: Mapping[str, str],
    flags: Mapping[str, str] = NO_FLAGS,
    cwd: Path | None = None,
) -> LoadedConfig:
    """
    Return the configuration of a text, a file, or of nothing but the defaults.

    A flag (`{"poll.interval": "30s"}`) wins over `PRWATCH_POLL_INTERVAL`, that over
    the file, that over `$STATE_DIRECTORY` for the state folder, that over defaults.

    Raises:
        ConfigError: Something is wrong; `problems` has a line for each.
    """
    document = read_document(source)
    overrides = list_overrides(environ, flags)
    service_folder = get_service_folder(environ)
    if service_folder and "state_dir" not in document.table:
        place = Place(ENVIRONMENT, "STATE_DIRECTORY")
        overrides = {STATE_DIR_KEY: (service_folder, place), **overrides}
    places = {path: place for path, (_, place) in overrides.items()}
    problems = Problems(document.name, document.lines, places)
    overlay = build_overlay(document.table, overrides)
    config = read_struct(Config, overlay, (), problems)
    config = complete_config(config, places.keys() | document.lines.keys())
    try:
        config = _anchor(config, document, overrides, environ, cwd or Path.cwd())
    except ConfigError as error:
        problems.add_place(Place(ENVIRONMENT, "HOME"), str(error))
    check_config(config, problems)
    check_names(environ, _list_referenced(config), problems)
    for line in list_secret_lines(document.text):
        problems.add_line(line, f"something that looks like a secret: {REASON}")
    _raise_problems(problems)
    origins = dict(_list_origins(config, (), document, overrides))
    return LoadedConfig(config, MappingProxyType(origins), document.path)


def _anchor(
    config: Config,
    document: Document,
    overrides: _Overrides,
    environ: Mapping[str, str],
    cwd: Path,
) -> Config:
    is_from_file = STATE_DIR_KEY not in overrides and document.path is not None
    base = cwd / document.path.parent if is_from_file and document.path else cwd
    state_dir = base / expand_home(config.state_dir, environ)
    config = msgspec.structs.replace(config, state_dir=state_dir)
    return anchor(config, state_dir, environ)


def _list_referenced(config: Config) -> frozenset[str]:
    """Return the variables that hold secrets, so that none counts as a mistake."""
    names = {config.database_password_env}
    names.update(workspace.token_env for workspace in config.workspaces)
    names.update(each.app.private_key_env for each in config.workspaces if each.app)
    names.update(sink.secret_env for sink in config.sinks)
    return frozenset(names)


def _raise_problems(problems: Problems) -> None:
    lines = problems.render()
    if lines:
        count = "one problem" if len(lines) == 1 else f"{len(lines)} problems"
        raise ConfigError(
            f"the configuration cannot be used: {count}, the first is {lines[0]}",
            problems=lines,
            hint="`prwatch config check` lists them all",
        )


def _list_origins(
    value: object, path: KeyPath, document: Document, overrides: _Overrides
) -> Iterator[tuple[str, str]]:
    """Yield each key that holds a value, with where the value came from."""
    if isinstance(value, msgspec.Struct):
        for info in msgspec.structs.fields(type(value)):
            inner: Any = getattr(value, info.name)
            yield from _list_origins(
                inner, (*path, info.encode_name), document, overrides
            )
    elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        for index, each in enumerate(value):
            yield from _list_origins(each, (*path, index), document, overrides)
    else:
        yield render_key(path), _name_origin(path, document, overrides)


def _name_origin(path: KeyPath, document: Document, overrides: _Overrides) -> str:
    if path in overrides:
        return str(overrides[path][1])
    if path in document.lines:
        return f"{document.name}:{get_line(document.lines, path)}"
    return DEFAULT_ORIGIN
