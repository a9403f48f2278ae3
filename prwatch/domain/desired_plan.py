"""Plan how the stored tasks come to equal what their source asks for."""

from collections.abc import Iterable, Iterator

from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_rows import TaskRows, Wish, find_key, plan_task_rows
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
    source names it no longer; everything else is only added to. Without any it is a
    person's command, which stands for nothing afterwards. With `ADOPTED` among them,
    adopted tasks are archived when no repository watch is left for them and no entry
    names them. `login` is who `@me` is; while it is '' that may be anybody.
    """
    owned = frozenset(origin for origin in origins if origin.can_vanish)
    names = RepositoryNames(stored)
    tasks = {task.external_id: task for task in stored.tasks}
    rows = TaskRows(stored)
    merged = {row.task_id for row in stored.task_pull_requests if _is_merged(row)}
    wishes: list[Wish] = []
    steps: list[Step] = []
    for wanted in desired.tasks:
        task = tasks.get(wanted.external_id)
        if task and task.origin is Origin.ADOPTED and task.id in merged:
            # It ended with its pull request; an entry that names it changes nothing.
            continue
        wish = Wish(
            task=wanted,
            task_id=task.id if task else "",
            is_standing=bool(origins),
            is_owned=task is not None and _is_owned(wanted, task, owned),
        )
        wishes.append(wish)
        steps.extend(_plan_task(wanted, task, owned))
        steps.extend(plan_task_rows(wish, rows, names))
    if Origin.CONFIG in owned:
        steps.extend(_disown_others(desired, stored, rows, names))
    steps.extend(plan_repository_watches(desired, stored, names, owned, login=login))
    named = {wanted.external_id for wanted in desired.tasks}
    steps.extend(
        ArchiveTask(task)
        for task in stored.tasks
        if task.archived_at is None
        and task.external_id not in named
        and task.origin in owned - {Origin.ADOPTED}
    )
    missing = _plan_repositories(desired, wishes, names)
    return TaskPlan((*missing, *steps))


def _is_merged(row: TaskPullRequest) -> bool:
    return row.observation.state is PullRequestState.MERGED


def _is_owned(wanted: DesiredTask, task: Task, owned: frozenset[Origin]) -> bool:
    if task.origin is Origin.ADOPTED:
        return False
    return task.origin in owned or _takes_over(wanted, task)


def _takes_over(wanted: DesiredTask, task: Task) -> bool:
    """
    Return whether a task is from now on whose entry names it.

    What was adopted is anybody's who names it. The configuration goes before a watch
    file, and a watch file revives what was archived, whoever made it.
    """
    match wanted.origin:
        case Origin.ADOPTED:
            return False
        case Origin.CONFIG if task.origin is Origin.WATCH_FILE:
            return True
        case Origin.WATCH_FILE if task.archived_at is not None:
            return task.origin is not Origin.WATCH_FILE
        case _:
            return task.origin is Origin.ADOPTED


def _plan_repositories(
    desired: DesiredWorkspace, wishes: Iterable[Wish], names: RepositoryNames
) -> Iterator[Step]:
    missing: dict[str, RepositoryName] = {}
    for wish in wishes:
        for named in _list_named(wish.task):
            key = find_key(wish, named, names)
            if names.spell(key) is None:
                missing.setdefault(key, RepositoryName(named.owner, named.name))
    for watch in desired.repository_watches:
        repository = RepositoryName(watch.owner, watch.name)
        if watch.name and not names.find_adopted(watch.owner, watch.name, watch.author):
            missing.setdefault(repository.name_with_owner.lower(), repository)
    return map(AddRepository, missing.values())


def _list_named(task: DesiredTask) -> Iterator[DesiredRepository | DesiredCheckout]:
    yield from task.repositories
    for session in task.sessions:
        yield from session.checkouts


def _disown_others(
    desired: DesiredWorkspace,
    stored: Snapshot,
    rows: TaskRows,
    names: RepositoryNames,
) -> Iterator[Step]:
    """Leave to a person what an entry asked of a person's task, when it is gone."""
    named = {wanted.external_id for wanted in desired.tasks}
    for task in stored.tasks:
        is_persons = task.archived_at is None and not task.origin.can_vanish
        if is_persons and task.external_id not in named:
            nothing = DesiredTask(external_id=task.external_id)
            wish = Wish(task=nothing, task_id=task.id, is_standing=True)
            yield from plan_task_rows(wish, rows, names)


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
    if _takes_over(wanted, task):
        yield NameTask(task, wanted.origin)
    may_retitle = bool(wanted.title) or task.origin in owned
    if may_retitle and wanted.title != task.title:
        yield RetitleTask(task, wanted.title)
