"""
From what the watch files of a workspace declare to a plan for its tasks.

Files speak for what they made alone: what the configuration or a person made stays as
it is, and what a person works in outlives the file that declared it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from prwatch.domain.desired import (
    DesiredRepositoryWatch,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import (
    ArchiveTask,
    RemoveRepositoryWatch,
    Step,
    TaskPlan,
)
from prwatch.domain.events import Interest, Narrowing
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.review_watch_plan import DesiredReviewWatch
from prwatch.domain.snapshot import Snapshot, list_worked_in
from prwatch.domain.task import Origin, Task

T = TypeVar("T")

OWN_ORIGINS: Final = frozenset({Origin.WATCH_FILE, Origin.ADOPTED})
"""What ends when no file asks for it: their tasks, and what their adoptions found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What one file declares. `place` is how people know the file."""

    place: str
    desired: DesiredWorkspace
    reviews: tuple[DesiredReviewWatch, ...] = ()
    narrowings: tuple[Narrowing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class United:
    """What all files of a workspace declare together, and what of it does not count."""

    desired: DesiredWorkspace
    reviews: tuple[DesiredReviewWatch, ...] = ()
    narrowings: tuple[Narrowing, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFilePlan:
    """The steps to take, and what is not done although the files ask for it."""

    plan: TaskPlan
    warnings: tuple[str, ...] = ()


def unite(
    workspace: str, declarations: Iterable[Declaration], sinks: Collection[str]
) -> United:
    """
    Unite declarations, in the order of their files: the first to name an id wins.

    `sinks` are the names of the sinks that the configuration has.
    """
    tasks = _Firsts[DesiredTask]("task")
    reviews = _Firsts[DesiredReviewWatch]("review watch")
    narrowings = _Firsts[Narrowing]("sink")
    watches: list[DesiredRepositoryWatch] = []
    warnings: list[str] = []
    for each in declarations:
        for task in each.desired.tasks:
            warnings += tasks.add(task.external_id, task, each.place)
        for review in each.reviews:
            warnings += reviews.add(review.name, review, each.place)
        for one in each.narrowings:
            warnings += narrowings.add(one.sink, one, each.place)
            if one.sink not in sinks:
                text = f"sink {one.sink} is not configured, so nothing is narrowed"
                warnings.append(f"{each.place}: {text}")
        watches += each.desired.repository_watches
    return United(
        desired=DesiredWorkspace(
            name=workspace,
            tasks=tasks.all(),
            repository_watches=tuple(dict.fromkeys(watches)),
        ),
        reviews=reviews.all(),
        narrowings=narrowings.all(),
        warnings=tuple(warnings),
    )


class _Firsts(Generic[T]):
    """What was named first under each id, and by which file."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._known: dict[str, tuple[T, str]] = {}

    def add(self, name: str, value: T, place: str) -> list[str]:
        """Keep the first of a name; return the warning about another one."""
        _, first = self._known.setdefault(name, (value, place))
        if first == place:
            return []
        return [f"{place}: {self._kind} {name} is declared by {first}, which wins"]

    def all(self) -> tuple[T, ...]:
        """Return the first of each name, in the order in which they came."""
        return tuple(value for value, _ in self._known.values())


def plan_watch_files(
    desired: DesiredWorkspace,
    stored: Snapshot,
    *,
    login: str = "",
    unread: Sequence[str] = (),
) -> WatchFilePlan:
    """
    Plan the steps to what the files of a workspace declare.

    A task that the configuration or a person made is theirs. One that would end
    although somebody works in it stays. `unread` are the places of folders of which
    something is not known: until then nothing ends, since it may stand there now.
    `login` is who `@me` is, '' while that is not known.
    """
    claimed = {task.external_id: task for task in stored.tasks if _is_others(task)}
    own = [task for task in desired.tasks if task.external_id not in claimed]
    wanted = replace(desired, tasks=tuple(own))
    plan = plan_tasks(wanted, stored, origins=OWN_ORIGINS, login=login)
    kept = _list_kept(plan.steps, stored)
    warnings = [
        f"task {task.external_id} is left to the {ORIGIN_WORDS[claimed_by.origin]}"
        for task in desired.tasks
        if (claimed_by := claimed.get(task.external_id)) is not None
    ]
    warnings += [
        f"task {task.external_id} is declared no more, and kept: somebody works in it"
        for task in kept
    ]
    steps = [step for step in plan.steps if not _ends_one_of(step, kept)]
    if unread:
        held = [step for step in steps if _is_end(step)]
        warnings += [warn_of_held(name, unread) for name in name_ends(held, stored)]
        steps = [step for step in steps if not _is_end(step)]
    return WatchFilePlan(plan=TaskPlan(tuple(steps)), warnings=tuple(warnings))


def warn_of_held(what: str, unread: Sequence[str]) -> str:
    """Return what people are told of something that does not end yet."""
    return f"{what} is declared no more, and kept until {unread[0]} is read as a whole"


def _is_end(step: Step) -> bool:
    return isinstance(step, ArchiveTask | RemoveRepositoryWatch)


def name_ends(steps: Iterable[Step], stored: Snapshot) -> Iterator[str]:
    """Name what would end; what an adoption found goes with it, and is not named."""
    names = RepositoryNames(stored)
    for step in steps:
        match step:
            case ArchiveTask(task=task) if task.origin is not Origin.ADOPTED:
                yield f"task {task.external_id}"
            case RemoveRepositoryWatch(row=row):
                found = names.spell(row.repository_id) if row.repository_id else None
                where = f"of {found.name_with_owner}" if found else f"by {row.author}"
                yield f"the watch on all {where}"
            case _:
                pass


ORIGIN_WORDS: Final = {
    Origin.CONFIG: "configuration, which declares it",
    Origin.COMMAND: "person who made it",
    Origin.API: "program that made it",
    Origin.WORKTREE: "worktree that it comes from",
    Origin.REVIEW: "review queue, which made it",
    Origin.IMPORT: "import that made it",
}


def _is_others(task: Task) -> bool:
    return task.archived_at is None and task.origin not in OWN_ORIGINS


def _list_kept(steps: Iterable[Step], stored: Snapshot) -> Sequence[Task]:
    """List the tasks that are to be archived and in which a person has work."""
    worked_in = list_worked_in(stored)
    return [
        step.task
        for step in steps
        if isinstance(step, ArchiveTask) and step.task.id in worked_in
    ]


def _ends_one_of(step: Step, kept: Sequence[Task]) -> bool:
    return isinstance(step, ArchiveTask) and step.task in kept


def narrow_interests(
    interests: Iterable[Interest],
    workspace: str,
    narrowings: Iterable[Narrowing],
    *,
    is_final: bool = True,
) -> tuple[Interest, ...]:
    """
    Return the interests with just these narrowings for a workspace.

    Unless `is_final` those stay that no file names any more.
    """
    new = tuple(narrowings)
    return tuple(
        replace(interest, narrowings=_narrow(interest, workspace, new, is_final))
        for interest in interests
    )


def _narrow(
    interest: Interest, workspace: str, new: Sequence[Narrowing], is_final: bool
) -> tuple[Narrowing, ...]:
    ours = tuple(each for each in new if each.sink == interest.sink)
    stays = not is_final and not ours
    others = (
        each for each in interest.narrowings if stays or each.workspace != workspace
    )
    return (*others, *ours)
