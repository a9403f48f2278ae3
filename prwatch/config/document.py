"""Reads the file of a configuration: its text, its raw values and their lines."""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from prwatch.config.inline_secrets import holds_secret
from prwatch.config.toml_lines import KeyPath, locate_keys
from prwatch.errors import ConfigError

MAX_FILE_BYTES: Final = 4 * 1024**2
TEXT_NAME: Final = "prwatch.toml"


@dataclass(frozen=True, slots=True)
class Document:
    """
    A TOML text that was understood.

    `name` is the file's name in messages, `path` its place or None when the text
    came without a file.
    """

    name: str
    text: str
    table: Mapping[str, Any]
    lines: Mapping[KeyPath, int]
    path: Path | None = None


EMPTY: Final = Document(TEXT_NAME, "", {}, {})


def read_document(source: str | Path | None) -> Document:
    """
    Return the document of a text or of a file; None is an empty one.

    Raises:
        ConfigError: The file cannot be read, or the text is no TOML.
    """
    if source is None:
        return EMPTY
    if isinstance(source, str):
        return _parse(source, TEXT_NAME, None)
    return _parse(_read_text(source), str(source), source)


def _read_text(path: Path) -> str:
    try:
        # Without O_NONBLOCK a named pipe would keep us waiting for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            _check_kind(path, os.fstat(descriptor).st_mode)
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(
            f"the configuration {path} cannot be read: {error.strerror}"
        ) from None
    if len(content) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is longer than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path} is not UTF-8 text",
            problems=(f"{path}:{line}: a byte that is not UTF-8",),
        ) from None


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise ConfigError(f"{path} is a folder, not a configuration file")
    if stat.S_ISFIFO(mode):
        raise ConfigError(
            f"{path} is a pipe, not a configuration file",
            hint="a daemon reads its configuration again; it has to be in a file",
        )


def _parse(text: str, name: str, path: Path | None) -> Document:
    # The parser counts both line ends as one line; so must we.
    text = text.replace("\r\n", "\n")
    try:
        table = tomllib.loads(text)
        lines = locate_keys(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        line = _get_error_line(message, text)
        reason = message.partition(" (at ")[0]
        reason = f"{reason[:1].lower()}{reason[1:]}"
        if holds_secret(reason):
            reason = "a mistake next to a secret, which must not stand here"
        raise ConfigError(
            f"{name} is not TOML", problems=(f"{name}:{line}: {reason}",)
        ) from None
    except RecursionError:
        raise ConfigError(f"{name} is nested too deeply") from None
    except ValueError:  # the parser lets the one of int() through
        raise ConfigError(f"{name} holds a number of too many digits") from None
    return Document(name, text, table, lines, path)


def _get_error_line(message: str, text: str) -> int:
    """Return the line that the parser names: its text is all that it gives."""
    place = message.partition("(at line ")[2].partition(",")[0]
    return int(place) if place.isdecimal() else text.count("\n") + 1
