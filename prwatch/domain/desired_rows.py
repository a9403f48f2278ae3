"""Plan what hangs on one desired task: repositories, links, sessions, checkouts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredSession,
    DesiredTask,
)
from prwatch.domain.desired_steps import (
    Disown,
    EndSession,
    PutCheckout,
    PutLink,
    PutSession,
    PutTaskRepository,
    RemoveCheckout,
    RemoveLink,
    RemoveTaskRepository,
    Step,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.repository_names import RepositoryNames, choose_written
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Checkout, PullRequestLink, Session, TaskRepository

_Row: TypeAlias = TaskRepository | PullRequestLink | Checkout
_Named = TypeVar("_Named", DesiredRepository, DesiredCheckout)


class TaskRows:
    """The stored rows below tasks, found by the task or session they hang on."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.repositories: defaultdict[str, list[TaskRepository]] = defaultdict(list)
        for repository in snapshot.task_repositories:
            self.repositories[repository.task_id].append(repository)
        self.links: defaultdict[str, list[PullRequestLink]] = defaultdict(list)
        for link in snapshot.links:
            self.links[link.task_id].append(link)
        self.sessions: defaultdict[str, list[Session]] = defaultdict(list)
        for session in snapshot.sessions:
            self.sessions[session.task_id].append(session)
        self.checkouts: defaultdict[str, list[Checkout]] = defaultdict(list)
        for checkout in snapshot.checkouts:
            self.checkouts[checkout.session_id].append(checkout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """
    What a source asks of one task; `task_id` is '' while the task is not stored.

    `is_standing` says that entries ask, again at every start: they follow the
    repositories that they first resolved to, and their names are kept. A person's
    command means what its names mean now. `is_owned` says that the source made the
    task: what the wish does not name is then taken away.
    """

    task: DesiredTask
    task_id: str
    is_standing: bool
    is_owned: bool = False


def plan_task_rows(
    wish: Wish, rows: TaskRows, names: RepositoryNames
) -> Iterator[Step]:
    """
    Plan the rows of one task.

    A link is taken away only if an entry wrote it; a person's link stays.
    """
    yield from _plan_repositories(wish, rows, names)
    yield from _plan_links(wish, rows, names)
    stored = {session.external_id: session for session in rows.sessions[wish.task_id]}
    for session in wish.task.sessions:
        yield from _plan_session(
            wish, session, stored.pop(session.id, None), rows, names
        )
    for _, dropped in sorted(stored.items()):
        yield from _drop(wish, rows.checkouts[dropped.id])
        if wish.is_owned and dropped.ended_at is None:
            yield EndSession(dropped)


def _plan_repositories(
    wish: Wish, rows: TaskRows, names: RepositoryNames
) -> Iterator[Step]:
    stored = {row.repository_id: row for row in rows.repositories[wish.task_id]}
    named = [each for each in wish.task.repositories if not each.pull_request]
    for position, (key, group) in enumerate(_group(wish, named, names).items()):
        before = stored.pop(key, None)
        step = PutTaskRepository(
            task=wish.task.external_id,
            repository=_spell(key, group, names),
            position=position,
            branch=group[0].branch,
            head_repository=group[0].head_repository,
            written_as=_choose_written(wish, before, group),
        )
        if before is None or _values(before) != _values(step):
            yield step
    yield from _drop(wish, stored.values())


def _values(row: TaskRepository | PutTaskRepository) -> tuple[int, str, str, str]:
    return (row.position, row.branch, row.head_repository, row.written_as)


def _plan_links(wish: Wish, rows: TaskRows, names: RepositoryNames) -> Iterator[Step]:
    stored = {
        (row.repository_id, row.pr_number): row for row in rows.links[wish.task_id]
    }
    for number in dict.fromkeys(each.pull_request for each in wish.task.repositories):
        if not number:
            continue
        named = [each for each in wish.task.repositories if each.pull_request == number]
        for key, group in _group(wish, named, names).items():
            before = stored.pop((key, number), None)
            written_as = _choose_written(wish, before, group)
            if before is None or before.written_as != written_as:
                yield PutLink(
                    task=wish.task.external_id,
                    repository=_spell(key, group, names),
                    pr_number=number,
                    written_as=written_as,
                )
    yield from _drop(wish, (row for row in stored.values() if row.written_as))


def _plan_session(
    wish: Wish,
    session: DesiredSession,
    row: Session | None,
    rows: TaskRows,
    names: RepositoryNames,
) -> Iterator[Step]:
    stored = rows.checkouts[row.id] if row else []
    left = {(each.repository_id, each.worktree_path): each for each in stored}
    # A session that ended with its checkouts in place was ended by somebody; one
    # without them ended because its source had dropped it, and it runs again.
    if row is None or (row.ended_at is not None and session.checkouts and not left):
        yield PutSession(task=wish.task.external_id, session=session.id)
    for path in dict.fromkeys(each.worktree_path for each in session.checkouts):
        named = [each for each in session.checkouts if each.worktree_path == path]
        for key, group in _group(wish, named, names).items():
            before = left.pop((key, path), None)
            step = PutCheckout(
                task=wish.task.external_id,
                session=session.id,
                repository=_spell(key, group, names),
                branch=group[0].branch,
                worktree_path=path,
                head_repository=group[0].head_repository,
                written_as=_choose_written(wish, before, group),
            )
            if before is None or _branch(before) != _branch(step):
                yield step
    yield from _drop(wish, left.values())


def _branch(row: Checkout | PutCheckout) -> tuple[str, str, str]:
    return (row.branch, row.head_repository, row.written_as)


def _group(
    wish: Wish, named: Iterable[_Named], names: RepositoryNames
) -> dict[str, list[_Named]]:
    """Gather what means one repository, by its row's id, or by name without a row."""
    groups: defaultdict[str, list[_Named]] = defaultdict(list)
    for each in named:
        groups[find_key(wish, each, names)].append(each)
    return groups


def find_key(
    wish: Wish, named: DesiredRepository | DesiredCheckout, names: RepositoryNames
) -> str:
    """Return the id of the repository that a wish names, else its name."""
    task_id = wish.task_id if wish.is_standing else ""
    found = names.find(named.owner, named.name, task_id=task_id)
    return found.id if found else f"{named.owner}/{named.name}".lower()


def _spell(key: str, group: Sequence[_Named], names: RepositoryNames) -> RepositoryName:
    return names.spell(key) or RepositoryName(group[0].owner, group[0].name)


def _choose_written(wish: Wish, before: _Row | None, group: Iterable[_Named]) -> str:
    stored = before.written_as if before else ""
    if not wish.is_standing:
        return stored
    return choose_written(stored, (f"{each.owner}/{each.name}" for each in group))


def _drop(wish: Wish, rows: Iterable[_Row]) -> Iterator[Step]:
    """Take away what the wish does not name, or leave it to somebody else."""
    for row in rows:
        if not wish.is_owned:
            if wish.is_standing and row.written_as:
                yield Disown(row)
        elif isinstance(row, TaskRepository):
            yield RemoveTaskRepository(row)
        elif isinstance(row, Checkout):
            yield RemoveCheckout(row)
        else:
            yield RemoveLink(row)
