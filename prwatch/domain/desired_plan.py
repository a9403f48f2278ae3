"""Plan how the stored tasks come to equal what their source asks for."""

from collections.abc import Iterator

from prwatch.domain.desired import DesiredTask, DesiredWorkspace
from prwatch.domain.desired_rows import TaskRows, plan_task_rows
from prwatch.domain.desired_steps import (
    AddRepository,
    AddTask,
    ArchiveTask,
    NameTask,
    RetitleTask,
    Step,
    TaskPlan,
    UnarchiveTask,
)
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.repository_watch_plan import plan_repository_watches
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Task, TaskPullRequest


def plan_tasks(
    desired: DesiredWorkspace,
    stored: Snapshot,
    *,
    origins: frozenset[Origin],
    login: str = "",
) -> TaskPlan:
    """
    Plan the steps from what is stored to what one source asks for.

    `stored` holds the archived tasks too. `origins` are the origins that the source
    speaks for: only what they made and can vanish is archived or taken away when the
    source names it no longer; everything else is only added to. With `ADOPTED` among
    them, adopted tasks are archived when no repository watch is left for them and no
    entry names them. `login` is who `@me` is; while it is '' that may be anybody.
    """
    owned = frozenset(origin for origin in origins if origin.can_vanish)
    names = RepositoryNames(stored)
    tasks = {task.external_id: task for task in stored.tasks}
    steps: list[Step] = list(_plan_repositories(desired, names))
    rows = TaskRows(stored)
    merged = {row.task_id for row in stored.task_pull_requests if _is_merged(row)}
    for wanted in desired.tasks:
        task = tasks.get(wanted.external_id)
        if task and task.origin is Origin.ADOPTED and task.id in merged:
            # It ended with its pull request; an entry that names it changes nothing.
            continue
        steps.extend(_plan_task(wanted, task, owned))
        task_id = task.id if task else ""
        is_owned = task is not None and task.origin in owned - {Origin.ADOPTED}
        steps.extend(plan_task_rows(wanted, task_id, rows, names, is_owned=is_owned))
    steps.extend(plan_repository_watches(desired, stored, names, owned, login=login))
    named = {wanted.external_id for wanted in desired.tasks}
    steps.extend(
        ArchiveTask(task)
        for task in stored.tasks
        if task.archived_at is None
        and task.external_id not in named
        and task.origin in owned - {Origin.ADOPTED}
    )
    return TaskPlan(tuple(steps))


def _is_merged(row: TaskPullRequest) -> bool:
    return row.observation.state is PullRequestState.MERGED


def _plan_repositories(
    desired: DesiredWorkspace, names: RepositoryNames
) -> Iterator[Step]:
    missing: dict[str, RepositoryName] = {}
    for owner, name in _list_names(desired):
        if names.find(owner, name) is None:
            repository = RepositoryName(owner, name)
            missing.setdefault(repository.name_with_owner.lower(), repository)
    return map(AddRepository, missing.values())


def _list_names(desired: DesiredWorkspace) -> Iterator[tuple[str, str]]:
    for task in desired.tasks:
        for repository in task.repositories:
            yield repository.owner, repository.name
        for session in task.sessions:
            for checkout in session.checkouts:
                yield checkout.owner, checkout.name
    for watch in desired.repository_watches:
        if watch.name:
            yield watch.owner, watch.name


def _plan_task(
    wanted: DesiredTask, task: Task | None, owned: frozenset[Origin]
) -> Iterator[Step]:
    if task is None:
        yield AddTask(
            external_id=wanted.external_id, origin=wanted.origin, title=wanted.title
        )
        return
    if task.archived_at is not None:
        yield UnarchiveTask(task)
    if task.origin is Origin.ADOPTED and wanted.origin is not Origin.ADOPTED:
        yield NameTask(task, wanted.origin)
    may_retitle = bool(wanted.title) or task.origin in owned
    if may_retitle and wanted.title != task.title:
        yield RetitleTask(task, wanted.title)
