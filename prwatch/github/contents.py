"""
Reads a folder of a repository and the files in it, through the REST interface.

https://docs.github.com/en/rest/repos/contents. A 404 may mean that the folder is not
there, or that the repository may not be seen. Only the list of a folder above it, which
GitHub did answer, proves the former. That list's tag vouches for the proof, so a folder
that stays away costs what one that stays the same does.
"""

import base64
import binascii
import contextlib
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from prwatch.domain.watch_file import ListedFile, WatchFolder
from prwatch.errors import ProtocolViolation, ProviderUnavailable, ResourceGone
from prwatch.github.rest_client import RestAnswer, RestClient
from prwatch.github.rest_lists import quote_part
from prwatch.github.text import clean_text
from prwatch.github.wire import decode

LONGEST_LIST: Final = 1000
"""GitHub lists no more entries of a folder, and does not say that it left some out."""


class _Entry(msgspec.Struct):
    name: str
    sha: str = ""
    size: int = 0
    type: str = ""
    download_url: str | msgspec.UnsetType | None = msgspec.UNSET


class _File(_Entry):
    content: str = ""
    encoding: str = ""


_LIST: Final = msgspec.json.Decoder(list[_Entry])
_FILE: Final = msgspec.json.Decoder(_File)


@dataclass(frozen=True, slots=True)
class Absence:
    """
    The proof that a folder is not there: the list of the nearest one above.

    `path` is that one's, '' for the top; `tag` vouches for its list.
    """

    path: str
    tag: str


@dataclass(frozen=True, slots=True)
class FolderList:
    """
    What a folder holds, and the tag that vouches for it.

    `files` is None when nothing changed since the tag that was sent. A folder that is
    proven not to be there is an empty one, with the proof and without a tag. `is_moved`
    says that the repository has another name than the one that was asked for.
    """

    files: tuple[ListedFile, ...] | None
    tag: str = ""
    absence: Absence | None = None
    is_moved: bool = False


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """The content of a file, and git's name of just that content."""

    content: bytes
    blob: str


class Contents:
    """
    One credential's way to the folders and files of repositories.

    Where a repository moved to is kept, since GitHub counts each answer that tells it.
    """

    def __init__(self, client: RestClient) -> None:
        self._client = client
        self._moved: dict[str, str] = {}

    async def list_folder(
        self, folder: WatchFolder, *, tag: str = "", absence: Absence | None = None
    ) -> FolderList:
        """
        Return the entries of a folder, or that nothing changed since `tag`.

        `absence` is what proved the last time that it is not there; then the proof is
        looked at first.

        Raises:
            ResourceGone: the repository or the branch is not there, or may not be
                seen.
            ProviderError: whatever else kept it from being read.
        """
        try:
            listed = await self._list_known(folder, tag, absence)
        except ResourceGone as error:
            # Whoever has the name now is asked next time.
            self._moved.pop(folder.repository, None)
            raise ResourceGone(
                "the repository or its branch is not there, or the token may not see"
                f" it: {error}",
                operation=error.operation,
                request_id=error.request_id,
                scope=error.scope,
                status=error.status,
            ) from error
        return replace(listed, is_moved=folder.repository in self._moved)

    async def fetch_file(self, folder: WatchFolder, name: str) -> FetchedFile:
        """
        Return a file of a folder as it is now.

        Raises:
            ProviderError: it could not be read.
        """
        path = f"{folder.path}/{name}" if folder.path else name
        answer = await self._get(folder, path, operation="watch file")
        read = decode(_FILE, answer.body)
        if read is None or read.encoding != "base64":
            raise _strange("GitHub's answer about a watch file is not understood")
        try:
            content = base64.b64decode(read.content)
        except (binascii.Error, ValueError):
            raise _strange("GitHub's answer about a watch file is no base64") from None
        if len(content) != read.size:
            raise _strange("GitHub's answer about a watch file is not whole")
        return FetchedFile(content, read.sha)

    async def _list_known(
        self, folder: WatchFolder, tag: str, absence: Absence | None
    ) -> FolderList:
        if absence is not None:
            with contextlib.suppress(ResourceGone):
                still = await self._look_above(folder, absence)
                if still is not None:
                    return FolderList((), absence=still)
        try:
            return await self._list(folder, folder.path, tag)
        except ResourceGone:
            found = await self._prove_absence(folder)
            if found is None:
                raise
            return FolderList((), absence=found)

    async def _get(
        self, folder: WatchFolder, path: str, *, operation: str, tag: str = ""
    ) -> RestAnswer:
        """Get what is at a path of the folder's repository, wherever that is now."""
        named = _build_base(folder)
        base = self._moved.get(folder.repository, named)
        answer = await self._client.get(
            f"{base}{_build_rest(folder, path)}", operation=operation, tag=tag
        )
        now, found, _ = answer.path.partition("/contents")
        if found and now != base:
            self._moved[folder.repository] = now
        return answer

    async def _list(self, folder: WatchFolder, path: str, tag: str) -> FolderList:
        answer = await self._get(folder, path, operation="watch files", tag=tag)
        if answer.body is None:
            return FolderList(None, tag)
        entries = decode(_LIST, answer.body)
        if entries is None and decode(_FILE, answer.body) is not None:
            raise ResourceGone("it is a file and no folder", operation="watch files")
        if entries is None:
            raise _strange("GitHub's list of a folder is not understood")
        if len(entries) >= LONGEST_LIST:
            raise ProtocolViolation(
                f"the folder has {LONGEST_LIST} entries or more, of which GitHub may"
                " not list all; keep watch files in a folder of their own",
                operation="watch files",
                scope="record",
            )
        files = tuple(
            ListedFile(
                name=clean_text(entry.name),
                blob=entry.sha,
                size_bytes=entry.size,
                is_file=entry.type == "file",
                is_link=_is_link(entry),
            )
            for entry in entries
        )
        return FolderList(files, answer.tag)

    async def _prove_absence(self, folder: WatchFolder) -> Absence | None:
        """Return the nearest folder above that is there, if it lacks the next."""
        below = folder.path
        while below:
            above = below.rpartition("/")[0]
            try:
                return await self._look_above(folder, Absence(above, ""))
            except ResourceGone:
                below = above
        return None

    async def _look_above(self, folder: WatchFolder, known: Absence) -> Absence | None:
        """
        Return the proof that a folder is still not there, None where it may be.

        Raises:
            ResourceGone: the folder above is not there either.
        """
        listed = await self._list(folder, known.path, known.tag)
        if listed.files is None:
            return known
        below = folder.path[len(known.path) :].lstrip("/").partition("/")[0]
        if any(entry.name == below for entry in listed.files):
            return None
        return Absence(known.path, listed.tag)


def _is_link(entry: _Entry) -> bool:
    """Return whether an entry is a link; in lists GitHub calls a submodule a file."""
    is_submodule = entry.type == "file" and entry.download_url is None
    return is_submodule or entry.type in {"symlink", "submodule"}


def _build_base(folder: WatchFolder) -> str:
    owner, _, name = folder.repository.partition("/")
    return f"/repos/{quote_part(owner)}/{quote_part(name)}"


def _build_rest(folder: WatchFolder, path: str) -> str:
    inner = f"/{quote(path)}" if path else ""
    reference = f"?{urlencode({'ref': folder.branch})}" if folder.branch else ""
    return f"/contents{inner}{reference}"


def _strange(message: str) -> ProviderUnavailable:
    return ProviderUnavailable(message, operation="watch files", scope="record")
