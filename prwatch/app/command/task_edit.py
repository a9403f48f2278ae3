"""Changing what tasks ask for, as a person's command does: only ever adding."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
)
from prwatch.app.command.workbench import Workbench
from prwatch.config.forms import IDENTIFIER, TASK_ID, TEXT
from prwatch.domain.desired import (
    DesiredRepository,
    DesiredTask,
    DesiredWorkspace,
)
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import AddTask, Step
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import (
    REVIEW_PREFIX,
    PullRequestLink,
    Task,
    Workspace,
)
from prwatch.errors import ConfigError, PrwatchError, TaskNotFound
from prwatch.store import targets, task_pull_requests, tasks
from prwatch.store.database import Transaction, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTask:
    """A stored task with its workspace and all that the workspace has."""

    workspace: Workspace
    task: Task
    snapshot: Snapshot


async def put_task(
    bench: Workbench, workspace: Workspace, wanted: DesiredTask
) -> tuple[Step, ...]:
    """
    Bring a task up to what is wanted of it, take nothing away, and tell the daemon.

    An archived task becomes active. A pull request that is named is attached again
    when it was detached. Returns the steps that were taken.

    Raises:
        ConfigError: It would be a new task under an id of review tasks.
    """
    snapshot = await bench.load_snapshot(workspace)
    desired = DesiredWorkspace(name=workspace.name, tasks=(wanted,))
    steps = plan_tasks(desired, snapshot, origins=frozenset()).steps
    _refuse_reserved(steps)
    names = [
        NamedPullRequest(owner=row.owner, name=row.name, number=row.pull_request)
        for row in wanted.repositories
        if row.pull_request
    ]
    await write_task(bench, workspace, wanted.external_id, steps, names)
    return steps


async def write_task(
    bench: Workbench,
    workspace: Workspace,
    external_id: str,
    steps: Sequence[Step],
    attached: Sequence[NamedPullRequest] = (),
) -> None:
    """Apply steps, attach pull requests again, make watches equal, tell the daemon."""
    keys = await _find_attached(bench, workspace, external_id, attached)

    async def attach(tx: Transaction) -> None:
        for key in keys:
            await task_pull_requests.attach(tx, *key)

    await bench.apply(workspace, steps, then=attach if keys else None)
    await bench.reconcile(workspace)
    await bench.nudge()


async def detach(tx: Transaction, link: PullRequestLink, now: dt.datetime) -> bool:
    """
    Take a pull request off a task, and return whether it was there.

    The link of an entry stays beside it: only an entry that is new attaches it again.
    """
    was_linked = await targets.release_link(tx, link)
    was_attached = await task_pull_requests.detach(
        tx, link.task_id, link.repository_id, link.pr_number, now
    )
    return was_linked or was_attached


def _refuse_reserved(steps: Sequence[Step]) -> None:
    """Let nobody make by hand what finding a review makes."""
    for step in steps:
        if isinstance(step, AddTask) and step.external_id.startswith(REVIEW_PREFIX):
            raise ConfigError(
                f"there is no review task {step.external_id}, and none can be added"
                f" by hand; allowed is {TASK_ID.allowed}",
                hint="`prwatch review` finds pull requests that ask for review;"
                " `prwatch review restore` brings back a task that went",
            )


async def _find_attached(
    bench: Workbench,
    workspace: Workspace,
    external_id: str,
    attached: Sequence[NamedPullRequest],
) -> tuple[tuple[str, str, int], ...]:
    """Return the keys of the rows that named pull requests have, if any."""
    if not attached:
        return ()
    snapshot = await bench.load_snapshot(workspace)
    task = next((t for t in snapshot.tasks if t.external_id == external_id), None)
    repositories = RepositoryNames(snapshot)
    rows = ((repositories.find(one.owner, one.name), one.number) for one in attached)
    return tuple((task.id, row.id, number) for row, number in rows if row and task)


async def get_task(
    bench: Workbench, external_id: str, *, workspace: str = ""
) -> FoundTask:
    """
    Return a task by its own id, archived or not.

    Raises:
        TaskNotFound: No workspace has it, or several do.
    """
    found: list[FoundTask] = []
    for one in await bench.list_workspaces(workspace):
        snapshot = await bench.load_snapshot(one)
        found.extend(
            FoundTask(workspace=one, task=task, snapshot=snapshot)
            for task in snapshot.tasks
            if task.external_id == external_id
        )
    if not found:
        raise TaskNotFound(
            f"there is no task {external_id}", hint="`prwatch task list` lists them"
        )
    if len(found) > 1:
        names = ", ".join(each.workspace.name for each in found)
        raise TaskNotFound(
            f"several workspaces have a task {external_id}: {names}",
            hint="choose one with --workspace",
        )
    return found[0]


async def change_task(bench: Workbench, found: FoundTask, write: Work[bool]) -> bool:
    """
    Change a task that was found; False when `write` changed nothing.

    Raises:
        TaskNotFound: It went meanwhile, as a review task does whose work is done.
    """
    name = found.task.external_id

    async def change(tx: Transaction) -> tuple[bool, bool]:
        # Written first: whoever removes it in this instant is waited for.
        is_done = await write(tx)
        task = await tasks.find_task(tx, found.workspace.id, name)
        return is_done, task is not None and task.id == found.task.id

    is_done, is_there = await bench.database.transact(change)
    if not is_there:
        raise TaskNotFound(
            f"the task {name} went meanwhile, and nothing was changed",
            hint=f"`prwatch review restore {name}` brings back one that was cleaned up",
        )
    return is_done


def get_active(found: FoundTask) -> FoundTask:
    """
    Return a task that is active.

    Raises:
        PrwatchError: It is archived.
    """
    if found.task.archived_at is not None:
        external_id = found.task.external_id
        raise PrwatchError(
            f"the task {external_id} is archived",
            hint=f"`prwatch task unarchive {external_id}` takes it up again",
        )
    return found


def check_id(text: str) -> str:
    """
    Return a text that may be the own id of a task or a session.

    Raises:
        ValueError: It may not; the message says what is allowed.
    """
    try:
        return str(IDENTIFIER.read(text))
    except ValueError:
        raise ValueError(f"allowed is {IDENTIFIER.allowed}") from None


def check_title(text: str) -> str:
    """
    Return a text that may be a title.

    Raises:
        ValueError: It may not; the message says what is allowed.
    """
    try:
        return str(TEXT.read(text))
    except ValueError:
        raise ValueError(f"allowed is {TEXT.allowed}") from None


def check_reason(text: str) -> str:
    """
    Return a text that may say what a task waits for.

    Raises:
        ValueError: It may not; the message says what is allowed.
    """
    if not text.strip():
        raise ValueError(f"allowed is {TEXT.allowed} that is not empty")
    return check_title(text)


def build_repository(
    named: NamedBranch | NamedRepository | NamedPullRequest,
) -> DesiredRepository:
    """Return what a reference asks of a task."""
    match named:
        case NamedPullRequest():
            return DesiredRepository(
                owner=named.owner, name=named.name, pull_request=named.number
            )
        case NamedBranch():
            return DesiredRepository(
                owner=named.owner,
                name=named.name,
                branch=named.branch,
                head_repository=named.head_repository,
            )
        case NamedRepository():
            return DesiredRepository(owner=named.owner, name=named.name)
