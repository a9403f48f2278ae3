"""Find the stored repository that a written name means, also after a rename."""

from collections.abc import Iterable, Iterator

from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import (
    Checkout,
    PullRequestLink,
    Repository,
    TaskRepository,
)


class RepositoryNames:
    """
    The repositories of a workspace by present names, and by what entries wrote.

    An entry that stands in a configuration follows the repository that it first
    resolved to: the rows that it made carry the name that it wrote, so a later owner
    of that name is not taken for it. Other tasks' rows say nothing about an entry,
    and those of an archived task belong to an entry that was gone. GitHub ignores
    case in names.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._by_id = {row.id: row for row in snapshot.repositories}
        # Names move: of several rows the one that GitHub has answered for comes
        # first, then the newest.
        in_order = sorted(
            snapshot.repositories, key=lambda row: (row.node_id != "", row.id)
        )
        self._present = {row.name_with_owner.lower(): row for row in in_order}
        self._written = {
            (task_id, written.lower()): repository_id
            for task_id, written, repository_id in _list_written(snapshot)
        }
        self._adopted = {
            (row.author, row.written_as.lower()): row.repository_id
            for row in snapshot.repository_watches
            if row.written_as
        }

    def find(self, owner: str, name: str, *, task_id: str = "") -> Repository | None:
        """
        Find the repository that a name means, in what an entry wrote for a task.

        Without a task, and where its rows do not know the name, the present name
        counts.
        """
        key = f"{owner}/{name}".lower()
        return self._get(self._written.get((task_id, key)), key)

    def find_adopted(self, owner: str, name: str, author: str) -> Repository | None:
        """Find the repository that an entry means whose pull requests are adopted."""
        key = f"{owner}/{name}".lower()
        return self._get(self._adopted.get((author, key)), key)

    def spell(self, repository_id: str) -> RepositoryName | None:
        """Return a stored repository as the store spells it, with its node id."""
        row = self._by_id.get(repository_id)
        return RepositoryName(row.owner, row.name, row.node_id) if row else None

    def _get(self, repository_id: str | None, key: str) -> Repository | None:
        return self._by_id.get(repository_id or "") or self._present.get(key)


def choose_written(stored: str, wanted: Iterable[str]) -> str:
    """
    Return the name that a row carries: the stored one while an entry still writes it.

    `wanted` are the names that the entry writes for that row, the first of which
    counts otherwise: both names of a renamed repository may stand in one entry.
    """
    names = tuple(wanted)
    is_written = stored.lower() in {name.lower() for name in names}
    return stored if is_written else next(iter(names), "")


def _list_written(snapshot: Snapshot) -> Iterator[tuple[str, str, str]]:
    active = {task.id for task in snapshot.tasks if task.archived_at is None}
    sessions = {session.id: session.task_id for session in snapshot.sessions}
    rows: list[tuple[str, TaskRepository | PullRequestLink | Checkout]] = [
        *((sessions.get(row.session_id, ""), row) for row in snapshot.checkouts),
        *((row.task_id, row) for row in snapshot.links),
        *((row.task_id, row) for row in snapshot.task_repositories),
    ]
    for task_id, row in rows:
        if row.written_as and task_id in active:
            yield task_id, row.written_as, row.repository_id
