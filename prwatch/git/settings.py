"""Know a repository's settings and remotes, from its file or, if need be, from git."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prwatch.git.config_file import GitConfig, parse_config, parse_config_list
from prwatch.git.files import (
    CONFIG_LIMIT_BYTES,
    Layout,
    Signature,
    read_bounded,
    read_signature,
)
from prwatch.git.process import Git, GitFailure
from prwatch.git.remote import (
    Remote,
    RemoteRepository,
    is_resolved,
    parse_remote_url,
)

MOST_ANSWERS: Final = 4096


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """What the repository's own file says, with the signature it had then."""

    path: Path
    signature: Signature | None
    config: GitConfig


class Settings:
    """
    The settings of repositories, remembered while their files stay as they are.

    A file that refers to others is read by git, and so are abbreviated URLs and the
    person's own `remote.pushDefault`. Without a git program the file has to do; a
    git that fails is a failure, because half an answer would come and go.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self._local: dict[Path, LocalSettings] = {}
        self._answers: dict[tuple[object, ...], str] = {}

    def forget(self) -> None:
        """Ask anew: files that others refer to may have changed."""
        self._local.clear()
        self._answers.clear()

    def read_local(self, layout: Layout) -> LocalSettings:
        """
        Read the repository's file, if it changed since. Blocks; for threads.

        Raises:
            OSError: there is a file and it cannot be read.
        """
        path = layout.common_dir / "config"
        signature = read_signature(path)
        known = self._local.get(path)
        if known is not None and known.signature == signature:
            return known
        text = ""
        if signature is not None:
            content = read_bounded(path, CONFIG_LIMIT_BYTES)
            text = content.decode(errors="surrogateescape")
        local = LocalSettings(path, signature, parse_config(text))
        self._local[path] = local
        return local

    async def find_push_repository(
        self, folder: Path, local: LocalSettings, branch: str
    ) -> RemoteRepository | GitFailure | None:
        """
        Find the repository that `git push` sends a branch to (git-config(1)).

        None means that no remote says so or that the remote is no repository of a
        host, such as a folder.
        """
        config = local.config
        if not config.is_whole or _needs_person(config, branch):
            whole = await self._read_whole(folder, local, branch)
            if isinstance(whole, GitFailure):
                return whole
            config = whole
        remote = _choose_push_remote(config, branch)
        if not remote:
            return None
        for key in ("pushurl", "url"):
            url = config.values.get(f"remote.{remote}.{key}", ("",))[0]
            if url:
                return await self._resolve(folder, local, remote, url, "--push")
        # `gh pr checkout` names the fork's URL itself as the branch's remote.
        return parse_remote_url(remote)

    async def list_remotes(
        self, folder: Path, local: LocalSettings
    ) -> tuple[Remote, ...] | GitFailure:
        """List the remotes that are repositories of a host; others are left out."""
        config = local.config
        if not config.is_whole:
            whole = await self._read_whole(folder, local, "")
            if isinstance(whole, GitFailure):
                return whole
            config = whole
        remotes = []
        for name in config.list_subsections("remote", "url"):
            url = config.values[f"remote.{name}.url"][0]
            repository = await self._resolve(folder, local, name, url)
            if isinstance(repository, GitFailure):
                return repository
            if repository is not None:
                is_base = config.find(f"remote.{name}.gh-resolved") == "base"
                remotes.append(Remote(name, repository, is_base))
        return tuple(remotes)

    async def _read_whole(
        self, folder: Path, local: LocalSettings, branch: str
    ) -> GitConfig | GitFailure:
        listing = await self._ask(folder, local, branch, "config", "--null", "--list")
        if isinstance(listing, GitFailure):
            return local.config if listing.is_missing else listing
        whole = parse_config_list(listing)
        # Git passes over the file of a repository that belongs to somebody else.
        if not local.config.values.keys() <= whole.values.keys():
            return GitFailure("git does not read this repository's settings")
        return whole

    async def _resolve(
        self, folder: Path, local: LocalSettings, remote: str, url: str, *flags: str
    ) -> RemoteRepository | GitFailure | None:
        if not is_resolved(url):
            arguments = ("remote", "get-url", *flags, "--", remote)
            expanded = await self._ask(folder, local, "", *arguments)
            if isinstance(expanded, GitFailure) and not expanded.is_missing:
                return expanded
            url = expanded.strip() if isinstance(expanded, str) else url
        return parse_remote_url(url)

    async def _ask(
        self, folder: Path, local: LocalSettings, branch: str, *arguments: str
    ) -> str | GitFailure:
        key = (local.path, local.signature, branch, arguments)
        known = self._answers.get(key)
        if known is not None:
            return known
        output = await self._git.ask(str(folder), *arguments)
        if isinstance(output, GitFailure):
            return output
        if output.exit_code != 0:
            return GitFailure(f"git {arguments[0]} failed ({output.exit_code})")
        if len(self._answers) >= MOST_ANSWERS:
            self._answers.clear()
        self._answers[key] = output.text
        return output.text


def _needs_person(config: GitConfig, branch: str) -> bool:
    """Only with several remotes can the person's own settings make a difference."""
    return (
        not config.find(f"branch.{branch}.pushremote")
        and not config.find("remote.pushdefault")
        and len(config.list_subsections("remote", "url")) > 1
    )


def _choose_push_remote(config: GitConfig, branch: str) -> str:
    names = (
        config.find(f"branch.{branch}.pushremote"),
        config.find("remote.pushdefault"),
        config.find(f"branch.{branch}.remote"),
    )
    for name in names:
        # A branch may track another branch of the same repository, remote «.».
        if name and name != ".":
            return name
    remotes = config.list_subsections("remote", "url")
    return remotes[0] if len(remotes) == 1 else "origin" if "origin" in remotes else ""
