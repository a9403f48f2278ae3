"""Find a stored repository by the name that somebody wrote, also after a rename."""

import re
from collections import defaultdict
from collections.abc import Iterator

from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Repository

_NAMED = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)[@#]", re.ASCII)


class RepositoryNames:
    """
    The repositories of a workspace by present and by former names.

    Former names come from the external ids of tasks: `octo/hello@fix` was named when
    its repository was called so, and keeps its id after a rename. A name that points
    at two repositories in this way points at none. GitHub ignores case in names.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_id = {row.id: row for row in snapshot.repositories}
        self._present = {
            row.name_with_owner.lower(): row for row in snapshot.repositories
        }
        former: defaultdict[str, set[str]] = defaultdict(set)
        for external_id, repository_id in _list_evidence(snapshot):
            named = _NAMED.match(external_id)
            if named:
                former[named["name"].lower()].add(repository_id)
        self._former = {
            name: next(iter(ids)) for name, ids in former.items() if len(ids) == 1
        }

    def find(self, owner: str, name: str) -> Repository | None:
        """Find the row that a name means: the present name wins."""
        key = f"{owner}/{name}".lower()
        return self._present.get(key) or self._by_id.get(self._former.get(key, ""))

    def spell(self, owner: str, name: str) -> RepositoryName:
        """Return the name as the store spells it, or as it was written."""
        row = self.find(owner, name)
        return (
            RepositoryName(row.owner, row.name) if row else RepositoryName(owner, name)
        )


def _list_evidence(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    external_ids = {task.id: task.external_id for task in snapshot.tasks}
    places = [
        *((row.task_id, row.repository_id) for row in snapshot.task_repositories),
        *((row.task_id, row.repository_id) for row in snapshot.links),
        *((row.task_id, row.repository_id) for row in snapshot.task_pull_requests),
    ]
    for task_id, repository_id in places:
        if task_id in external_ids:
            yield external_ids[task_id], repository_id
