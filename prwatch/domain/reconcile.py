"""Plan how the stored watches come to equal the targets: the heart of a cycle."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from prwatch.domain.coverage import Coverage
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.targets import Place, Target, Targets
from prwatch.domain.task import Origin, TaskPullRequest
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWatch:
    """A watch to create: searching for a branch, or discovered with a number."""

    task_id: str
    repository_id: str
    branch: str = ""
    head_repository: str = ""
    session_id: str = ""
    pr_number: int = 0

    def __str__(self) -> str:
        what = _name(self.branch, self.head_repository, self.pr_number)
        return f"create {what} in ({self.task_id}, {self.repository_id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """
    A searching watch that goes to another branch or to another head repository.

    `merges_into` is the id of the searching watch that stands there already, or ''.
    """

    watch: Watch
    branch: str
    head_repository: str = ""
    merges_into: str = ""

    def __str__(self) -> str:
        before = _name(self.watch.branch, self.watch.head_repository)
        after = _name(self.branch, self.head_repository)
        merged = f", merge into {self.merges_into}" if self.merges_into else ""
        return f"move {self.watch.id} from {before} to {after}{merged}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A watch that goes, and why."""

    watch: Watch
    reason: str

    def __str__(self) -> str:
        watch = self.watch
        what = _name(watch.branch, watch.head_repository, watch.pr_number)
        return f"remove {watch.id}, {what}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    The steps of one reconciliation; removals and moves come before creations.

    Planning depends on the set of targets and rows alone, not on their order, and a
    plan that was applied leaves nothing to plan.
    """

    removes: tuple[Removal, ...] = ()
    moves: tuple[Move, ...] = ()
    creates: tuple[NewWatch, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to do."""
        return not (self.removes or self.moves or self.creates)

    def __str__(self) -> str:
        steps = (*self.removes, *self.moves, *self.creates)
        return "\n".join(map(str, steps)) or "nothing to do"


@dataclass(slots=True)
class _Steps:
    removes: list[Removal] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    creates: list[NewWatch] = field(default_factory=list)


def plan(targets: Targets, snapshot: Snapshot) -> Plan:
    """
    Plan the creations, moves, merges and removals that lead from rows to targets.

    A watch whose branch is still targeted is never moved to another branch, and
    nothing in a held place is moved or removed. Discovered watches are only removed,
    and only with their task. Every linked pull request that is not finished or
    detached gets a discovered watch.
    """
    steps = _Steps()
    active = {task.id for task in snapshot.tasks if task.archived_at is None}
    searching: defaultdict[Place, list[Watch]] = defaultdict(list)
    for watch in sorted(snapshot.watches, key=lambda watch: watch.id):
        if watch.task_id not in active:
            steps.removes.append(Removal(watch=watch, reason="the task is not active"))
        elif watch.is_searching:
            searching[watch.task_id, watch.repository_id].append(watch)
    wanted: defaultdict[Place, list[Target]] = defaultdict(list)
    for target in sorted(targets.targets, key=lambda target: target.key):
        wanted[target.place].append(target)
    coverage = Coverage(snapshot)
    for place in sorted(searching.keys() | wanted.keys()):
        is_held = place in targets.held
        _plan_place(steps, searching[place], wanted[place], coverage, is_held=is_held)
    steps.creates.extend(_plan_links(snapshot, active))
    return Plan(
        removes=tuple(steps.removes),
        moves=tuple(steps.moves),
        creates=tuple(steps.creates),
    )


def list_finished_links(snapshot: Snapshot) -> tuple[TaskPullRequest, ...]:
    """
    List the closed, unmerged pull requests that an entry or a person linked.

    They have no watch and are read now and then, because they may be reopened. Those
    of adopted tasks are found again through their repository's list instead.
    """
    linked = {
        (link.task_id, link.repository_id, link.pr_number) for link in snapshot.links
    }
    rows = [
        row
        for row in snapshot.task_pull_requests
        if row.observation.state is PullRequestState.CLOSED
        and row.detached_at is None
        and not row.is_past
        and (row.task_id, row.repository_id, row.pr_number) in linked
    ]
    if not rows:
        return ()  # mostly, and tasks are many
    followed = {
        task.id
        for task in snapshot.tasks
        if task.archived_at is None and task.origin is not Origin.ADOPTED
    }
    found = (row for row in rows if row.task_id in followed)
    return tuple(
        sorted(found, key=lambda row: (row.task_id, row.repository_id, row.pr_number))
    )


def _plan_place(
    steps: _Steps,
    rows: list[Watch],
    targets: list[Target],
    coverage: Coverage,
    *,
    is_held: bool,
) -> None:
    """Plan one repository of one task; rows are in order of id, targets of branch."""
    by_branch = {target.branch: target for target in targets}
    standing = {row.branch: row for row in rows}
    free = [row for row in rows if row.branch not in by_branch]
    vacant = [
        target
        for target in targets
        if target.branch not in standing and not coverage.is_covered(target)
    ]
    if not is_held:
        steps.moves.extend(_plan_heads(standing, by_branch))
        pairs = list(_pair(free, vacant))
        steps.moves.extend(_move(row, target) for row, target in pairs)
        _plan_leftover(steps, free, targets, standing)
    steps.creates.extend(
        NewWatch(
            task_id=target.task_id,
            repository_id=target.repository_id,
            branch=target.branch,
            head_repository=target.head_repository,
            session_id=target.session_id,
        )
        for target in vacant
    )


def _plan_heads(
    standing: dict[str, Watch], by_branch: dict[str, Target]
) -> Iterator[Move]:
    """Plan for rows that stay on their branch, which now lives somewhere else."""
    for branch, row in standing.items():
        target = by_branch.get(branch)
        if target and (target.head_repository.lower() != row.head_repository.lower()):
            yield _move(row, target)


def _pair(free: list[Watch], vacant: list[Target]) -> Iterator[tuple[Watch, Target]]:
    """
    Pair rows with targets, by session first and then in order; take both out.

    What is left in the lists has no partner.
    """
    for row in tuple(free):
        for target in vacant:
            if row.session_id in target.session_ids:
                free.remove(row)
                vacant.remove(target)
                yield row, target
                break
    while free and vacant:
        yield free.pop(0), vacant.pop(0)


def _plan_leftover(
    steps: _Steps,
    rows: Iterable[Watch],
    targets: Iterable[Target],
    standing: dict[str, Watch],
) -> None:
    """Merge a row into the one its session came to; remove it without such a row."""
    for row in rows:
        sibling = next(
            (
                (target, standing[target.branch])
                for target in targets
                if row.session_id in target.session_ids and target.branch in standing
            ),
            None,
        )
        if sibling is None:
            reason = "the branch is no longer targeted"
            steps.removes.append(Removal(watch=row, reason=reason))
        else:
            target, destination = sibling
            steps.moves.append(_move(row, target, merges_into=destination.id))


def _move(row: Watch, target: Target, *, merges_into: str = "") -> Move:
    return Move(
        watch=row,
        branch=target.branch,
        head_repository=target.head_repository,
        merges_into=merges_into,
    )


def _plan_links(snapshot: Snapshot, active: set[str]) -> Iterator[NewWatch]:
    if not snapshot.links:
        return
    watched = {
        (watch.task_id, watch.repository_id, watch.pr_number)
        for watch in snapshot.watches
    }
    settled = {
        (row.task_id, row.repository_id, row.pr_number)
        for row in snapshot.task_pull_requests
        if not row.is_past and (row.detached_at is not None or row.observation.is_final)
    }
    links = {
        (link.task_id, link.repository_id, link.pr_number) for link in snapshot.links
    }
    for task_id, repository_id, pr_number in sorted(links - watched - settled):
        if task_id in active:
            yield NewWatch(
                task_id=task_id, repository_id=repository_id, pr_number=pr_number
            )


def _name(branch: str, head_repository: str, pr_number: int = 0) -> str:
    if pr_number:
        return f"#{pr_number}"
    return f"{head_repository}:{branch}" if head_repository else branch
