"""Reads the secrets that references in the configuration point at."""

import enum
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prwatch.errors import ConfigError
from prwatch.telemetry.secret import Secret

MAX_SECRET_BYTES: Final = 64 * 1024
_LINE_ENDS: Final = "\r\n"
_PRIVATE_KEY = re.compile(
    r"\s*-----BEGIN [A-Z ]*PRIVATE KEY-----\n.+\n-----END [A-Z ]*PRIVATE KEY-----\s*",
    re.DOTALL,
)
_LOCKED = re.compile(r"ENCRYPTED")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class SecretSource(enum.StrEnum):
    """
    Where a secret comes from.

    GH is the GitHub command line tool, which is asked by whoever needs the token
    and never here.
    """

    ENV = "env"
    FILE = "file"
    CREDENTIAL = "credential"
    GH = "gh"


@dataclass(frozen=True, slots=True)
class SecretReference:
    """
    Name a secret without knowing it.

    `name` is the environment variable, the absolute path of the file, the name of
    the systemd credential, or '' for GH. `is_key` says that the secret is a private
    key in PEM, which has several lines.
    """

    source: SecretSource
    name: str = ""
    is_key: bool = False

    def __str__(self) -> str:
        match self.source:
            case SecretSource.ENV:
                return f"environment variable {self.name}"
            case SecretSource.FILE:
                return f"file {self.name}"
            case SecretSource.CREDENTIAL:
                return f"systemd credential {self.name}"
            case SecretSource.GH:
                return "gh auth token"


def read_secret(reference: SecretReference, environ: Mapping[str, str]) -> Secret:
    """
    Return what the reference points at, without the line break at its end.

    A file must be readable by its owner alone. systemd guards its credentials
    itself, so their mode is not looked at. https://systemd.io/CREDENTIALS/ In a
    variable the lines of a key may be parted by backslash and n.

    Raises:
        ConfigError: There is nothing, it is empty, several lines long, too long,
            no key where one must be, or others may read it. The error names the
            reference, never the value.
        ValueError: The reference is GH.
    """
    match reference.source:
        case SecretSource.ENV:
            text = _read_variable(reference, environ)
        case SecretSource.FILE:
            text = _read_file(reference, Path(reference.name), is_guarded=False)
        case SecretSource.CREDENTIAL:
            text = _read_credential(reference, environ)
        case SecretSource.GH:
            raise ValueError("gh is asked for its token when it is needed")
    text = text.rstrip(_LINE_ENDS)
    if not text.strip():
        raise ConfigError(f"{reference} is empty")
    if reference.is_key:
        return _check_key(reference, text)
    if _CONTROL.search(text):
        raise ConfigError(f"{reference} holds more than one line")
    return Secret(text)


def _check_key(reference: SecretReference, text: str) -> Secret:
    if reference.source is SecretSource.ENV and "\n" not in text:
        text = text.replace("\\n", "\n")
    text = text.replace("\r\n", "\n")
    if _PRIVATE_KEY.fullmatch(text) is None:
        raise ConfigError(
            f"{reference} holds no private key",
            hint="it must hold the whole .pem file of the GitHub App",
        )
    if _LOCKED.search(text):
        raise ConfigError(
            f"{reference} holds a private key that is locked with a passphrase",
            hint="unlock it: openssl rsa -in LOCKED.pem -out KEY.pem",
        )
    return Secret(text)


def _read_variable(reference: SecretReference, environ: Mapping[str, str]) -> str:
    text = environ.get(reference.name)
    if text is None:
        raise ConfigError(f"{reference} is not set")
    return text


def _read_credential(reference: SecretReference, environ: Mapping[str, str]) -> str:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        raise ConfigError(
            f"{reference} cannot be read: CREDENTIALS_DIRECTORY is not set",
            hint=f"add LoadCredential={reference.name}:/path/to/file to the unit",
        )
    return _read_file(reference, Path(folder) / reference.name, is_guarded=True)


def _read_file(reference: SecretReference, path: Path, *, is_guarded: bool) -> str:
    try:
        # Without O_NONBLOCK a named pipe would keep us waiting for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ConfigError(f"{reference} cannot be read: {reason}") from None
    try:
        # The open file is looked at, since the path may name another one by now.
        _check_status(reference, os.fstat(descriptor), is_guarded=is_guarded)
        content = os.read(descriptor, MAX_SECRET_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_SECRET_BYTES:
        raise ConfigError(f"{reference} is longer than {MAX_SECRET_BYTES} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{reference} is not UTF-8 text") from None


def _check_status(
    reference: SecretReference, status: os.stat_result, *, is_guarded: bool
) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{reference} is not a regular file")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077 and not is_guarded:
        raise ConfigError(
            f"{reference} is open to others than its owner (mode {mode:04o})",
            hint=f"run: chmod 600 {reference.name}",
        )
