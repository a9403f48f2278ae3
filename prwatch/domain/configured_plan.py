"""
An entry that moves from the configuration to a watch file: its work moves with it.

What the configuration names no more and a watch file declares is the file's from now
on, with all that is known of it. So nothing ends, and nothing is told twice.
"""

from collections.abc import Iterable
from dataclasses import replace

from prwatch.domain.desired import DesiredWorkspace
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import (
    ArchiveTask,
    NameTask,
    PutRepositoryWatch,
    RemoveRepositoryWatch,
    Step,
    TaskPlan,
)
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.repository_watch_plan import list_wanted_rows
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, RepositoryWatch, Task

_ENDING = frozenset({Origin.CONFIG, Origin.ADOPTED})


def plan_configured(
    desired: DesiredWorkspace,
    stored: Snapshot,
    *,
    declared: DesiredWorkspace,
    origins: frozenset[Origin],
    is_final: bool,
    login: str = "",
) -> TaskPlan:
    """
    Plan the steps to what the configuration asks for, as `plan_tasks` does.

    `declared` is what the watch files of the workspace do: of that, what is the
    configuration's and it names no more is handed over. Unless `is_final` nothing
    of the configuration's ends yet, since a file that was not read may name it.
    """
    tasks = _list_tasks(desired, stored, declared)
    rows = _list_rows(desired, stored, declared)
    plan = plan_tasks(
        desired, _hand_over(stored, tasks, rows), origins=origins, login=login
    )
    names = RepositoryNames(stored)
    handed: list[Step] = [NameTask(task, Origin.WATCH_FILE) for task in tasks]
    for row in rows:
        repository = names.spell(row.repository_id) if row.repository_id else None
        handed.append(
            PutRepositoryWatch(
                repository=repository,
                author=row.author,
                origin=Origin.WATCH_FILE,
                written_as=row.written_as,
            )
        )
    steps = [step for step in plan.steps if is_final or not _is_ending(step)]
    return TaskPlan((*handed, *steps))


def list_ends(plan: TaskPlan) -> list[Step]:
    """List the steps that end something of the configuration's."""
    return [step for step in plan.steps if _is_ending(step)]


def _list_tasks(
    desired: DesiredWorkspace, stored: Snapshot, declared: DesiredWorkspace
) -> list[Task]:
    named = {task.external_id for task in desired.tasks}
    heirs = {task.external_id for task in declared.tasks} - named
    return [
        task
        for task in stored.tasks
        if task.archived_at is None
        and task.origin is Origin.CONFIG
        and task.external_id in heirs
    ]


def _list_rows(
    desired: DesiredWorkspace, stored: Snapshot, declared: DesiredWorkspace
) -> list[RepositoryWatch]:
    named = list_wanted_rows(desired, stored)
    return [
        row
        for row in list_wanted_rows(declared, stored)
        if row.origin is Origin.CONFIG and row not in named
    ]


def _hand_over(
    stored: Snapshot, tasks: Iterable[Task], rows: Iterable[RepositoryWatch]
) -> Snapshot:
    """Return what is stored with these tasks and rows as the watch files' own."""
    ids, known = {task.id for task in tasks}, set(rows)
    return replace(
        stored,
        tasks=tuple(
            replace(task, origin=Origin.WATCH_FILE) if task.id in ids else task
            for task in stored.tasks
        ),
        repository_watches=tuple(
            replace(row, origin=Origin.WATCH_FILE) if row in known else row
            for row in stored.repository_watches
        ),
    )


def _is_ending(step: Step) -> bool:
    match step:
        case ArchiveTask(task=task):
            return task.origin in _ENDING
        case RemoveRepositoryWatch(row=row):
            return row.origin in _ENDING
        case _:
            return False
