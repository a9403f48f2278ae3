"""Plan what hangs on one desired task: repositories, links, sessions, checkouts."""

from collections import defaultdict
from collections.abc import Iterator

from prwatch.domain.desired import DesiredCheckout, DesiredSession, DesiredTask
from prwatch.domain.desired_steps import (
    EndSession,
    PutCheckout,
    PutLink,
    PutSession,
    PutTaskRepository,
    RemoveCheckout,
    RemoveTaskRepository,
    Step,
)
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Checkout, Session, TaskRepository


class TaskRows:
    """The stored rows below tasks, found by the task or session they hang on."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.repositories: defaultdict[str, list[TaskRepository]] = defaultdict(list)
        for repository in snapshot.task_repositories:
            self.repositories[repository.task_id].append(repository)
        self.links = {
            (link.task_id, link.repository_id, link.pr_number)
            for link in snapshot.links
        }
        self.sessions: defaultdict[str, list[Session]] = defaultdict(list)
        for session in snapshot.sessions:
            self.sessions[session.task_id].append(session)
        self.checkouts: defaultdict[str, list[Checkout]] = defaultdict(list)
        for checkout in snapshot.checkouts:
            self.checkouts[checkout.session_id].append(checkout)


def plan_task_rows(
    wanted: DesiredTask,
    task_id: str,
    rows: TaskRows,
    names: RepositoryNames,
    *,
    is_owned: bool,
) -> Iterator[Step]:
    """
    Plan the rows of one task; `task_id` is '' while the task is not stored.

    Rows that the source does not name are taken away only if the source owns the
    task; links never are, because a person's link looks the same.
    """
    yield from _plan_repositories(wanted, task_id, rows, names, is_owned=is_owned)
    yield from _plan_links(wanted, task_id, rows, names)
    stored = {session.external_id: session for session in rows.sessions[task_id]}
    for session in wanted.sessions:
        row = stored.get(session.id)
        yield from _plan_session(wanted, session, row, rows, names, is_owned=is_owned)
    if is_owned:
        named = {session.id for session in wanted.sessions}
        for external_id, dropped in sorted(stored.items()):
            if external_id not in named:
                yield from map(RemoveCheckout, rows.checkouts[dropped.id])
                if dropped.ended_at is None:
                    yield EndSession(dropped)


def _plan_repositories(
    wanted: DesiredTask,
    task_id: str,
    rows: TaskRows,
    names: RepositoryNames,
    *,
    is_owned: bool,
) -> Iterator[Step]:
    stored = {row.repository_id: row for row in rows.repositories[task_id]}
    named: set[str] = set()
    position = 0
    for repository in wanted.repositories:
        spelled = names.spell(repository.owner, repository.name)
        key = spelled.name_with_owner.lower()
        if repository.pull_request or key in named:
            continue
        named.add(key)
        row = names.find(repository.owner, repository.name)
        before = stored.pop(row.id, None) if row else None
        step = PutTaskRepository(
            task=wanted.external_id,
            repository=spelled,
            position=position,
            branch=repository.branch,
            head_repository=repository.head_repository,
        )
        position += 1
        if before is None or _values(before) != _values(step):
            yield step
    if is_owned:
        yield from map(RemoveTaskRepository, stored.values())


def _values(row: TaskRepository | PutTaskRepository) -> tuple[int, str, str]:
    return (row.position, row.branch, row.head_repository)


def _plan_links(
    wanted: DesiredTask, task_id: str, rows: TaskRows, names: RepositoryNames
) -> Iterator[Step]:
    for repository in wanted.repositories:
        row = names.find(repository.owner, repository.name)
        key = (task_id, row.id if row else "", repository.pull_request)
        if repository.pull_request and key not in rows.links:
            yield PutLink(
                task=wanted.external_id,
                repository=names.spell(repository.owner, repository.name),
                pr_number=repository.pull_request,
            )


def _plan_session(
    wanted: DesiredTask,
    session: DesiredSession,
    row: Session | None,
    rows: TaskRows,
    names: RepositoryNames,
    *,
    is_owned: bool,
) -> Iterator[Step]:
    left = (
        {_key(checkout): checkout for checkout in rows.checkouts[row.id]} if row else {}
    )
    # A session that ended with its checkouts in place was ended by somebody; one
    # without them ended because its source had dropped it, and it runs again.
    if row is None or (row.ended_at is not None and session.checkouts and not left):
        yield PutSession(task=wanted.external_id, session=session.id)
    steps: dict[tuple[str, str], PutCheckout] = {}
    for checkout in session.checkouts:
        step = _put_checkout(wanted, session, checkout, names)
        name = step.repository.name_with_owner.lower()
        steps.setdefault((name, step.worktree_path), step)
    for step in steps.values():
        repository = names.find(step.repository.owner, step.repository.name)
        key = (repository.id if repository else "", step.worktree_path)
        before = left.pop(key, None)
        if before is None or _branch(before) != _branch(step):
            yield step
    if is_owned:
        yield from map(RemoveCheckout, left.values())


def _branch(row: Checkout | PutCheckout) -> tuple[str, str]:
    return (row.branch, row.head_repository)


def _key(checkout: Checkout) -> tuple[str, str]:
    return (checkout.repository_id, checkout.worktree_path)


def _put_checkout(
    wanted: DesiredTask,
    session: DesiredSession,
    checkout: DesiredCheckout,
    names: RepositoryNames,
) -> PutCheckout:
    return PutCheckout(
        task=wanted.external_id,
        session=session.id,
        repository=names.spell(checkout.owner, checkout.name),
        branch=checkout.branch,
        worktree_path=checkout.worktree_path,
        head_repository=checkout.head_repository,
    )
