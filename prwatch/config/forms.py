"""
The forms that a value may take: what is allowed, in words, and how it is read.

A form is written into the type of a key (`Annotated[str, REPOSITORY]`), so the
model alone says what each key accepts.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from prwatch.config.addresses import (
    mask_url,
    read_https_url,
    read_loopback_listen,
    read_postgres_url,
)
from prwatch.config.durations import (
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)
from prwatch.domain.task import REVIEW_PREFIX


@dataclass(frozen=True, slots=True)
class Form:
    """
    One kind of value.

    `allowed` finishes the sentence «allowed is …». `read` takes a value as TOML
    gives it and returns the value of the model; it raises `ValueError`, whose
    text, when there is one, is shown instead of `allowed`. `is_quotable` says
    whether a refused value may be shown to the person: not where people paste
    secrets by mistake. `words` are the valid values, where they can be listed.
    `show` returns what people may see of a value that was read.
    """

    allowed: str
    read: Callable[[object], object]
    is_quotable: bool = True
    words: tuple[str, ...] = ()
    show: Callable[[Any], object] = lambda value: value


def duration(minimum: str, maximum: str) -> Form:
    """Allow a duration between the two, both included."""
    low, high = parse_duration(minimum), parse_duration(maximum)

    def read(value: object) -> dt.timedelta:
        found = parse_duration(_read_text(value))
        if not low <= found <= high:
            raise ValueError
        return found

    allowed = f'a duration such as "30s", from {minimum} to {maximum}'
    return Form(allowed, read, show=format_duration)


def size(minimum: str, maximum: str) -> Form:
    """Allow a size between the two, both included."""
    low, high = parse_size(minimum), parse_size(maximum)

    def read(value: object) -> int:
        found = parse_size(_read_text(value))
        if not low <= found <= high:
            raise ValueError
        return found

    allowed = f'a size such as "64MiB", from {minimum} to {maximum}'
    return Form(allowed, read, show=format_size)


def whole_number(minimum: int, maximum: int) -> Form:
    """Allow a whole number between the two, both included."""

    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError  # noqa: TRY004 - every refusal is a ValueError, see Form
        if not minimum <= value <= maximum:
            raise ValueError
        return value

    return Form(f"a whole number from {minimum} to {maximum}", read)


def fraction(minimum: float, maximum: float) -> Form:
    """Allow a number between the two, both included."""

    def read(value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError  # noqa: TRY004 - every refusal is a ValueError, see Form
        if not minimum <= value <= maximum:  # also refuses nan
            raise ValueError
        return float(value)

    return Form(f"a number from {minimum} to {maximum}", read)


def one_of(words: Iterable[str]) -> Form:
    """Allow these words."""
    known = tuple(words)

    def read(value: object) -> str:
        if value not in known:
            raise ValueError
        return str(value)

    allowed = f"one of {', '.join(known)}" if len(known) > 1 else f'"{known[0]}"'
    return Form(allowed, read, words=known)


def matching(allowed: str, pattern: str, *, is_quotable: bool = True) -> Form:
    """Allow text that matches the whole pattern."""
    compiled = re.compile(pattern)

    def read(value: object) -> str:
        text = _read_text(value)
        if compiled.fullmatch(text) is None:
            raise ValueError
        return text

    return Form(allowed, read, is_quotable)


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004 - every refusal is a ValueError, see Form
    return value


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError  # noqa: TRY004 - every refusal is a ValueError, see Form
    return value


def _read_app_id(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        # Thousands of digits are an error of str().
        value = str(value) if 0 < value < _MANY_APPS else ""
    text = _read_text(value)
    if _APP_ID.fullmatch(text) is None:
        raise ValueError
    return text


def _read_path(value: object) -> Path:
    text = _read_text(value)
    if _PATH.fullmatch(text) is None:
        raise ValueError
    return Path(text)


def _read_folder(value: object) -> str:
    text = _read_text(value)
    parts = text.strip("/").split("/")
    if parts != [""] and any(_PART.fullmatch(part) is None for part in parts):
        raise ValueError
    return text


def _read_branch(value: object) -> str:
    text = _read_text(value)
    if text.startswith("refs/heads/"):
        raise ValueError("the branch's name without refs/heads/")
    if _BRANCH.fullmatch(text) is None or ".." in text or text.endswith((".", "/")):
        raise ValueError
    return text


def _read_repository(value: object) -> str:
    text = _read_text(value)
    address = _REPOSITORY_ADDRESS.fullmatch(text)
    if address is not None:
        raise ValueError(f'owner/name alone: "{address[1]}"')
    if _REPOSITORY.fullmatch(text) is None or text.endswith(("/.", "/..")):
        raise ValueError
    return text


# Such paths exist, but they cannot be written to a log, nor into JSON.
_PATH = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,4096}")
# https://git-scm.com/docs/git-check-ref-format but for a space inside: servers that
# import history have shown such names, and asking for one that is not there is safe.
_BRANCH = re.compile(r"(?![-/. ])[^\x00-\x1f\x7f~^:?*\[\\]{1,255}(?<! )")
# One folder of a path inside a repository, and nothing that leads out of it.
_PART = re.compile(r"(?!\.{1,2}$)[^/\\\x00-\x1f\x7f\ud800-\udfff]{1,100}")
_MANY_APPS: Final = 10**15
# Client ids are such as Iv1.8a61f9b3a7aba766 and Iv23liAbCdEfGhIjKlMn.
_APP_ID = re.compile(r"[1-9][0-9]{0,14}|[A-Za-z][A-Za-z0-9._-]{3,99}")
# Logins are letters, digits and single hyphens; managed users end in _shortcode.
_NAME_WITH_OWNER = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}"
_REPOSITORY = re.compile(_NAME_WITH_OWNER)
_REPOSITORY_ADDRESS = re.compile(
    rf"(?:https?://|ssh://git@|git@)[^/:\s]+[/:]({_NAME_WITH_OWNER}?)(?:\.git|/.*)?"
)

FLAG: Final = Form("true or false", _read_flag)
PATH: Final = Form("a path", _read_path, show=str)
APP_ID: Final = Form("the number of an app, or its client id as text", _read_app_id)
BRANCH: Final = Form("a branch's name", _read_branch)
FOLDER: Final = Form("a folder of a repository, such as .prwatch/", _read_folder)
REPOSITORY: Final = Form("a repository as owner/name", _read_repository)
API_URL: Final = Form(
    "an https:// URL (http:// for this machine alone)", read_https_url
)
# The path of a webhook's URL is often what lets one post to it.
WEBHOOK_URL: Final = Form(
    API_URL.allowed, read_https_url, is_quotable=False, show=mask_url
)
LISTEN: Final = Form(
    "HOST:PORT of this machine, such as 127.0.0.1:9464", read_loopback_listen
)
POSTGRES_URL: Final = Form(
    "a URL such as postgresql://prwatch@host/prwatch",
    read_postgres_url,
    is_quotable=False,
)
TEXT: Final = matching(
    "a line of at most 1000 characters", r"[^\x00-\x1f\x7f\ud800-\udfff]{0,1000}"
)
IDENTIFIER: Final = matching(
    "1 to 200 characters without line breaks", r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}"
)
TASK_ID: Final = matching(
    f"{IDENTIFIER.allowed} that do not begin with {REVIEW_PREFIX}",
    rf"(?!{REVIEW_PREFIX})[^\x00-\x1f\x7f\ud800-\udfff]{{1,200}}",
)
NAME: Final = matching(
    "a name of letters, digits, dots, hyphens and underscores",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
)
ENVIRONMENT_NAME: Final = matching(
    "the name of an environment variable, never the secret itself",
    r"[A-Za-z_][A-Za-z0-9_]{0,127}",
    is_quotable=False,
)
CREDENTIAL_NAME: Final = matching(
    "the name of a systemd credential, never the secret itself",
    r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
    is_quotable=False,
)
ARGUMENT: Final = matching("text without NUL", r"[^\x00]{1,4096}", is_quotable=False)
