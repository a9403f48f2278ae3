"""Read which repository of which host the URL of a git remote means."""

import re
from dataclasses import dataclass
from typing import Final

_HOST: Final = r"(?P<host>[A-Za-z0-9.-]+)"
_PATH: Final = r"(?P<owner>[A-Za-z0-9_.-]+)/(?P<name>[A-Za-z0-9_.-]+?)(?:\.git)?/*"
_FORMS: Final = (
    # A user and a password may stand before the host; they are not kept.
    re.compile(
        rf"(?:https?|git|ssh|git\+ssh|ssh\+git)://(?:[^/@]*@)?{_HOST}(?::\d+)?/+{_PATH}",
        re.ASCII | re.IGNORECASE,
    ),
    re.compile(rf"(?:[^/@:]+@)?{_HOST}:(?!//)/?{_PATH}", re.ASCII),
)
_SAME_HOST: Final = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
# GitHub's manual names the ssh aliases of a second key `github.com-…`:
# https://docs.github.com/authentication/connecting-to-github-with-ssh/managing-deploy-keys
_ALIAS: Final = "github.com-"


@dataclass(frozen=True, slots=True)
class RemoteRepository:
    """A repository on a host, as a remote's URL spells it. The host is lower case."""

    host: str
    owner: str
    name: str

    @property
    def name_with_owner(self) -> str:
        """Return `owner/name`."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote of a checkout. `is_base` says that `gh` was told to ask this one."""

    name: str
    repository: RemoteRepository
    is_base: bool = False


def parse_remote_url(url: str) -> RemoteRepository | None:
    """
    Read a URL of the forms that git accepts (git-fetch(1), «GIT URLS»).

    Returns None for local paths, other schemes and paths that are not `owner/name`.
    Whatever credentials the URL holds are dropped.
    """
    for form in _FORMS:
        match = form.fullmatch(url.strip())
        if match and match["name"] not in {".", "..", ""}:
            host = match["host"].lower()
            host = "github.com" if host.startswith(_ALIAS) else host
            return RemoteRepository(
                _SAME_HOST.get(host, host), match["owner"], match["name"]
            )
    return None


def is_resolved(url: str) -> bool:
    """
    Return whether a URL says by itself where it leads.

    One that starts with a word instead of a host may be an abbreviation, which only
    git can expand (`url.<base>.insteadOf`).
    """
    repository = parse_remote_url(url)
    if repository is None:
        return url.startswith(("/", "./", "../", "~"))
    return "." in repository.host or repository.host == "localhost"


def choose_base(remotes: tuple[Remote, ...], host: str) -> RemoteRepository | None:
    """
    Choose the repository on `host` that pull requests of a checkout are made in.

    That is the one that `gh` was told, else `upstream`, else `origin`, else the only
    one; among several others nobody can say.
    """
    here = [remote for remote in remotes if remote.repository.host == host.lower()]
    for remote in here:
        if remote.is_base:
            return remote.repository
    by_name = {remote.name: remote.repository for remote in here}
    only = here[0].repository if len(here) == 1 else None
    return by_name.get("upstream") or by_name.get("origin") or only
