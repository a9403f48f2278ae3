"""The checkout that a person stands in, as a repository and a branch to watch."""

from collections.abc import Mapping
from pathlib import Path

from prwatch.app.command.references import NamedBranch
from prwatch.app.worktrees import LiveWorktrees
from prwatch.domain.targets import OnBranch
from prwatch.errors import NotFound
from prwatch.git.discovery import CurrentCheckout, find_current_checkout
from prwatch.git.remote import RemoteRepository


async def find_checkout(
    folder: Path, host: str, environ: Mapping[str, str]
) -> tuple[str, RemoteRepository]:
    """
    Find the worktree around a folder, and the repository of its pull requests.

    Raises:
        NotFound: There is none, or no repository of `host`.
    """
    found, base = await _find(folder, host, environ)
    return found.worktree.path, base


async def find_current_branch(
    folder: Path, host: str, environ: Mapping[str, str]
) -> NamedBranch:
    """
    Find the branch that the checkout around a folder is on.

    Raises:
        NotFound: There is no checkout, no repository of `host`, or no branch.
    """
    found, base = await _find(folder, host, environ)
    if not isinstance(found.reading, OnBranch):
        raise NotFound(
            f"{found.worktree.path} is on no branch to watch: {found.reading.reason}"
        )
    head = found.reading.head_repository
    is_own = head.lower() == base.name_with_owner.lower()
    return NamedBranch(
        owner=base.owner,
        name=base.name,
        branch=found.reading.name,
        head_repository="" if is_own else head,
    )


async def _find(
    folder: Path, host: str, environ: Mapping[str, str]
) -> tuple[CurrentCheckout, RemoteRepository]:
    reader = LiveWorktrees(environ=environ).reader(host)
    found = await find_current_checkout(folder, reader=reader)
    if found is None:
        raise NotFound(f"{folder} is not inside a git checkout")
    base = found.worktree.find_base(host)
    if base is None:
        raise NotFound(
            f"no remote of {found.worktree.path} is a repository on {host}",
            hint="name a pull request or a branch, such as owner/repo@branch",
        )
    return found, base
