"""Decide which open pull requests become tasks by themselves, and for how long."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from prwatch.domain.coverage import Coverage
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import Probe
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import (
    Origin,
    RepositoryWatch,
    Task,
    TaskPullRequest,
)
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """
    An open pull request that becomes a task of its own.

    `repository_id` is '' while the workspace has no row for that repository. An
    archived task may have the external id already; it is then unarchived.
    """

    external_id: str
    repository_id: str
    probe: Probe

    def __str__(self) -> str:
        return f"adopt {self.external_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """A pull request that a task knows as closed and that is open again."""

    task: Task
    known: TaskPullRequest
    probe: Probe

    def __str__(self) -> str:
        return f"watch #{self.known.pr_number} of {self.task.external_id} again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoptions:
    """What one listing of open pull requests leads to."""

    adopts: tuple[Adoption, ...] = ()
    reopens: tuple[Reopening, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to do."""
        return not (self.adopts or self.reopens)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.adopts, *self.reopens))) or "nothing to do"


def plan_adoptions(
    repository_watch: RepositoryWatch,
    probes: Iterable[Probe],
    snapshot: Snapshot,
    *,
    login: str = "",
) -> Adoptions:
    """
    Plan what becomes of the open pull requests that a repository watch lists.

    Each becomes a task, unless a live task watches it, has it linked, or searches
    for its head. When an adopted or linked task knows it as closed, that task
    watches it again; a detached one is left alone. `login` is who `@me` is. Those of
    another repository that has the name now are not meant.
    """
    desk = _Desk(snapshot)
    adopts: dict[str, Adoption] = {}
    reopens: dict[str, Reopening] = {}
    for probe in probes:
        if not _is_wanted(repository_watch, probe, login) or desk.is_elsewhere(
            repository_watch, probe
        ):
            continue
        repository_id = desk.find_repository_id(probe)
        known = desk.find_unwatched(repository_id, probe)
        if known:
            task = desk.tasks[known.task_id]
            reopens[probe.node_id] = Reopening(task=task, known=known, probe=probe)
        elif not desk.is_taken(repository_id, probe):
            adopts[probe.node_id] = Adoption(
                external_id=_external_id(probe),
                repository_id=repository_id,
                probe=probe,
            )
    return Adoptions(adopts=tuple(adopts.values()), reopens=tuple(reopens.values()))


def _is_wanted(repository_watch: RepositoryWatch, probe: Probe, login: str) -> bool:
    if probe.state is not PullRequestState.OPEN:
        return False
    wanted = repository_watch.author
    author = login if wanted == "@me" else wanted
    return not wanted or author.lower() == (probe.author or "").lower() != ""


def _external_id(probe: Probe) -> str:
    return f"{probe.repository.name_with_owner}#{probe.number}"


class _Desk:
    """The rows of a workspace by what a probe can be compared with."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.tasks = {
            task.id: task for task in snapshot.tasks if task.archived_at is None
        }
        self._node_ids = {row.id: row.node_id for row in snapshot.repositories}
        self._by_node_id = {
            row.node_id: row.id for row in snapshot.repositories if row.node_id
        }
        self._by_name = {
            row.name_with_owner.lower(): row.id
            for row in snapshot.repositories
            if not row.node_id
        }
        self._coverage = Coverage(snapshot)
        self._linked = {
            (link.task_id, link.repository_id, link.pr_number)
            for link in snapshot.links
            if link.task_id in self.tasks
        }
        self._watched: set[tuple[str, int]] = set()
        self._searching: defaultdict[str, list[Watch]] = defaultdict(list)
        for watch in snapshot.watches:
            if watch.task_id in self.tasks and watch.is_searching:
                self._searching[watch.branch].append(watch)
            elif watch.task_id in self.tasks:
                self._watched.add((watch.repository_id, watch.pr_number))
        self._known: defaultdict[tuple[str, int], list[TaskPullRequest]] = defaultdict(
            list
        )
        for row in snapshot.task_pull_requests:
            if self._is_followed(row):
                self._known[row.repository_id, row.pr_number].append(row)
        self._taken = {key[1:] for key in self._linked} | self._watched
        self._taken_ids = {
            task.external_id.lower()
            for task in self.tasks.values()
            if task.origin is not Origin.ADOPTED
        }

    def find_repository_id(self, probe: Probe) -> str:
        """Find a probe's repository: by node id, by name while that is unknown."""
        named = self._by_name.get(probe.repository.name_with_owner.lower(), "")
        return self._by_node_id.get(probe.repository.node_id, named)

    def is_elsewhere(self, repository_watch: RepositoryWatch, probe: Probe) -> bool:
        """Return whether a probe is of another repository that took over the name."""
        known = self._node_ids.get(repository_watch.repository_id, "")
        shown = probe.repository.node_id
        return bool(known and shown) and known != shown

    def find_unwatched(
        self, repository_id: str, probe: Probe
    ) -> TaskPullRequest | None:
        """Find what an adopted or linked task knows of a pull request it lost."""
        key = (repository_id, probe.number)
        if key in self._watched:
            return None
        rows = (row for row in self._known[key] if row.detached_at is None)
        return min(rows, key=lambda row: row.task_id, default=None)

    def is_taken(self, repository_id: str, probe: Probe) -> bool:
        """Return whether a live task has to do with the pull request already."""
        key = (repository_id, probe.number)
        return (
            key in self._taken
            or bool(self._known[key])
            or _external_id(probe).lower() in self._taken_ids
            or any(
                self._is_searched(watch, repository_id, probe)
                for watch in self._searching[probe.head_ref_name]
            )
        )

    def _is_followed(self, row: TaskPullRequest) -> bool:
        task = self.tasks.get(row.task_id)
        key = (row.task_id, row.repository_id, row.pr_number)
        return (
            task is not None
            and not row.is_past
            and (task.origin is Origin.ADOPTED or key in self._linked)
        )

    def _is_searched(self, watch: Watch, repository_id: str, probe: Probe) -> bool:
        if not self._coverage.is_related(
            watch.repository_id, watch.head_repository, repository_id
        ):
            return False
        head = self._coverage.find_head(watch.repository_id, watch.head_repository)
        if head and head.node_id:
            return probe.head_repository_id == head.node_id
        # Which fork that is will be known once the branch was asked; until then a
        # pull request from any fork may be the one that is searched for.
        is_fork = probe.head_repository_id != probe.repository.node_id
        return is_fork == bool(watch.head_repository)
