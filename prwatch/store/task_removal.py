"""
Removing a task for good, with all that hangs on it, and putting it back.

Its events stay: history outlives what it speaks of. What it knew of pull requests and
its watches are made anew from what is put back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from prwatch.domain.review_watch import ReviewTask
from prwatch.domain.task import (
    Checkout,
    PullRequestLink,
    Session,
    Task,
    TaskRepository,
)
from prwatch.store.columns import from_microseconds, from_optional_microseconds
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries
from prwatch.store.repositories import list_repositories
from prwatch.store.sessions import put_checkout, put_session
from prwatch.store.targets import put_link, put_task_repository
from prwatch.store.tasks import add_task

_QUERIES = load_queries("task_removal")
_HANGING: Final = (
    "remove_checkouts_of",
    "remove_sessions_of",
    "remove_links_of",
    "remove_repositories_of",
    "remove_watches_of",
    "remove_pull_requests_of",
)
"""What goes before the task, so that nothing speaks of what is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBundle:
    """A task with what people and sessions hung on it: what brings it back."""

    task: Task
    repositories: tuple[TaskRepository, ...] = ()
    links: tuple[PullRequestLink, ...] = ()
    sessions: tuple[Session, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    reviews: tuple[ReviewTask, ...] = ()
    """The rows of review watches that speak of it."""

    def as_json(self) -> dict[str, Any]:
        """Return the object that `parse_bundle` reads."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built


def parse_bundle(value: Mapping[str, Any]) -> TaskBundle:
    """
    Return what `TaskBundle.as_json` wrote.

    Raises:
        ValueError: It is something else.
    """
    return msgspec.convert(dict(value), TaskBundle)


async def find_bundle(tx: Transaction, task: Task) -> TaskBundle:
    """Return a task with what hangs on it now."""
    key = task.id
    places = await tx.fetch(_QUERIES["list_repositories_of"], task_id=key)
    links = await tx.fetch(_QUERIES["list_links_of"], task_id=key)
    sessions = await tx.fetch(_QUERIES["list_sessions_of"], task_id=key)
    checkouts = await tx.fetch(_QUERIES["list_checkouts_of"], task_id=key)
    return TaskBundle(
        task=task,
        repositories=tuple(map(_to_place, places)),
        links=tuple(map(_to_link, links)),
        sessions=tuple(map(_to_session, sessions)),
        checkouts=tuple(map(_to_checkout, checkouts)),
    )


async def remove_task(tx: Transaction, task_id: str) -> bool:
    """Remove a task with all that hangs on it; return whether it was there."""
    for name in _HANGING:
        await tx.execute(_QUERIES[name], task_id=task_id)
    return await tx.execute(_QUERIES["remove_task"], task_id=task_id) == 1


async def add_bundle(tx: Transaction, bundle: TaskBundle) -> bool:
    """
    Put a task back; False, and nothing is written, when its name is taken.

    What was in a repository that is not stored any more is left out.
    """
    if not await add_task(tx, bundle.task):
        return False
    stored = await list_repositories(tx, bundle.task.workspace_id)
    known = {repository.id for repository in stored}
    for place in bundle.repositories:
        if place.repository_id in known:
            await put_task_repository(tx, place)
    for link in bundle.links:
        if link.repository_id in known:
            await put_link(tx, link)
    for session in bundle.sessions:
        await put_session(tx, session)
    for checkout in bundle.checkouts:
        if checkout.repository_id in known:
            await put_checkout(tx, checkout)
    return True


def _to_place(row: Row) -> TaskRepository:
    return TaskRepository(
        task_id=row["task_id"],
        repository_id=row["repository_id"],
        position=row["position"],
        branch=row["branch"],
        head_repository=row["head_repository"],
        written_as=row["written_as"],
    )


def _to_link(row: Row) -> PullRequestLink:
    return PullRequestLink(
        task_id=row["task_id"],
        repository_id=row["repository_id"],
        pr_number=row["pr_number"],
        written_as=row["written_as"],
    )


def _to_session(row: Row) -> Session:
    return Session(
        id=row["id"],
        task_id=row["task_id"],
        external_id=row["external_id"],
        state=row["state"],
        started_at=from_microseconds(row["started_at"]),
        ended_at=from_optional_microseconds(row["ended_at"]),
    )


def _to_checkout(row: Row) -> Checkout:
    return Checkout(
        session_id=row["session_id"],
        repository_id=row["repository_id"],
        branch=row["branch"],
        worktree_path=row["worktree_path"],
        head_repository=row["head_repository"],
        written_as=row["written_as"],
    )
