"""What `prwatch task` does: pieces of work, their sessions and pull requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prwatch.app.command.current_checkout import find_checkout
from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
)
from prwatch.app.command.task_edit import (
    FoundTask,
    build_repository,
    change_task,
    detach,
    get_active,
    get_task,
    put_task,
    write_task,
)
from prwatch.app.command.task_listing import TaskRow, show_task
from prwatch.app.command.workbench import Workbench
from prwatch.app.sync.declared import is_declared
from prwatch.domain.desired import (
    DesiredCheckout,
    DesiredRepository,
    DesiredSession,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import PutSession, Step
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.task import Origin, PullRequestLink, Session
from prwatch.errors import NotFound, PrwatchError
from prwatch.store import sessions, tasks
from prwatch.store.database import Transaction

_SOURCES: Final[Mapping[Origin, tuple[str, str]]] = {
    Origin.CONFIG: ("the configuration asks for it", "remove its entry instead"),
    Origin.WATCH_FILE: ("a watch file asks for it", "remove its entry instead"),
    Origin.WORKTREE: ("its worktree is there", "remove the worktree instead"),
    Origin.ADOPTED: (
        "its repository is watched",
        "`prwatch task detach` takes the pull request off",
    ),
}
"""Why a task would come back by itself, and what to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What `task add` was told. `session` may be ''."""

    id: str
    title: str = ""
    repositories: tuple[NamedBranch | NamedRepository, ...] = ()
    session: str = ""
    links: tuple[NamedPullRequest, ...] = ()


async def add_task(bench: Workbench, new: NewTask, *, workspace: str = "") -> TaskRow:
    """
    Add a task, or add to the one that has that id; an archived one becomes active.

    With a session, it has the named branches checked out.

    Raises:
        ConfigError: The workspace must be named, or is not configured.
        StoreError: It could not be written.
    """
    hosts = {named.host for named in (*new.repositories, *new.links)} - {""}
    host = hosts.pop() if len(hosts) == 1 else ""
    chosen = await bench.get_workspace(workspace, host=host)
    checkouts = tuple(
        DesiredCheckout(
            owner=named.owner,
            name=named.name,
            branch=named.branch,
            head_repository=named.head_repository,
        )
        for named in new.repositories
        if isinstance(named, NamedBranch)
    )
    wanted = DesiredTask(
        external_id=new.id,
        origin=Origin.COMMAND,
        title=new.title,
        repositories=tuple(
            build_repository(named) for named in (*new.repositories, *new.links)
        ),
        sessions=(DesiredSession(id=new.session, checkouts=checkouts),)
        if new.session
        else (),
    )
    await put_task(bench, chosen, wanted)
    return await show_task(bench, new.id, workspace=chosen.name)


async def link_pull_request(
    bench: Workbench, external_id: str, named: NamedPullRequest, *, workspace: str = ""
) -> TaskRow:
    """
    Attach a pull request to an active task; one that was detached comes back.

    Raises:
        TaskNotFound: There is no such task.
        PrwatchError: It is archived.
    """
    found = get_active(await get_task(bench, external_id, workspace=workspace))
    wanted = DesiredTask(
        external_id=external_id, repositories=(build_repository(named),)
    )
    await put_task(bench, found.workspace, wanted)
    return await show_task(bench, external_id, workspace=found.workspace.name)


async def detach_pull_request(
    bench: Workbench, external_id: str, named: NamedPullRequest, *, workspace: str = ""
) -> None:
    """
    Take a pull request off a task: only a link or a new entry brings it back.

    Raises:
        TaskNotFound: There is no such task.
        NotFound: The task has no such pull request.
        PrwatchError: The configuration asks for it, and it was never read.
    """
    found = await get_task(bench, external_id, workspace=workspace)
    link = _find_place(found, named)
    now = bench.surroundings.clock.now()

    async def write(tx: Transaction, link: PullRequestLink) -> bool:
        return await detach(tx, link, now)

    is_done = link is not None and await change_task(
        bench, found, lambda tx: write(tx, link)
    )
    if not is_done:
        if link is not None and _is_unread(found, link):
            reason, remedy = _SOURCES[Origin.CONFIG]
            raise PrwatchError(
                f"{named} would come back, because {reason}", hint=remedy
            )
        raise NotFound(f"the task {external_id} has no pull request {named}")
    await bench.nudge()


async def archive_task(
    bench: Workbench, external_id: str, *, workspace: str = ""
) -> bool:
    """
    Archive a task: its watches go, its history stays. False when it was archived.

    Raises:
        TaskNotFound: There is no such task.
        PrwatchError: Something asks for it, such as the configuration.
    """
    found = await get_task(bench, external_id, workspace=workspace)
    # What somebody works in outlives its watch file: then nothing asks for it.
    is_left = found.task.origin is Origin.WATCH_FILE and not await is_declared(
        bench.config, bench.database, found.workspace, external_id
    )
    if found.task.origin in _SOURCES and not is_left:
        reason, remedy = _SOURCES[found.task.origin]
        raise PrwatchError(
            f"the task {external_id} would come back, because {reason}", hint=remedy
        )
    now = bench.surroundings.clock.now()

    async def write(tx: Transaction) -> bool:
        return await tasks.archive_task(tx, found.task.id, now)

    is_done = await change_task(bench, found, write)
    await bench.nudge()
    return is_done


async def unarchive_task(
    bench: Workbench, external_id: str, *, workspace: str = ""
) -> bool:
    """
    Take an archived task up again: it adopts afresh. False when it was active.

    Raises:
        TaskNotFound: There is no such task.
    """
    found = await get_task(bench, external_id, workspace=workspace)

    async def write(tx: Transaction) -> bool:
        return await tasks.unarchive_task(tx, found.task.id)

    is_done = await change_task(bench, found, write)
    await bench.reconcile(found.workspace)
    await bench.nudge()
    return is_done


async def start_session(
    bench: Workbench,
    external_id: str,
    session: str,
    *,
    checkout: NamedBranch | Path | None = None,
    workspace: str = "",
) -> TaskRow:
    """
    Start a session of an active task, or start it again, with what it checked out.

    Raises:
        TaskNotFound: There is no such task.
        NotFound: The folder is no checkout of a repository on the workspace's host.
        PrwatchError: The task is archived.
    """
    found = get_active(await get_task(bench, external_id, workspace=workspace))
    one = await _build_checkout(bench, found, checkout)
    places = (DesiredRepository(owner=one.owner, name=one.name),) if one else ()
    wanted = DesiredTask(
        external_id=external_id,
        repositories=places if one and not _works_in(found, one) else (),
        sessions=(DesiredSession(id=session, checkouts=(one,) if one else ()),),
    )
    desired = DesiredWorkspace(name=found.workspace.name, tasks=(wanted,))
    steps: list[Step] = [
        *plan_tasks(desired, found.snapshot, origins=frozenset()).steps
    ]
    stored = _find_session(found, session)
    has_ended = stored is not None and stored.ended_at is not None
    if has_ended and not any(isinstance(step, PutSession) for step in steps):
        steps.append(PutSession(task=external_id, session=session))
    await write_task(bench, found.workspace, external_id, steps)
    return await show_task(bench, external_id, workspace=found.workspace.name)


async def end_session(
    bench: Workbench, external_id: str, session: str, *, workspace: str = ""
) -> bool:
    """
    End a running session; what it checked out still counts. False when it had ended.

    Raises:
        TaskNotFound: There is no such task.
        NotFound: The task has no such session.
    """
    found = await get_task(bench, external_id, workspace=workspace)
    stored = _find_session(found, session)
    if stored is None:
        raise NotFound(f"the task {external_id} has no session {session}")
    now, session_id = bench.surroundings.clock.now(), stored.id

    async def write(tx: Transaction) -> bool:
        return await sessions.end_session(tx, session_id, now)

    is_done = await change_task(bench, found, write)
    await bench.nudge()
    return is_done


async def _build_checkout(
    bench: Workbench, found: FoundTask, checkout: NamedBranch | Path | None
) -> DesiredCheckout | None:
    if checkout is None:
        return None
    if isinstance(checkout, Path):
        host = bench.get_host(found.workspace.name)
        path, base = await find_checkout(checkout, host, bench.surroundings.environ)
        return DesiredCheckout(owner=base.owner, name=base.name, worktree_path=path)
    return DesiredCheckout(
        owner=checkout.owner,
        name=checkout.name,
        branch=checkout.branch,
        head_repository=checkout.head_repository,
    )


def _find_place(found: FoundTask, named: NamedPullRequest) -> PullRequestLink | None:
    """Find a pull request by its repository's present name, or as an entry wrote it."""
    names = RepositoryNames(found.snapshot)
    row = names.find(named.owner, named.name) or names.find(
        named.owner, named.name, task_id=found.task.id
    )
    if row is None:
        return None
    return PullRequestLink(
        task_id=found.task.id, repository_id=row.id, pr_number=named.number
    )


def _is_unread(found: FoundTask, place: PullRequestLink) -> bool:
    """Return whether an entry names a pull request that nothing is known of."""
    key = (place.task_id, place.repository_id, place.pr_number)
    snapshot = found.snapshot
    linked = {(r.task_id, r.repository_id, r.pr_number) for r in snapshot.links}
    known = (
        (r.task_id, r.repository_id, r.pr_number) for r in snapshot.task_pull_requests
    )
    return key in linked and key not in known


def _works_in(found: FoundTask, checkout: DesiredCheckout) -> bool:
    row = RepositoryNames(found.snapshot).find(checkout.owner, checkout.name)
    return any(
        row is not None
        and (entry.task_id, entry.repository_id) == (found.task.id, row.id)
        for entry in found.snapshot.task_repositories
    )


def _find_session(found: FoundTask, session: str) -> Session | None:
    for row in found.snapshot.sessions:
        if (row.task_id, row.external_id) == (found.task.id, session):
            return row
    return None
