"""Decide which discovered watches stand for which targets, forks included."""

from collections.abc import Iterable

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.targets import Target
from prwatch.domain.task import Origin, Repository, TaskPullRequest
from prwatch.domain.watch import Watch


class Coverage:
    """
    The discovered watches of one workspace, ready to be matched with targets.

    A pull request belongs to its base repository, so the watch of a target's pull
    request may stand in another repository than the target: in the head's fork or
    in the parent of either.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_id = {row.id: row for row in snapshot.repositories}
        self._by_name = {
            row.name_with_owner.lower(): row for row in snapshot.repositories
        }
        self._by_node_id = {
            row.node_id: row for row in snapshot.repositories if row.node_id
        }
        self._task_pull_requests = {
            (row.task_id, row.repository_id, row.pr_number): row
            for row in snapshot.task_pull_requests
            if not row.is_past
        }
        # Most adopted tasks search for nothing, and they are many.
        idle = {row.id for row in snapshot.tasks if row.origin is Origin.ADOPTED}
        idle.difference_update(row.task_id for row in snapshot.task_repositories)
        idle.difference_update(row.task_id for row in snapshot.sessions)
        self._open: dict[str, tuple[Watch, ...]] = {}
        for watch in snapshot.watches:
            is_open = not watch.is_searching and _is_open(watch)
            if is_open and watch.task_id not in idle:
                others = self._open.get(watch.task_id, ())
                self._open[watch.task_id] = (*others, watch)

    def is_covered(self, target: Target) -> bool:
        """Return whether an open discovered watch stands for the target."""
        return any(
            self.stands_for(watch, target)
            for watch in self._open.get(target.task_id, ())
        )

    def find_target(self, watch: Watch, targets: Iterable[Target]) -> Target | None:
        """
        Find the target that a discovered watch stands for, the first by its key.

        Such a watch goes back to searching, in the target's repository, when its pull
        request is finished; without a target it goes.
        """
        matching = (target for target in targets if self.stands_for(watch, target))
        return min(matching, key=lambda target: target.key, default=None)

    def find_head(self, repository_id: str, head_repository: str) -> Repository | None:
        """Find the repository that holds a branch: the named fork, else the base."""
        if head_repository:
            return self._by_name.get(head_repository.lower())
        return self._by_id.get(repository_id)

    def is_related(self, repository_id: str, head_repository: str, other: str) -> bool:
        """Return whether pull requests of a branch may stand in repository `other`."""
        if repository_id == other:
            return True
        seeds = (
            self._by_id.get(repository_id),
            self._by_name.get(head_repository.lower()),
        )
        return any(
            row is not None and other in (row.id, self._find_parent_id(row))
            for row in seeds
        )

    def stands_for(self, watch: Watch, target: Target) -> bool:
        """
        Return whether a discovered watch is that of the target's branch.

        Either it was found for that branch and head, or its pull request is known to
        have them.
        """
        return (
            watch.task_id == target.task_id
            and self.is_related(
                target.repository_id, target.head_repository, watch.repository_id
            )
            and self._has_head(watch, target)
        )

    def _has_head(self, watch: Watch, target: Target) -> bool:
        if watch.branch == target.branch and (
            watch.head_repository.lower() == target.head_repository.lower()
        ):
            return True
        row = self._find_task_pull_request(watch)
        head = self.find_head(target.repository_id, target.head_repository)
        return (
            row is not None
            and head is not None
            and head.node_id != ""
            and row.observation.head_ref_name == target.branch
            and row.observation.head_repository_id == head.node_id
        )

    def _find_task_pull_request(self, watch: Watch) -> TaskPullRequest | None:
        key = (watch.task_id, watch.repository_id, watch.pr_number)
        return self._task_pull_requests.get(key)

    def _find_parent_id(self, row: Repository) -> str:
        parent = self._by_node_id.get(row.parent_node_id) or self._by_name.get(
            row.parent_name_with_owner.lower()
        )
        return parent.id if parent else ""


def _is_open(watch: Watch) -> bool:
    """A watch that was not read yet counts as open."""
    return watch.watermark is None or watch.watermark.state is PullRequestState.OPEN
