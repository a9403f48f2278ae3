"""Decide when adopted tasks give way to tasks that somebody named."""

from collections import defaultdict
from dataclasses import dataclass

from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Origin, Task
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """
    An adopted task that gives its pull request to a task that somebody named.

    `source` is the adopted task's watch, whose watermark passes to `destination`;
    then the adopted task is archived.
    """

    task: Task
    source: Watch
    destination: Watch

    def __str__(self) -> str:
        return (
            f"hand #{self.source.pr_number} of {self.task.external_id} "
            f"over to {self.destination.id}"
        )


def plan_handovers(snapshot: Snapshot) -> tuple[Handover, ...]:
    """
    Plan which adopted tasks give way to tasks that somebody named.

    An adopted task gives way when another live task that was not adopted watches the
    same pull request.
    """
    tasks = _list_active(snapshot)
    by_pull_request: defaultdict[tuple[str, int], list[Watch]] = defaultdict(list)
    for watch in sorted(snapshot.watches, key=lambda watch: watch.id):
        if watch.task_id in tasks and not watch.is_searching:
            by_pull_request[watch.repository_id, watch.pr_number].append(watch)
    handovers: list[Handover] = []
    for _, watches in sorted(by_pull_request.items()):
        named = [watch for watch in watches if not _is_adopted(tasks, watch)]
        handovers.extend(
            Handover(task=tasks[watch.task_id], source=watch, destination=named[0])
            for watch in watches
            if named and _is_adopted(tasks, watch)
        )
    return tuple(handovers)


class AdoptedWatches:
    """The watches of adopted tasks, which a named task's watch would take over."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._index: dict[tuple[str, int], Watch] | None = None

    def find(self, repository_id: str, pr_number: int) -> Watch | None:
        """Find that of a pull request, of several the first by its id."""
        if self._index is None:
            # Few cycles ask, and those that do may ask for each of thousands.
            self._index = _index_adopted(self._snapshot)
        return self._index.get((repository_id, pr_number))


def _index_adopted(snapshot: Snapshot) -> dict[tuple[str, int], Watch]:
    tasks = _list_active(snapshot)
    adopted = [
        watch
        for watch in snapshot.watches
        if watch.task_id in tasks and _is_adopted(tasks, watch)
    ]
    adopted.sort(key=lambda watch: watch.id, reverse=True)
    return {(watch.repository_id, watch.pr_number): watch for watch in adopted}


def _list_active(snapshot: Snapshot) -> dict[str, Task]:
    return {task.id: task for task in snapshot.tasks if task.archived_at is None}


def _is_adopted(tasks: dict[str, Task], watch: Watch) -> bool:
    return tasks[watch.task_id].origin is Origin.ADOPTED
