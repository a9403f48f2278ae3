"""Plan standing adoptions, and the end of what they adopted when they are gone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prwatch.domain.desired import DesiredRepositoryWatch, DesiredWorkspace
from prwatch.domain.desired_steps import (
    ArchiveTask,
    Disown,
    PutRepositoryWatch,
    RemoveRepositoryWatch,
    Step,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.repository_names import RepositoryNames, choose_written
from prwatch.domain.snapshot import Snapshot, list_worked_in
from prwatch.domain.task import Origin, RepositoryWatch, Task


@dataclass(frozen=True, slots=True)
class _Scope:
    """A repository ('' for every one) and an author ('' for everybody)."""

    repository_id: str
    author: str


def plan_repository_watches(
    desired: DesiredWorkspace,
    stored: Snapshot,
    names: RepositoryNames,
    owned: frozenset[Origin],
    *,
    login: str,
) -> Iterator[Step]:
    """
    Plan the repository watches of one source, and which adopted tasks end with them.

    A repository watch that the source made and names no longer goes. An adopted task
    for which no repository watch is left, of any source, is archived if the source
    owns adoptions.
    """
    before = {_scope(row): row for row in stored.repository_watches}
    wanted: defaultdict[_Scope, list[DesiredRepositoryWatch]] = defaultdict(list)
    for watch in desired.repository_watches:
        wanted[_find_scope(watch, names)].append(watch)
    for scope, group in wanted.items():
        row = before.get(scope)
        stood = row.written_as if row else ""
        written = choose_written(stood, map(_write, group))
        origin = _choose_origin(row, group[0].origin)
        if origin is None:
            continue
        if row is None or (row.written_as, row.origin) != (written, origin):
            first = RepositoryName(group[0].owner, group[0].name)
            yield PutRepositoryWatch(
                repository=(names.spell(scope.repository_id) or first)
                if scope.repository_id
                else None,
                author=scope.author,
                origin=origin,
                written_as=written,
            )
    for scope, row in before.items():
        if scope not in wanted:
            yield from _drop(row, owned)
    if Origin.ADOPTED in owned:
        left = [scope for scope, row in before.items() if row.origin not in owned]
        ids = {task.external_id for task in desired.tasks}
        ending = _list_left_alone(stored, [*wanted, *left], login)
        if Origin.CONFIG in owned:
            dropped = before.keys() - {*wanted, *left}
            ending = _leave_to_people(stored, ending, dropped, login)
        yield from (ArchiveTask(task) for task in ending if task.external_id not in ids)


def list_wanted_rows(
    desired: DesiredWorkspace, stored: Snapshot
) -> list[RepositoryWatch]:
    """List the stored repository watches that a source asks for, whoever made them."""
    names = RepositoryNames(stored)
    wanted = {_find_scope(watch, names) for watch in desired.repository_watches}
    return [row for row in stored.repository_watches if _scope(row) in wanted]


def _leave_to_people(
    stored: Snapshot, ending: Iterable[Task], dropped: Iterable[_Scope], login: str
) -> Iterator[Task]:
    """
    Leave out what somebody works in, unless an entry that is dropped now held it.

    What a watch file adopted outlives it so, also when the configuration is read next.
    """
    worked_in = list_worked_in(stored)
    unheld = {task.id for task in _list_left_alone(stored, dropped, login)}
    return (
        task for task in ending if task.id not in worked_in or task.id not in unheld
    )


def _choose_origin(row: RepositoryWatch | None, wanted: Origin) -> Origin | None:
    """Return whose an adoption is now; None where a watch file adds nothing to it."""
    if row is None or row.origin is wanted:
        return wanted
    if wanted is Origin.WATCH_FILE:
        return None
    # The configuration goes before a watch file, and never before a person.
    return wanted if row.origin is Origin.WATCH_FILE else row.origin


def _find_scope(watch: DesiredRepositoryWatch, names: RepositoryNames) -> _Scope:
    if not watch.name:
        return _Scope("", watch.author)
    found = names.find_adopted(watch.owner, watch.name, watch.author)
    return _Scope(found.id if found else _write(watch).lower(), watch.author)


def _write(watch: DesiredRepositoryWatch) -> str:
    return f"{watch.owner}/{watch.name}" if watch.name else ""


def _drop(row: RepositoryWatch, owned: frozenset[Origin]) -> Iterator[Step]:
    """Take away what no entry names, or leave it to whoever else asked for it."""
    if row.origin in owned:
        yield RemoveRepositoryWatch(row)
    elif row.written_as and Origin.CONFIG in owned and not row.origin.can_vanish:
        yield Disown(row)


def _scope(row: RepositoryWatch) -> _Scope:
    return _Scope(row.repository_id, row.author)


def _list_left_alone(
    stored: Snapshot, scopes: Iterable[_Scope], login: str
) -> Iterator[Task]:
    """List the active adopted tasks that no scope holds."""
    subjects: defaultdict[str, set[_Scope]] = defaultdict(set)
    for row in stored.task_pull_requests:
        author = row.observation.author or ""
        subjects[row.task_id].add(_Scope(row.repository_id, author.lower()))
    kept = [_Scope(scope.repository_id, _resolve(scope, login)) for scope in scopes]
    for task in stored.tasks:
        is_adopted = task.origin is Origin.ADOPTED and task.archived_at is None
        if is_adopted and subjects[task.id]:
            held = any(
                _holds(scope, subject)
                for scope in kept
                for subject in subjects[task.id]
            )
            if not held:
                yield task


def _resolve(scope: _Scope, login: str) -> str:
    return (login if scope.author == "@me" else scope.author).lower()


def _holds(scope: _Scope, subject: _Scope) -> bool:
    return scope.repository_id in ("", subject.repository_id) and scope.author in (
        "",
        subject.author,
    )
