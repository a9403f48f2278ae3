"""
Turns the entries of a configuration into the tasks and adoptions that they ask for.

The id of a task depends only on what its entry means: not on its place in the file,
and not on the case in which a repository is written, which GitHub ignores.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from prwatch.config.entries import Session, Task, Watch
from prwatch.config.model import Config
from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)


def list_desired(config: Config) -> tuple[DesiredWorkspace, ...]:
    """
    Return what each workspace asks for, in the order of the file.

    Entries with one id are one task that has the repositories and sessions of all.
    Worktrees are no part of it: what is on the disk says them, not the file.
    """
    return tuple(
        build_desired(workspace.name, workspace.watches, workspace.tasks)
        for workspace in config.workspaces
    )


def build_desired(
    name: str, entries: Iterable[Watch], named: Iterable[Task]
) -> DesiredWorkspace:
    """Return what watches and tasks ask for in the workspace of that name."""
    tasks = [_build_task(task) for task in named]
    watches = []
    for watch in entries:
        if watch.all or watch.author:
            watches.append(_build_repository_watch(watch))
        else:
            tasks.append(_build_watch_task(watch))
    merged: dict[str, DesiredTask] = {}
    for task in tasks:
        known = merged.get(task.external_id)
        merged[task.external_id] = task if known is None else _merge(known, task)
    distinct = {(w.owner.lower(), w.name.lower(), w.author): w for w in watches}
    return DesiredWorkspace(
        name=name,
        tasks=tuple(merged.values()),
        repository_watches=tuple(distinct.values()),
    )


def _build_repository_watch(watch: Watch) -> DesiredRepositoryWatch:
    owner, _, name = watch.repository.partition("/")
    return DesiredRepositoryWatch(owner=owner, name=name, author=watch.author)


def _build_watch_task(watch: Watch) -> DesiredTask:
    owner, _, name = watch.repository.partition("/")
    repository = watch.repository.lower()
    if watch.pull_request:
        return DesiredTask(
            external_id=f"{repository}#{watch.pull_request}",
            repositories=(
                DesiredRepository(
                    owner=owner, name=name, pull_request=watch.pull_request
                ),
            ),
        )
    head = _get_fork(watch.repository, watch.head)
    branch = f"{head.lower()}:{watch.branch}" if head else watch.branch
    return DesiredTask(
        external_id=f"{repository}@{branch}",
        repositories=(
            DesiredRepository(
                owner=owner, name=name, branch=watch.branch, head_repository=head
            ),
        ),
    )


def _build_task(task: Task) -> DesiredTask:
    sessions = tuple(_build_session(session) for session in task.sessions)
    named = []
    for entry in task.repositories:
        owner, _, name = entry.repository.partition("/")
        head = _get_fork(entry.repository, entry.head)
        named.append(
            DesiredRepository(
                owner=owner, name=name, branch=entry.branch, head_repository=head
            )
        )
    return DesiredTask(
        external_id=task.id,
        title=task.title,
        repositories=_unite(named, _list_repositories(sessions)),
        sessions=sessions,
    )


def _build_session(session: Session) -> DesiredSession:
    checkouts = []
    for entry in session.checkouts:
        owner, _, name = entry.repository.partition("/")
        checkouts.append(
            DesiredCheckout(
                owner=owner,
                name=name,
                branch=entry.branch,
                worktree_path=str(entry.worktree) if entry.worktree else "",
                head_repository=_get_fork(entry.repository, entry.head),
            )
        )
    return DesiredSession(id=session.id, checkouts=tuple(dict.fromkeys(checkouts)))


def _list_repositories(
    sessions: Iterable[DesiredSession],
) -> Iterator[DesiredRepository]:
    """Yield the repositories that only a session names: the task works there too."""
    for session in sessions:
        for checkout in session.checkouts:
            yield DesiredRepository(owner=checkout.owner, name=checkout.name)


def _get_fork(repository: str, head: str) -> str:
    """Return the head repository, or '' when it is the repository itself."""
    return "" if head.lower() == repository.lower() else head


def _merge(first: DesiredTask, second: DesiredTask) -> DesiredTask:
    return replace(
        first,
        title=first.title or second.title,
        repositories=_unite(first.repositories, second.repositories),
        # Only an entry with an id of its own has sessions, and ids are distinct.
        sessions=first.sessions or second.sessions,
    )


def _unite(
    first: Iterable[DesiredRepository], second: Iterable[DesiredRepository]
) -> tuple[DesiredRepository, ...]:
    """Return both without repetitions; a bare name is left out beside a fuller one."""
    united: dict[tuple[str, ...], DesiredRepository] = {}
    every = [*first, *second]
    full = {_name(each) for each in every if each.branch or each.pull_request}
    for each in every:
        if not each.branch and not each.pull_request and _name(each) in full:
            continue
        key = (
            *_name(each),
            each.branch,
            each.head_repository.lower(),
            str(each.pull_request),
        )
        united.setdefault(key, each)
    return tuple(united.values())


def _name(repository: DesiredRepository) -> tuple[str, str]:
    return repository.owner.lower(), repository.name.lower()
