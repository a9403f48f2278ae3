"""Rows of what tasks work in: repositories, named pull requests, adoptions."""

from prwatch.domain.task import (
    Origin,
    PullRequestLink,
    RepositoryWatch,
    TaskRepository,
)
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("targets")


async def list_task_repositories(
    tx: Transaction, workspace_id: str, *, include_archived: bool = False
) -> list[TaskRepository]:
    """Return the repositories of the workspace's tasks, by task and position."""
    rows = await tx.fetch(
        _QUERIES["list_task_repositories"],
        workspace_id=workspace_id,
        include_archived=include_archived,
    )
    return [
        TaskRepository(
            task_id=row["task_id"],
            repository_id=row["repository_id"],
            position=row["position"],
            branch=row["branch"],
            head_repository=row["head_repository"],
            written_as=row["written_as"],
        )
        for row in rows
    ]


async def put_task_repository(tx: Transaction, entry: TaskRepository) -> bool:
    """Insert or replace; return False, and write nothing, when it is equal."""
    written = await tx.execute(
        _QUERIES["put_task_repository"],
        task_id=entry.task_id,
        repository_id=entry.repository_id,
        position=entry.position,
        branch=entry.branch,
        head_repository=entry.head_repository,
        written_as=entry.written_as,
    )
    return written == 1


async def remove_task_repository(
    tx: Transaction, task_id: str, repository_id: str
) -> bool:
    """Remove it; return whether it was there."""
    query = _QUERIES["remove_task_repository"]
    return await tx.execute(query, task_id=task_id, repository_id=repository_id) == 1


async def list_links(
    tx: Transaction, workspace_id: str, *, include_archived: bool = False
) -> list[PullRequestLink]:
    """Return the named pull requests of the workspace's tasks, by task."""
    rows = await tx.fetch(
        _QUERIES["list_links"],
        workspace_id=workspace_id,
        include_archived=include_archived,
    )
    return [
        PullRequestLink(
            task_id=row["task_id"],
            repository_id=row["repository_id"],
            pr_number=row["pr_number"],
            written_as=row["written_as"],
        )
        for row in rows
    ]


async def put_link(tx: Transaction, link: PullRequestLink) -> bool:
    """Insert or replace; return False, and write nothing, when it is equal."""
    written = await tx.execute(
        _QUERIES["put_link"],
        task_id=link.task_id,
        repository_id=link.repository_id,
        pr_number=link.pr_number,
        written_as=link.written_as,
    )
    return written == 1


async def remove_link(tx: Transaction, link: PullRequestLink) -> bool:
    """Remove it, whoever named it; return whether it was there."""
    removed = await tx.execute(
        _QUERIES["remove_link"],
        task_id=link.task_id,
        repository_id=link.repository_id,
        pr_number=link.pr_number,
    )
    return removed == 1


async def release_link(tx: Transaction, link: PullRequestLink) -> bool:
    """
    Remove it if no entry wrote it; return whether it was removed.

    An entry's link stays as long as the entry does, so that what comes after can
    tell an entry that stood all the time from a new one.
    """
    removed = await tx.execute(
        _QUERIES["release_link"],
        task_id=link.task_id,
        repository_id=link.repository_id,
        pr_number=link.pr_number,
    )
    return removed == 1


async def list_repository_watches(
    tx: Transaction, workspace_id: str
) -> list[RepositoryWatch]:
    """Return the standing adoptions of a workspace, by repository and author."""
    rows = await tx.fetch(
        _QUERIES["list_repository_watches"], workspace_id=workspace_id
    )
    return [
        RepositoryWatch(
            workspace_id=row["workspace_id"],
            repository_id=row["repository_id"],
            author=row["author"],
            origin=Origin(row["origin"]),
            written_as=row["written_as"],
        )
        for row in rows
    ]


async def put_repository_watch(tx: Transaction, watch: RepositoryWatch) -> bool:
    """Insert or replace; return False, and write nothing, when it is equal."""
    written = await tx.execute(
        _QUERIES["put_repository_watch"],
        workspace_id=watch.workspace_id,
        repository_id=watch.repository_id,
        author=watch.author,
        origin=watch.origin,
        written_as=watch.written_as,
    )
    return written == 1


async def remove_repository_watch(tx: Transaction, watch: RepositoryWatch) -> bool:
    """Remove it, whatever its origin; return whether it was there."""
    removed = await tx.execute(
        _QUERIES["remove_repository_watch"],
        workspace_id=watch.workspace_id,
        repository_id=watch.repository_id,
        author=watch.author,
    )
    return removed == 1
