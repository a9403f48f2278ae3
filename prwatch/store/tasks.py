"""
Rows of tasks, and all that one workspace has, read at once.

What hangs on a task (sessions, checkouts, repositories, links, adoptions) has files of
its own and is offered here too, so that a caller names one module.
"""

import datetime as dt

from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Task, Workspace
from prwatch.errors import NotFound
from prwatch.store.columns import (
    from_microseconds,
    from_optional_microseconds,
    to_microseconds,
    to_optional_microseconds,
)
from prwatch.store.connections import find_connection
from prwatch.store.database import Row, Transaction
from prwatch.store.query import load_queries
from prwatch.store.repositories import list_repositories
from prwatch.store.sessions import (
    end_session,
    find_current_session,
    list_checkouts,
    list_sessions,
    put_checkout,
    put_session,
    remove_checkout,
)
from prwatch.store.targets import (
    list_links,
    list_repository_watches,
    list_task_repositories,
    put_link,
    put_repository_watch,
    put_task_repository,
    remove_link,
    remove_repository_watch,
    remove_task_repository,
)
from prwatch.store.task_pull_requests import (
    list_polled_task_pull_requests,
    list_task_pull_requests,
)
from prwatch.store.watches import list_watches

__all__ = [
    "add_task",
    "archive_task",
    "end_session",
    "find_current_session",
    "find_task",
    "list_checkouts",
    "list_links",
    "list_repository_watches",
    "list_sessions",
    "list_task_repositories",
    "list_tasks",
    "load_snapshot",
    "put_checkout",
    "put_link",
    "put_person_wrote",
    "put_repository_watch",
    "put_session",
    "put_task_repository",
    "put_task_title",
    "put_waits_for",
    "remove_checkout",
    "remove_link",
    "remove_repository_watch",
    "remove_task_repository",
    "to_task",
    "unarchive_task",
]

_QUERIES = load_queries("tasks")


async def list_tasks(
    tx: Transaction, workspace_id: str, *, include_archived: bool = False
) -> list[Task]:
    """Return the tasks of a workspace, by id."""
    return await tx.fetch_as(
        _QUERIES["list_tasks"],
        to_task,
        workspace_id=workspace_id,
        include_archived=include_archived,
    )


async def find_task(
    tx: Transaction, workspace_id: str, external_id: str
) -> Task | None:
    """Return the task of that name, archived or not, or None."""
    rows = await tx.fetch(
        _QUERIES["find_task"], workspace_id=workspace_id, external_id=external_id
    )
    return to_task(rows[0]) if rows else None


async def add_task(tx: Transaction, task: Task) -> bool:
    """Add a task; return False, and write nothing, when the name is taken."""
    written = await tx.execute(
        _QUERIES["add_task"],
        id=task.id,
        workspace_id=task.workspace_id,
        external_id=task.external_id,
        origin=task.origin,
        title=task.title,
        archived_at=to_optional_microseconds(task.archived_at),
        person_wrote_at=to_optional_microseconds(task.person_wrote_at),
        waits_for=task.waits_for,
        created_at=to_microseconds(task.created_at),
    )
    return written == 1


async def put_task_title(tx: Transaction, task_id: str, title: str) -> bool:
    """Rename a task; return False, and write nothing, when it has that title."""
    return await tx.execute(_QUERIES["put_title"], id=task_id, title=title) == 1


async def put_task_origin(tx: Transaction, task_id: str, origin: Origin) -> bool:
    """Let a task be somebody else's; return False when it is that origin's already."""
    query = _QUERIES["put_origin"]
    return await tx.execute(query, id=task_id, origin=origin) == 1


async def put_person_wrote(tx: Transaction, task_id: str, now: dt.datetime) -> bool:
    """Note that a person wrote in a task; return False when one did later already."""
    query = _QUERIES["put_person_wrote"]
    return await tx.execute(query, id=task_id, now=to_microseconds(now)) == 1


async def put_waits_for(tx: Transaction, task_id: str, waits_for: str) -> bool:
    """Say what a task waits for ('' for nothing); False when it says so already."""
    query = _QUERIES["put_waits_for"]
    return await tx.execute(query, id=task_id, waits_for=waits_for) == 1


async def archive_task(tx: Transaction, task_id: str, now: dt.datetime) -> bool:
    """
    Archive an active task: its watches go, what it knows of pull requests is past.

    Its events stay. Returns False, and writes nothing, when it is not active.
    """
    moment = to_microseconds(now)
    if await tx.execute(_QUERIES["archive"], id=task_id, now=moment) == 0:
        return False
    await tx.execute(_QUERIES["remove_watches"], id=task_id)
    await tx.execute(_QUERIES["forget_pull_requests"], id=task_id, is_past=True)
    return True


async def unarchive_task(tx: Transaction, task_id: str) -> bool:
    """
    Make an archived task active again; its pull requests stay past.

    Returns False, and writes nothing, when it is not archived.
    """
    return await tx.execute(_QUERIES["unarchive"], id=task_id) == 1


async def load_snapshot(
    tx: Transaction,
    workspace: Workspace | str,
    *,
    include_archived: bool = False,
    is_for_polling: bool = False,
) -> Snapshot:
    """
    Return the rows of one workspace, given as itself or by its id.

    Run it in `Database.read`, which gives all statements one state. What is read for
    polling leaves out the pull requests of `list_polled_task_pull_requests`: most of
    the rows where whole repositories are watched, and half of their memory.

    Raises:
        NotFound: There is no workspace with that id.
    """
    if isinstance(workspace, str):
        workspace = await _get_workspace(tx, workspace)
    key, archived = workspace.id, include_archived
    return Snapshot(
        workspace=workspace,
        connection=await find_connection(tx, key),
        repositories=tuple(await list_repositories(tx, key)),
        tasks=tuple(await list_tasks(tx, key, include_archived=archived)),
        task_repositories=tuple(
            await list_task_repositories(tx, key, include_archived=archived)
        ),
        links=tuple(await list_links(tx, key, include_archived=archived)),
        sessions=tuple(await list_sessions(tx, key, include_archived=archived)),
        checkouts=tuple(await list_checkouts(tx, key, include_archived=archived)),
        repository_watches=tuple(await list_repository_watches(tx, key)),
        watches=tuple(await list_watches(tx, key)),
        task_pull_requests=tuple(
            await list_polled_task_pull_requests(tx, key)
            if is_for_polling
            else await list_task_pull_requests(
                tx, workspace_id=key, include_archived=archived
            )
        ),
    )


async def _get_workspace(tx: Transaction, workspace_id: str) -> Workspace:
    rows = await tx.fetch(_QUERIES["get_workspace"], id=workspace_id)
    if not rows:
        raise NotFound(f"no workspace {workspace_id}")
    return Workspace(id=rows[0]["id"], name=rows[0]["name"])


def to_task(row: Row) -> Task:
    """Return what a row says."""
    return Task(
        id=row["id"],
        workspace_id=row["workspace_id"],
        external_id=row["external_id"],
        origin=Origin(row["origin"]),
        title=row["title"],
        archived_at=from_optional_microseconds(row["archived_at"]),
        person_wrote_at=from_optional_microseconds(row["person_wrote_at"]),
        waits_for=row["waits_for"],
        created_at=from_microseconds(row["created_at"]),
    )
