"""
Reads what a person types to name a pull request, a branch, a repository or a watch.

Parsing is pure: nothing is looked up, and no message repeats the text, which may be
a secret that was pasted by mistake.
"""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

from prwatch.config.forms import BRANCH, REPOSITORY

FORMS: Final = (
    "a pull request's URL, owner/repo#123, owner/repo@branch, owner/repo or the id"
    " of a watch"
)
LONGEST: Final = 2000
_HIGHEST_NUMBER: Final = 2**31 - 1

_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://(?P<user>[^/@]*@)?)?"
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252})(?::\d{1,5})?"
    r"/(?P<owner>[^/?#]+)/(?P<name>[^/?#]+)"
    r"(?:/(?P<kind>pull|tree)/(?P<rest>[^?#]+))?/?(?:[?#].*)?",
    re.ASCII | re.IGNORECASE,
)
_SHORT = re.compile(
    r"(?P<owner>[^/@#:]+)/(?P<name>[^/@#:]+)(?:(?P<mark>[@#])(?P<rest>.*))?", re.DOTALL
)
_HEAD = re.compile(r"(?P<head>[^:]+):(?P<branch>.+)", re.DOTALL)
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_WATCH = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,32}")
_NOT_TYPED = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
# https://git-scm.com/docs/git-check-ref-format beyond what BRANCH refuses.
_NO_BRANCH = re.compile(r"@\{|//|/\.|\.lock(?:/|\Z)")


class InvalidReference(ValueError):
    """The text names nothing; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPullRequest:
    """A pull request. `host` is '' when none was named."""

    owner: str
    name: str
    number: int
    host: str = ""

    def __str__(self) -> str:
        if self.host:
            return f"https://{self.host}/{self.owner}/{self.name}/pull/{self.number}"
        return f"{self.owner}/{self.name}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBranch:
    """
    A branch whose pull requests are made in a repository.

    `head_repository` is the `owner/name` of the fork that holds the branch, '' when
    that is the repository itself. No form names both a fork and a host.
    """

    owner: str
    name: str
    branch: str
    head_repository: str = ""
    host: str = ""

    def __str__(self) -> str:
        place = f"{self.owner}/{self.name}"
        if self.host:
            return f"https://{self.host}/{place}/tree/{quote(self.branch)}"
        if self.head_repository:
            return f"{place}@{self.head_repository}:{self.branch}"
        return f"{place}@{self.branch}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRepository:
    """All open pull requests of a repository."""

    owner: str
    name: str
    host: str = ""

    def __str__(self) -> str:
        place = f"{self.owner}/{self.name}"
        return f"https://{self.host}/{place}" if self.host else place


@dataclass(frozen=True, slots=True)
class NamedWatch:
    """A watch by its id, or by the beginning of it."""

    id: str

    def __str__(self) -> str:
        return self.id


Reference: TypeAlias = NamedPullRequest | NamedBranch | NamedRepository | NamedWatch


def parse_reference(text: str) -> Reference:
    """
    Read one reference.

    Raises:
        InvalidReference: The text has none of the forms.
    """
    # Not what Unicode calls a space: git lets a branch end with one.
    text = text.strip(" \t\r\n")
    if not text or len(text) > LONGEST or _NOT_TYPED.search(text):
        raise InvalidReference(f"it is not {FORMS}")
    if _WATCH.fullmatch(text):
        return NamedWatch(text)
    short = _SHORT.fullmatch(text)
    if short is not None:
        return _read_short(short)
    address = _ADDRESS.fullmatch(text)
    if address is not None and (address["scheme"] or "." in address["host"]):
        return _read_address(address)
    raise InvalidReference(f"it is not {FORMS}")


def parse_pull_request(text: str) -> NamedPullRequest:
    """
    Read a reference that must be one pull request.

    Raises:
        InvalidReference: It is something else.
    """
    reference = parse_reference(text)
    if not isinstance(reference, NamedPullRequest):
        raise InvalidReference("it is not a pull request's URL or owner/repo#123")
    return reference


def parse_branch(text: str) -> NamedBranch | NamedRepository:
    """
    Read a repository that may name a branch, such as `octo/hello@fix`.

    Raises:
        InvalidReference: It is something else.
    """
    reference = parse_reference(text)
    if not isinstance(reference, NamedBranch | NamedRepository):
        raise InvalidReference("it is not owner/repo@branch or owner/repo")
    return reference


def _read_short(match: re.Match[str]) -> Reference:
    owner, name = _read_repository(match["owner"], match["name"])
    if match["mark"] is None:
        return NamedRepository(owner=owner, name=name)
    if match["mark"] == "#":
        number = _read_number(match["rest"])
        return NamedPullRequest(owner=owner, name=name, number=number)
    fork = _HEAD.fullmatch(match["rest"])
    if fork is None:
        return NamedBranch(owner=owner, name=name, branch=_read_branch(match["rest"]))
    head_owner, slash, head_name = fork["head"].partition("/")
    if not slash:
        raise InvalidReference("the fork before the colon must be owner/repo")
    head = "/".join(_read_repository(head_owner, head_name))
    return NamedBranch(
        owner=owner,
        name=name,
        branch=_read_branch(fork["branch"]),
        head_repository="" if head.lower() == f"{owner}/{name}".lower() else head,
    )


def _read_address(match: re.Match[str]) -> Reference:
    if match["user"]:
        raise InvalidReference("the URL must be without user and password")
    host = match["host"].lower().removeprefix("www.")
    owner, name = _read_repository(match["owner"], match["name"].removesuffix(".git"))
    if match["kind"] is None:
        return NamedRepository(owner=owner, name=name, host=host)
    if match["kind"].lower() == "pull":
        number = _read_number(match["rest"].partition("/")[0])
        return NamedPullRequest(owner=owner, name=name, number=number, host=host)
    try:
        branch = unquote(match["rest"].rstrip("/"), errors="strict")
    except UnicodeDecodeError:
        raise InvalidReference("the branch in the URL is not UTF-8") from None
    return NamedBranch(owner=owner, name=name, branch=_read_branch(branch), host=host)


def _read_repository(owner: str, name: str) -> tuple[str, str]:
    try:
        REPOSITORY.read(f"{owner}/{name}")
    except ValueError:
        raise InvalidReference("its repository is not owner/repo") from None
    return owner, name


def _read_number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None or int(text) > _HIGHEST_NUMBER:
        raise InvalidReference("its pull request is not a whole number from 1 on")
    return int(text)


def _read_branch(text: str) -> str:
    try:
        BRANCH.read(text)
    except ValueError:
        raise InvalidReference("what follows the @ is not a branch's name") from None
    if text == "@" or _NO_BRANCH.search(text):
        raise InvalidReference("what follows the @ is not a branch's name")
    return text
