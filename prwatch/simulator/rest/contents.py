"""
The route of a repository's contents: one file, or the list of a folder.

https://docs.github.com/en/rest/repos/contents. A folder is there while a file is below
it. A file that is no UTF-8 is answered like any other, in base64.
"""

import base64
import hashlib
from collections.abc import Mapping

from prwatch.simulator.entities import Repository
from prwatch.simulator.rest.render import JsonObject

LARGEST: int = 1024**2
"""Of a longer file the content is left out."""


def find_contents(
    repository: Repository, path: str, ref: str
) -> list[JsonObject] | JsonObject | None:
    """Return the file or the folder's list at that path, or None for neither."""
    branch = ref.removeprefix("refs/heads/") or repository.default_branch
    if branch not in repository.branches:
        return None
    files = repository.files.get(branch, {})
    path = path.strip("/")
    if path in files:
        return _render_file(repository, path, files[path], is_full=True)
    start = f"{path}/" if path else ""
    below = {each.removeprefix(start) for each in files if each.startswith(start)}
    if path and not below:
        return None
    names = sorted({each.partition("/")[0] for each in below})
    return [_render_entry(repository, f"{start}{name}", files) for name in names]


def _render_entry(
    repository: Repository, path: str, files: Mapping[str, bytes]
) -> JsonObject:
    if path in files:
        return _render_file(repository, path, files[path])
    below = sorted(each for each in files if each.startswith(f"{path}/"))
    content = b"".join(files[each] for each in below)
    return _render(repository, path, "dir", _name_object("tree", content), 0)


def _render_file(
    repository: Repository, path: str, content: bytes, *, is_full: bool = False
) -> JsonObject:
    sha = _name_object("blob", content)
    rendered = _render(repository, path, "file", sha, len(content))
    if is_full and len(content) > LARGEST:
        rendered |= {"content": "", "encoding": "none"}
    elif is_full:
        text = base64.encodebytes(content).decode()
        rendered |= {"content": text, "encoding": "base64"}
    return rendered


def _render(
    repository: Repository, path: str, kind: str, sha: str, size: int
) -> JsonObject:
    name = repository.name_with_owner
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": size,
        "url": f"https://api.github.com/repos/{name}/contents/{path}",
        "type": kind,
    }


def _name_object(kind: str, content: bytes) -> str:
    """Return git's name of an object, as far as its content decides it."""
    head = f"{kind} {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
