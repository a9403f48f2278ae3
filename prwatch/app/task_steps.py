"""Applying a task plan: each step is one row, found by the names in the plan."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from prwatch.domain.desired_steps import (
    AddRepository,
    AddTask,
    ArchiveTask,
    Disown,
    EndSession,
    NameTask,
    PutCheckout,
    PutLink,
    PutRepositoryWatch,
    PutSession,
    PutTaskRepository,
    RemoveCheckout,
    RemoveLink,
    RemoveRepositoryWatch,
    RemoveTaskRepository,
    RetitleTask,
    Step,
    UnarchiveTask,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.task import (
    Checkout,
    PullRequestLink,
    Repository,
    RepositoryWatch,
    Session,
    Task,
    TaskRepository,
    Workspace,
)
from prwatch.errors import StoreConflict
from prwatch.store import (
    repositories,
    sessions,
    targets,
    task_pull_requests,
    tasks,
)
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """Where steps are applied: the workspace, its host and the time."""

    workspace: Workspace
    host: str
    now: dt.datetime


async def apply_steps(
    tx: Transaction, steps: Sequence[tuple[Step, str]], context: StepContext
) -> None:
    """
    Apply the steps in their order; each comes with an id that a new row may take.

    Raises:
        StoreConflict: A row that a step names was taken away by somebody.
    """
    desk = _Desk(tx, context)
    for step, new_id in steps:
        await desk.apply(step, new_id)


async def _take_from_entry(
    tx: Transaction, step: RemoveTaskRepository | RemoveLink | Disown
) -> None:
    match step:
        case RemoveTaskRepository(row=entry):
            await targets.remove_task_repository(tx, entry.task_id, entry.repository_id)
        case RemoveLink(row=link):
            await targets.remove_link(tx, link)
        case Disown(row=TaskRepository() as entry):
            await targets.put_task_repository(tx, replace(entry, written_as=""))
        case Disown(row=PullRequestLink() as link):
            await targets.put_link(tx, replace(link, written_as=""))
        case Disown(row=Checkout() as checkout):
            await sessions.put_checkout(tx, replace(checkout, written_as=""))
        case Disown(row=RepositoryWatch() as watch):
            await targets.put_repository_watch(tx, replace(watch, written_as=""))


@dataclass(slots=True)
class _Desk:
    """The rows that steps name, looked up once a transaction."""

    tx: Transaction
    context: StepContext
    tasks: dict[str, str] = field(default_factory=dict)
    repositories: dict[str, str] = field(default_factory=dict)
    sessions: dict[tuple[str, str], str] = field(default_factory=dict)

    async def apply(self, step: Step, new_id: str) -> None:
        match step:
            case AddRepository() | PutTaskRepository() | PutLink():
                await self._apply_repository(step, new_id)
            case RemoveTaskRepository() | RemoveLink() | Disown():
                await _take_from_entry(self.tx, step)
            case PutSession() | EndSession() | PutCheckout() | RemoveCheckout():
                await self._apply_session(step, new_id)
            case PutRepositoryWatch() | RemoveRepositoryWatch():
                await self._apply_repository_watch(step)
            case _:
                await self._apply_task(step, new_id)

    async def _apply_task(
        self,
        step: AddTask | UnarchiveTask | NameTask | RetitleTask | ArchiveTask,
        new_id: str,
    ) -> None:
        now = self.context.now
        match step:
            case AddTask():
                task = Task(
                    id=new_id,
                    workspace_id=self.context.workspace.id,
                    external_id=step.external_id,
                    origin=step.origin,
                    title=step.title,
                    created_at=now,
                )
                await tasks.add_task(self.tx, task)
            case UnarchiveTask(task=task):
                await tasks.unarchive_task(self.tx, task.id)
            case NameTask(task=task, origin=origin):
                await tasks.put_task_origin(self.tx, task.id, origin)
            case RetitleTask(task=task, title=title):
                await tasks.put_task_title(self.tx, task.id, title)
            case ArchiveTask(task=task):
                await tasks.archive_task(self.tx, task.id, now)

    async def _apply_repository(
        self, step: AddRepository | PutTaskRepository | PutLink, new_id: str
    ) -> None:
        if isinstance(step, AddRepository):
            row = Repository(
                id=new_id,
                workspace_id=self.context.workspace.id,
                host=self.context.host,
                owner=step.repository.owner,
                name=step.repository.name,
            )
            await repositories.add_repository(self.tx, row)
            return
        task_id = await self._find_task(step.task)
        repository_id = await self._find_repository(step.repository)
        if isinstance(step, PutLink):
            link = PullRequestLink(
                task_id=task_id,
                repository_id=repository_id,
                pr_number=step.pr_number,
                written_as=step.written_as,
            )
            await targets.put_link(self.tx, link)
            await task_pull_requests.attach(
                self.tx, task_id, repository_id, step.pr_number
            )
            return
        entry = TaskRepository(
            task_id=task_id,
            repository_id=repository_id,
            position=step.position,
            branch=step.branch,
            head_repository=step.head_repository,
            written_as=step.written_as,
        )
        await targets.put_task_repository(self.tx, entry)

    async def _apply_session(
        self, step: PutSession | EndSession | PutCheckout | RemoveCheckout, new_id: str
    ) -> None:
        now = self.context.now
        match step:
            case PutSession():
                session = Session(
                    id=new_id,
                    task_id=await self._find_task(step.task),
                    external_id=step.session,
                    started_at=now,
                )
                await sessions.put_session(self.tx, session)
            case EndSession(session=session):
                await sessions.end_session(self.tx, session.id, now)
            case RemoveCheckout(checkout=checkout):
                await sessions.remove_checkout(self.tx, checkout)
            case PutCheckout():
                checkout = Checkout(
                    session_id=await self._find_session(step.task, step.session),
                    repository_id=await self._find_repository(step.repository),
                    branch=step.branch,
                    worktree_path=step.worktree_path,
                    head_repository=step.head_repository,
                    written_as=step.written_as,
                )
                await sessions.put_checkout(self.tx, checkout)

    async def _apply_repository_watch(
        self, step: PutRepositoryWatch | RemoveRepositoryWatch
    ) -> None:
        if isinstance(step, RemoveRepositoryWatch):
            await targets.remove_repository_watch(self.tx, step.row)
            return
        repository_id = ""
        if step.repository is not None:
            repository_id = await self._find_repository(step.repository)
        row = RepositoryWatch(
            workspace_id=self.context.workspace.id,
            repository_id=repository_id,
            author=step.author,
            origin=step.origin,
            written_as=step.written_as,
        )
        await targets.put_repository_watch(self.tx, row)

    async def _find_task(self, external_id: str) -> str:
        if external_id not in self.tasks:
            workspace_id = self.context.workspace.id
            task = await tasks.find_task(self.tx, workspace_id, external_id)
            if task is None:
                raise StoreConflict(f"the task {external_id} is gone")
            self.tasks[external_id] = task.id
        return self.tasks[external_id]

    async def _find_repository(self, name: RepositoryName) -> str:
        key = name.node_id or name.name_with_owner.lower()
        if key not in self.repositories:
            workspace_id = self.context.workspace.id
            row = await repositories.find_repository_by_node_id(
                self.tx, workspace_id, name.node_id
            ) or await repositories.find_repository(
                self.tx, workspace_id, name.owner, name.name
            )
            if row is None:
                raise StoreConflict(f"the repository {name.name_with_owner} is gone")
            self.repositories[key] = row.id
        return self.repositories[key]

    async def _find_session(self, task: str, session: str) -> str:
        key = (await self._find_task(task), session)
        if key not in self.sessions:
            rows = await sessions.list_sessions(self.tx, self.context.workspace.id)
            self.sessions = {(row.task_id, row.external_id): row.id for row in rows}
        if key not in self.sessions:
            raise StoreConflict(f"the session {session} of task {task} is gone")
        return self.sessions[key]
