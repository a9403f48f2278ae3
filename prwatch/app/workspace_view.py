"""One workspace's stored rows, indexed for a cycle. A cache: commits check the rows."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from prwatch.domain.coverage import Coverage
from prwatch.domain.handover import AdoptedWatches
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.targets import LiveReading, ReadingKey, Target, Targets
from prwatch.domain.task import Origin, Repository, Task, TaskPullRequest
from prwatch.domain.watch import Watch

T = TypeVar("T")


class WorkspaceView:
    """The snapshot of one workspace with the look-ups that polling needs."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.workspace = snapshot.workspace
        self.repositories = {row.id: row for row in snapshot.repositories}
        self.tasks: dict[str, Task] = {row.id: row for row in snapshot.tasks}
        self.searching = tuple(row for row in snapshot.watches if row.is_searching)
        self.discovered = tuple(row for row in snapshot.watches if not row.is_searching)
        self.targets = Targets()
        self.planned_for: Mapping[ReadingKey, LiveReading] | None = None
        """The worktree readings that the watches were last reconciled with."""
        self.is_counted = False
        """Whether a cycle has ended with these rows, and forgot all others."""
        self._by_name = {
            row.name_with_owner.lower(): row for row in snapshot.repositories
        }
        self._by_node_id = {
            row.node_id: row for row in snapshot.repositories if row.node_id
        }
        self._task_pull_requests = {
            (row.task_id, row.repository_id, row.pr_number): row
            for row in snapshot.task_pull_requests
        }
        self._linked = {
            (row.task_id, row.repository_id, row.pr_number) for row in snapshot.links
        }
        self._sessions = {row.id: row.external_id for row in snapshot.sessions}
        self._session_starts: dict[str, dt.datetime] = {}
        for session in snapshot.sessions:
            last = self._session_starts.get(session.task_id, session.started_at)
            self._session_starts[session.task_id] = max(last, session.started_at)
        self._coverage = Coverage(snapshot)
        self.adopted = AdoptedWatches(snapshot)
        self._siblings: Mapping[str, list[Watch]] | None = None
        self._associated: Mapping[str, list[TaskPullRequest]] | None = None
        self._wanted: tuple[Targets, Mapping[str, list[Target]]] | None = None
        self._first_watches: dict[str, Watch] = {}
        self._other_watches: dict[str, tuple[Watch, ...]] = {}
        """By node id, of the few pull requests that several tasks watch."""
        for watch in self.discovered:
            node_id = watch.node_id
            if node_id and self._first_watches.setdefault(node_id, watch) is not watch:
                others = self._other_watches.get(node_id, ())
                self._other_watches[node_id] = (*others, watch)

    def find_repository(self, shown: RepositoryName) -> Repository | None:
        """Find a repository by GitHub's identity, else by name in whatever case."""
        found = self._by_node_id.get(shown.node_id) if shown.node_id else None
        return found or self._by_name.get(shown.name_with_owner.lower())

    def learn_repository(self, repository: Repository) -> None:
        """Let the rest of the cycle know a repository's row as it was written now."""
        self.repositories[repository.id] = repository
        self._by_name[repository.name_with_owner.lower()] = repository
        if repository.node_id:
            self._by_node_id[repository.node_id] = repository

    @property
    def host(self) -> str:
        """Return the host of the workspace's repositories, github.com without any."""
        return next((row.host for row in self.snapshot.repositories), "github.com")

    def list_watches(self, node_id: str) -> tuple[Watch, ...]:
        """List the discovered watches of a pull request."""
        first = self._first_watches.get(node_id)
        if first is None:
            return ()
        return (first, *self._other_watches.get(node_id, ()))

    def find_task_pull_request(self, watch: Watch) -> TaskPullRequest | None:
        """Find the association that a discovered watch keeps."""
        key = (watch.task_id, watch.repository_id, watch.pr_number)
        return self._task_pull_requests.get(key)

    def list_task_pull_requests(self, task_id: str) -> tuple[TaskPullRequest, ...]:
        """List all associations of a task."""
        if self._associated is None:
            rows = self._task_pull_requests.values()
            self._associated = _group(rows, lambda row: row.task_id)
        return tuple(self._associated.get(task_id, ()))

    def origin(self, task_id: str) -> Origin:
        """Return who made a task; that of a task that is gone is a command's."""
        task = self.tasks.get(task_id)
        return task.origin if task else Origin.COMMAND

    def external_id(self, task_id: str) -> str:
        """Return the task's name as its owner gives it."""
        task = self.tasks.get(task_id)
        return task.external_id if task else task_id

    def session_external_id(self, session_id: str) -> str:
        """Return the session's name as its owner gives it, or ''."""
        return self._sessions.get(session_id, "")

    def last_session_start(self, watch: Watch) -> dt.datetime:
        """Return when somebody last started to work on a searching watch's task."""
        return self._session_starts.get(watch.task_id, watch.created_at)

    def is_adopted(self, watch: Watch) -> bool:
        """Return whether the task is there for this pull request, named by nobody."""
        place = (watch.task_id, watch.repository_id, watch.pr_number)
        origin = self.origin(watch.task_id)
        return origin is Origin.ADOPTED and place not in self._linked

    def find_search_place(self, watch: Watch) -> tuple[str, tuple[str, ...]]:
        """
        Find where a watch searches on when its pull request ends, and who covers it.

        That is the repository in which somebody works on its branch; '' is nowhere.
        In a held place nobody can say, so it stays. The ids are those of the other
        open watches that stand for that branch.
        """
        if not watch.branch:
            return "", ()
        if (watch.task_id, watch.repository_id) in self.targets.held:
            return watch.repository_id, ()
        target = self._coverage.find_target(watch, self._list_targets(watch.task_id))
        if target is None:
            return "", ()
        covering = tuple(
            other.id
            for other in self._list_discovered(watch.task_id)
            if other.id != watch.id
            and (other.watermark is None or other.watermark.state is _OPEN)
            and self._coverage.stands_for(other, target)
        )
        return target.repository_id, covering

    def _list_discovered(self, task_id: str) -> Iterable[Watch]:
        if self._siblings is None:
            self._siblings = _group(self.discovered, lambda row: row.task_id)
        return self._siblings.get(task_id, ())

    def _list_targets(self, task_id: str) -> Iterable[Target]:
        if self._wanted is None or self._wanted[0] is not self.targets:
            groups = _group(self.targets.targets, lambda row: row.task_id)
            self._wanted = self.targets, groups
        return self._wanted[1].get(task_id, ())


def _group(rows: Iterable[T], key: Callable[[T], str]) -> Mapping[str, list[T]]:
    """Group rows: thousands may be looked up, each among all of them."""
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


_OPEN = PullRequestState.OPEN
