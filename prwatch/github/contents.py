"""
Reads a folder of a repository and the files in it, through the REST interface.

https://docs.github.com/en/rest/repos/contents. A 404 may mean that the folder is not
there, or that the repository may not be seen. Only the list of a folder above it, which
GitHub did answer, proves the former.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from prwatch.domain.watch_file import ListedFile, WatchFolder
from prwatch.errors import ProviderUnavailable, ResourceGone
from prwatch.github.rest_client import RestClient
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


class _File(_Entry):
    content: str = ""
    encoding: str = ""


_LIST: Final = msgspec.json.Decoder(list[_Entry])
_FILE: Final = msgspec.json.Decoder(_File)


@dataclass(frozen=True, slots=True)
class FolderList:
    """
    What a folder holds, and the tag that vouches for it.

    `files` is None when nothing changed since the tag that was sent. A folder that is
    proven not to be there is an empty one; then there is no tag.
    """

    files: tuple[ListedFile, ...] | None
    tag: str = ""
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """The content of a file, and git's name of just that content."""

    content: bytes
    blob: str


class Contents:
    """One credential's way to the folders and files of repositories."""

    def __init__(self, client: RestClient) -> None:
        self._client = client

    async def list_folder(self, folder: WatchFolder, *, tag: str = "") -> FolderList:
        """
        Return the entries of a folder, or that nothing changed since `tag`.

        Raises:
            ResourceGone: the repository or the branch is not there, or may not be
                seen.
            ProviderError: whatever else kept it from being read.
        """
        try:
            return await self._list(folder, folder.path, tag)
        except ResourceGone:
            if not await self._is_absent(folder):
                raise
            return FolderList((), is_there=False)

    async def fetch_file(self, folder: WatchFolder, name: str) -> FetchedFile:
        """
        Return a file of a folder as it is now.

        Raises:
            ProviderError: it could not be read.
        """
        path = _build_path(folder, f"{folder.path}/{name}" if folder.path else name)
        answer = await self._client.get(path, operation="watch file")
        read = decode(_FILE, answer.body)
        if read is None or read.encoding != "base64":
            raise _strange("GitHub's answer about a watch file is not understood")
        try:
            return FetchedFile(base64.b64decode(read.content), read.sha)
        except (binascii.Error, ValueError):
            raise _strange("GitHub's answer about a watch file is no base64") from None

    async def _list(self, folder: WatchFolder, path: str, tag: str) -> FolderList:
        answer = await self._client.get(
            _build_path(folder, path), operation="watch files", tag=tag
        )
        if answer.body is None:
            return FolderList(None, tag)
        entries = decode(_LIST, answer.body)
        if entries is None and decode(_FILE, answer.body) is not None:
            raise ResourceGone("it is a file and no folder", operation="watch files")
        if entries is None:
            raise _strange("GitHub's list of a folder is not understood")
        if len(entries) >= LONGEST_LIST:
            raise _strange("the folder has more entries than GitHub lists")
        files = tuple(
            ListedFile(
                name=clean_text(entry.name),
                blob=entry.sha,
                size_bytes=entry.size,
                is_file=entry.type == "file",
            )
            for entry in entries
        )
        return FolderList(files, answer.tag)

    async def _is_absent(self, folder: WatchFolder) -> bool:
        """Return whether the nearest folder above that is there lacks the next."""
        below = folder.path
        while below:
            above, _, name = below.rpartition("/")
            try:
                found = await self._list(folder, above, "")
            except ResourceGone:
                below = above
                continue
            return all(entry.name != name for entry in found.files or ())
        return False


def _build_path(folder: WatchFolder, path: str) -> str:
    owner, _, name = folder.repository.partition("/")
    base = f"/repos/{quote_part(owner)}/{quote_part(name)}/contents"
    inner = f"/{quote(path)}" if path else ""
    reference = f"?{urlencode({'ref': folder.branch})}" if folder.branch else ""
    return f"{base}{inner}{reference}"


def _strange(message: str) -> ProviderUnavailable:
    return ProviderUnavailable(message, operation="watch files", scope="record")
