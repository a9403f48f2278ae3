"""Adding and removing what is watched, as a person names it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
    Reference,
)
from prwatch.app.command.task_edit import build_repository, detach, put_task
from prwatch.app.command.watch_listing import (
    Desk,
    find_watches,
    is_meant,
    open_desk,
)
from prwatch.app.command.watch_row import AdoptionRow, WatchRow
from prwatch.app.command.workbench import Workbench
from prwatch.config.desired import list_desired
from prwatch.domain.desired import DesiredTask, DesiredWorkspace
from prwatch.domain.desired_plan import plan_tasks
from prwatch.domain.desired_steps import (
    AddRepository,
    ArchiveTask,
    PutRepositoryWatch,
    RemoveRepositoryWatch,
    Step,
)
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.repository_names import RepositoryNames
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, PullRequestLink, RepositoryWatch, Workspace
from prwatch.errors import PrwatchError, WatchNotFound
from prwatch.store import sessions, targets, tasks, watches
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """
    What a command asked for, and what stands for it now.

    `is_new` says that something was written. `rows` are empty for an adoption, and
    for a branch that must not be watched: then `note` says why.
    """

    reference: str
    workspace: str
    task: str
    is_new: bool
    rows: tuple[WatchRow, ...] = ()
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "reference": self.reference,
            "workspace": self.workspace,
            "task": self.task or None,
            "new": self.is_new,
            "note": self.note or None,
            "watches": [row.as_json() for row in self.rows],
        }


async def add_watch(
    bench: Workbench,
    named: NamedPullRequest | NamedBranch,
    *,
    workspace: str = "",
    task: str = "",
) -> Added:
    """
    Watch a pull request or a branch, for a task of that id or one of its own.

    Raises:
        ConfigError: The workspace must be named, or is not configured.
        StoreError: It could not be written.
    """
    chosen = await bench.get_workspace(workspace, host=named.host)
    external_id = task or name_task(named)
    wanted = DesiredTask(
        external_id=external_id,
        origin=Origin.COMMAND,
        repositories=(build_repository(named),),
    )
    steps = await put_task(bench, chosen, wanted)
    desk = await open_desk(bench, chosen)
    rows = [
        row
        for row in desk.list_all()
        if row.task == external_id and is_meant(row, named)
    ]
    return Added(
        reference=str(named),
        workspace=chosen.name,
        task=external_id,
        is_new=bool(steps),
        rows=tuple(row for row in rows if row.id),
        note=_explain(rows, named),
    )


def name_task(named: NamedPullRequest | NamedBranch) -> str:
    """Return the id of the task that an entry of that meaning has."""
    place = f"{named.owner}/{named.name}".lower()
    if isinstance(named, NamedPullRequest):
        return f"{place}#{named.number}"
    head = f"{named.head_repository.lower()}:" if named.head_repository else ""
    return f"{place}@{head}{named.branch}"


def _explain(rows: Sequence[WatchRow], named: NamedPullRequest | NamedBranch) -> str:
    if any(row.id for row in rows):
        return ""
    if rows and isinstance(named, NamedPullRequest):
        return f"it is {rows[0].state} and so not watched any more"
    if isinstance(named, NamedBranch):
        return "a default branch is not watched; whether it is one GitHub is asked"
    return "it is watched from the next cycle on"


async def add_adoption(
    bench: Workbench, named: NamedRepository, *, workspace: str = ""
) -> Added:
    """
    Watch every open pull request of a repository, also those that are yet to come.

    Raises:
        ConfigError: The workspace must be named, or is not configured.
        StoreError: It could not be written.
    """
    chosen = await bench.get_workspace(workspace, host=named.host)
    names = RepositoryNames(await bench.load_snapshot(chosen))
    row = names.find(named.owner, named.name)
    spelled = RepositoryName(named.owner, named.name)
    if row is not None:
        spelled = RepositoryName(row.owner, row.name, row.node_id)
    desk = await open_desk(bench, chosen)
    is_there = any(
        watch.repository_id == (row.id if row else None) and not watch.author
        for watch in desk.view.snapshot.repository_watches
    )
    if not is_there:
        steps: list[Step] = [] if row else [AddRepository(spelled)]
        steps.append(
            PutRepositoryWatch(repository=spelled, author="", origin=Origin.COMMAND)
        )
        await bench.apply(chosen, steps, then=None)
        await bench.nudge()
    return Added(
        reference=spelled.name_with_owner,
        workspace=chosen.name,
        task="",
        is_new=not is_there,
        note="each open pull request becomes a task of its own in the next cycle",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What is watched no longer, in the words of each thing that was done."""

    reference: str
    done: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {"reference": self.reference, "done": list(self.done)}


async def remove_watch(
    bench: Workbench, reference: Reference, *, workspace: str = ""
) -> Removed:
    """
    Stop watching what a reference means, for every task that watches it.

    A task that is there for it alone is archived; another one loses the branch, or
    has the pull request detached. A repository's standing adoption ends, with what
    it adopted.

    Raises:
        WatchNotFound: Nothing of that name is watched.
        PrwatchError: The configuration file asks for it.
        StoreError: It could not be written.
    """
    done: list[str] = []
    if isinstance(reference, NamedRepository):
        done = await _remove_adoptions(bench, reference, workspace)
    else:
        rows = await find_watches(bench, reference, workspace=workspace)
        watched = [row for row in rows if row.id]
        if not watched:
            raise WatchNotFound(f"{reference} is not watched any more")
        for row in watched:
            done.append(await _remove_row(bench, row))
    for one in await bench.list_workspaces(workspace):
        await bench.reconcile(one)
    await bench.nudge()
    return Removed(reference=str(reference), done=tuple(done))


async def _remove_row(bench: Workbench, row: WatchRow) -> str:
    # A detached pull request stays off; a branch would come back at the next start.
    is_named = not row.number or _is_alone(row)
    if row.origin in {Origin.CONFIG, Origin.WORKTREE} and is_named:
        what = "entry" if row.origin is Origin.CONFIG else "worktree"
        raise PrwatchError(
            f"{row.reference} is watched for {row.task}, because the configuration"
            f" asks for it",
            hint=f"remove that {what} instead",
        )
    workspace = (await bench.list_workspaces(row.workspace))[0]
    desk = await open_desk(bench, workspace)
    watch = next(w for w in desk.view.snapshot.watches if w.id == row.id)
    now = bench.surroundings.clock.now()

    async def write(tx: Transaction) -> str:
        if row.origin is Origin.COMMAND and _is_alone(row):
            await tasks.archive_task(tx, watch.task_id, now)
            return f"archived the task {row.task}"
        if watch.is_searching:
            await _forget_branch(tx, desk, watch.task_id, row)
            await watches.remove_watch(tx, watch)
            return f"took {row.reference} from the task {row.task}"
        link = PullRequestLink(
            task_id=watch.task_id,
            repository_id=watch.repository_id,
            pr_number=watch.pr_number,
        )
        await detach(tx, link, now)
        return f"detached {row.reference} from the task {row.task}"

    return await bench.database.transact(write)


def _is_alone(row: WatchRow) -> bool:
    """Return whether the task is named after this one thing."""
    return row.task.lower() == row.reference.lower() or row.task.startswith("worktree:")


async def _forget_branch(
    tx: Transaction, desk: Desk, task_id: str, row: WatchRow
) -> None:
    """Take a branch out of all that names it for a task."""
    snapshot = desk.view.snapshot
    own = {s.id for s in snapshot.sessions if s.task_id == task_id}
    for entry in snapshot.task_repositories:
        if (entry.task_id, entry.branch) == (task_id, row.branch):
            await targets.put_task_repository(
                tx, replace(entry, branch="", head_repository="")
            )
    for checkout in snapshot.checkouts:
        if checkout.session_id in own and checkout.branch == row.branch:
            await sessions.remove_checkout(tx, checkout)


async def _remove_adoptions(
    bench: Workbench, named: NamedRepository, workspace: str
) -> list[str]:
    done: list[str] = []
    for one in await bench.list_workspaces(workspace):
        desk = await open_desk(bench, one)
        for watch in desk.view.snapshot.repository_watches:
            told = desk.describe_adoption(watch)
            if told.repository.lower() != f"{named.owner}/{named.name}".lower():
                continue
            _refuse_declared(told)
            steps = _plan_end(bench, one, desk.view.snapshot, watch)
            await bench.apply(one, steps, then=None)
            done.append(f"stopped adopting from {told.reference}")
            done.extend(
                f"archived the task {step.task.external_id}"
                for step in steps
                if isinstance(step, ArchiveTask)
            )
    if not done:
        raise WatchNotFound(
            f"the open pull requests of {named} are not adopted",
            hint="name a pull request or a branch to remove a single watch",
        )
    return done


def _refuse_declared(row: AdoptionRow) -> None:
    if row.origin in {Origin.CONFIG, Origin.WATCH_FILE}:
        is_ours = row.origin is Origin.CONFIG
        raise PrwatchError(
            f"{'the configuration' if is_ours else 'a watch file'} asks for"
            f" {row.reference}",
            hint="remove that entry instead",
        )


def _plan_end(
    bench: Workbench, workspace: Workspace, snapshot: Snapshot, ending: RepositoryWatch
) -> list[Step]:
    """Plan the end of an adoption, and of the tasks that nothing else holds."""
    configured = next(
        (each for each in list_desired(bench.config) if each.name == workspace.name),
        DesiredWorkspace(name=workspace.name),
    )
    left = tuple(row for row in snapshot.repository_watches if row != ending)
    linked = {link.task_id for link in snapshot.links}
    plan = plan_tasks(
        configured,
        replace(snapshot, repository_watches=left),
        origins=frozenset({Origin.ADOPTED}),
    )
    archived = [
        step
        for step in plan.steps
        if isinstance(step, ArchiveTask) and step.task.id not in linked
    ]
    return [RemoveRepositoryWatch(ending), *archived]
