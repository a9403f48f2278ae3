"""What a person is shown of tasks: what each asks for, and what stands for it."""

import datetime as dt
from dataclasses import dataclass

from prwatch.app.command.task_edit import FoundTask, get_task
from prwatch.app.command.watch_listing import open_desk
from prwatch.app.command.watch_row import WatchRow
from prwatch.app.command.workbench import Workbench
from prwatch.domain.task import Checkout, Origin
from prwatch.domain.timestamp import format_optional_time, format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session with what it has checked out, in words."""

    id: str
    started_at: dt.datetime
    ended_at: dt.datetime | None
    checkouts: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "id": self.id,
            "started_at": format_time(self.started_at),
            "ended_at": format_optional_time(self.ended_at),
            "checkouts": list(self.checkouts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task with what it asks for and what stands for it."""

    id: str
    workspace: str
    title: str
    origin: Origin
    created_at: dt.datetime
    archived_at: dt.datetime | None
    person_wrote_at: dt.datetime | None
    waits_for: str
    repositories: tuple[str, ...]
    links: tuple[str, ...]
    sessions: tuple[SessionRow, ...]
    watches: tuple[WatchRow, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "id": self.id,
            "workspace": self.workspace,
            "title": self.title,
            "origin": self.origin.value,
            "created_at": format_time(self.created_at),
            "archived_at": format_optional_time(self.archived_at),
            "person_wrote_at": format_optional_time(self.person_wrote_at),
            "waits_for": self.waits_for,
            "repositories": list(self.repositories),
            "links": list(self.links),
            "sessions": [session.as_json() for session in self.sessions],
            "pull_requests": [row.as_json() for row in self.watches],
        }


async def list_tasks(
    bench: Workbench, *, workspace: str = "", is_all: bool = False
) -> tuple[TaskRow, ...]:
    """
    Return the active tasks, or with `is_all` the archived ones too, by name.

    Raises:
        NotFound: There is no such workspace.
    """
    rows: list[TaskRow] = []
    for one in await bench.list_workspaces(workspace):
        desk = await open_desk(bench, one)
        watches = desk.list_all()
        found = [
            FoundTask(workspace=one, task=task, snapshot=desk.view.snapshot)
            for task in desk.view.snapshot.tasks
            if is_all or task.archived_at is None
        ]
        rows.extend(_describe(each, watches) for each in found)
    return tuple(sorted(rows, key=lambda row: (row.workspace, row.id)))


async def show_task(
    bench: Workbench, external_id: str, *, workspace: str = ""
) -> TaskRow:
    """
    Return one task.

    Raises:
        TaskNotFound: There is none, or several workspaces have it.
    """
    found = await get_task(bench, external_id, workspace=workspace)
    desk = await open_desk(bench, found.workspace)
    return _describe(found, desk.list_all())


def _describe(found: FoundTask, watches: list[WatchRow]) -> TaskRow:
    task, snapshot = found.task, found.snapshot
    names = {row.id: row.name_with_owner for row in snapshot.repositories}

    def tell(repository_id: str, branch: str, head_repository: str) -> str:
        head = f"{head_repository}:" if head_repository else ""
        at = f"@{head}{branch}" if branch else ""
        return f"{names[repository_id]}{at}"

    def tell_checkout(checkout: Checkout) -> str:
        text = tell(checkout.repository_id, checkout.branch, checkout.head_repository)
        path = checkout.worktree_path
        return f"{text} in {path}" if path else text

    return TaskRow(
        id=task.external_id,
        workspace=found.workspace.name,
        title=task.title,
        origin=task.origin,
        created_at=task.created_at,
        archived_at=task.archived_at,
        person_wrote_at=task.person_wrote_at,
        waits_for=task.waits_for,
        repositories=tuple(
            tell(row.repository_id, row.branch, row.head_repository)
            for row in snapshot.task_repositories
            if row.task_id == task.id
        ),
        links=tuple(
            f"{names[link.repository_id]}#{link.pr_number}"
            for link in snapshot.links
            if link.task_id == task.id
        ),
        sessions=tuple(
            SessionRow(
                id=row.external_id,
                started_at=row.started_at,
                ended_at=row.ended_at,
                checkouts=tuple(
                    tell_checkout(checkout)
                    for checkout in snapshot.checkouts
                    if checkout.session_id == row.id
                ),
            )
            for row in snapshot.sessions
            if row.task_id == task.id
        ),
        watches=tuple(row for row in watches if row.task == task.external_id),
    )
