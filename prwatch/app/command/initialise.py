"""Writes a configuration to begin with, and units that start the program."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prwatch.app.resources import read_resource
from prwatch.config.addresses import GITHUB_API_URL
from prwatch.errors import ConfigError
from prwatch.git.discovery import find_current_checkout
from prwatch.git.process import Git
from prwatch.git.remote import RemoteRepository
from prwatch.git.worktree import WorktreeReader

PROGRAM_MARK: Final = "@PRWATCH@"
_TOKEN_VARIABLES: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_HIDDEN_FOLDERS: Final = ("/home", "/root", "/run/user")
"""What ProtectHome=yes hides from a service (systemd.exec(5))."""
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_./+@:=,-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """
    What the surroundings say about the person's use of GitHub.

    `token_env` is the variable that holds a token, or ''. `repository` is the one
    that the current folder belongs to, or None.
    """

    token_env: str = ""
    has_gh: bool = False
    repository: RemoteRepository | None = None


async def detect(environ: Mapping[str, str], folder: Path) -> Detected:
    """Look for a token, for `gh`, and for the repository of the current folder."""
    return Detected(
        token_env=next((name for name in _TOKEN_VARIABLES if environ.get(name)), ""),
        has_gh=shutil.which("gh", path=environ.get("PATH")) is not None,
        repository=await _find_repository(environ, folder),
    )


async def _find_repository(
    environ: Mapping[str, str], folder: Path
) -> RemoteRepository | None:
    reader = WorktreeReader(Git(environ=environ), host="github.com")
    found = await find_current_checkout(folder, reader=reader)
    if found is None:
        return None
    remotes = found.worktree.remotes
    hosts = ["github.com", *(remote.repository.host for remote in remotes)]
    bases = (found.worktree.find_base(host) for host in hosts)
    return next((base for base in bases if base is not None), None)


def render_config(detected: Detected) -> str:
    """Return a commented configuration that watches the person's own pull requests."""
    return "\n".join((*_HEAD, *_list_token(detected), *_list_watch(detected), *_TAIL))


_HEAD: Final = (
    "# The configuration of prwatch. `prwatch config check` tells what is wrong with",
    "# it, `prwatch config show` what is in effect. A key that is not here has its",
    "# default; `prwatch config example` prints every key with what it means.",
    "",
    "# How often a pull request is asked about. Asking costs little: one request for",
    "# a hundred of them.",
    "[poll]",
    'interval = "60s"',
    "",
    "# A workspace is a set of pull requests that are watched with one token.",
    "[[workspace]]",
    'name = "default"',
)
_TAIL: Final = (
    "",
    "# A single pull request, a branch (from before it has one), or all of a",
    "# repository:",
    "# [[workspace.watch]]",
    '# repository = "octo/hello"',
    '# pull_request = 12               # or branch = "fix/login", or all = true',
    "",
    "# Where events go. Without any sink they go to standard output.",
    "[[sink]]",
    'name = "log"',
    'kind = "jsonl"                    # or stdout, webhook, command',
    'path = "events.jsonl"             # in the folder of the database',
    "",
    "# A command that is run for what needs somebody; it reads the event from its",
    "# standard input.",
    "# [[sink]]",
    '# name = "notify"',
    '# kind = "command"',
    '# argv = ["/usr/local/bin/on-feedback"]',
    '# events = ["GitHubPRFeedback"]',
    "",
)


def _list_token(detected: Detected) -> Iterator[str]:
    yield "# Where the token is; it never stands in this file. One of:"
    yield '# token_env = "GITHUB_TOKEN"        # an environment variable'
    yield '# token_file = "/path/to/file"      # a file of mode 0600'
    yield '# token_credential = "github-token" # a credential of systemd'
    yield "# gh = true                         # the program gh is asked"
    if detected.token_env or not detected.has_gh:
        yield f'token_env = "{detected.token_env or _TOKEN_VARIABLES[0]}"'
    else:
        yield "gh = true"
    repository = detected.repository
    if repository is not None and repository.host != "github.com":
        yield f'api_url = "https://{repository.host}/api/v3"'
    else:
        yield f'# api_url = "{GITHUB_API_URL}"'


def _list_watch(detected: Detected) -> Iterator[str]:
    yield ""
    yield "[[workspace.watch]]"
    if detected.repository is None:
        yield "# Every open pull request of the account behind the token."
        yield 'author = "@me"'
    else:
        yield "# Of this repository, the open pull requests of the account behind"
        yield "# the token. Without this line: those in every repository."
        yield f'repository = "{detected.repository.name_with_owner}"'
        yield 'author = "@me"'


def write_file(path: Path, text: str, *, is_forced: bool) -> bool:
    """
    Write a new file; return false when it is there already and says the same.

    With `is_forced` a file that says something else is replaced as a whole.

    Raises:
        ConfigError: It says something else, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if path.read_bytes() == text.encode():
                return False
            if not is_forced:
                raise ConfigError(
                    f"there is already a file {path}", hint="--force replaces it"
                )
        _replace(path, text)
    except OSError as error:
        reason = error.strerror or "it is no file"
        raise ConfigError(
            f"{path} cannot be written: {reason}",
            hint="name another place: `--config FILE`, or `--to DIRECTORY` for units",
        ) from error
    return True


def _replace(path: Path, text: str) -> None:
    # Written beside it first, so that nobody ever reads half a file.
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("x", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def find_program(argv0: str, environ: Mapping[str, str]) -> Path:
    """
    Return the absolute path under which this program can be started again.

    Raises:
        ConfigError: It was started in a way that leaves no program of that name.
    """
    candidates = (
        argv0 if Path(argv0).name == "prwatch" else "",
        str(Path(sys.executable).parent / "prwatch"),
        shutil.which("prwatch", path=environ.get("PATH")) or "",
    )
    for candidate in candidates:
        found = shutil.which(candidate, path=environ.get("PATH")) if candidate else None
        if found:
            return Path(os.path.realpath(found))
    raise ConfigError(
        "there is no program prwatch that a unit could start",
        hint="install prwatch (`pip install prwatch`) and run it by its name",
    )


def render_unit(name: str, program: Path) -> str:
    """Return the text of a packaged unit that starts the program."""
    return read_resource(name).replace(
        f"ExecStart={PROGRAM_MARK}", f"ExecStart={quote_word(str(program))}"
    )


def quote_word(word: str) -> str:
    """Return a word as systemd.service(5), "Command lines", wants it."""
    word = word.replace("%", "%%")
    if _PLAIN_WORD.fullmatch(word.replace("%", "")):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def list_unit_warnings(program: Path) -> tuple[str, ...]:
    """Return what would keep the unit of the system from starting this program."""
    python = Path(os.path.realpath(sys.executable))
    hidden = [
        str(path)
        for path in (program, Path(sys.prefix), python)
        if any(path.is_relative_to(folder) for folder in _HIDDEN_FOLDERS)
    ]
    if not hidden:
        return ()
    text = (
        f"the service cannot see {hidden[0]}: home folders are hidden from it"
        " (ProtectHome=yes); install prwatch elsewhere, for instance into /opt/prwatch"
    )
    return (text,)
