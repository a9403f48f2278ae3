"""Counting what an account watches, by how active it is."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable

from prwatch.app.walk.poll_memory import PollMemory
from prwatch.app.walk.turns import can_rest, is_awaited, sleeps
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.load import Load
from prwatch.domain.pull_request import ChecksState
from prwatch.domain.reconcile import list_finished_links
from prwatch.domain.schedule import (
    Activity,
    Intervals,
    ReferenceKind,
    Turn,
    is_resting,
    judge_age,
)
from prwatch.domain.task import Origin
from prwatch.domain.watch import Watch


def count_load(
    memory: PollMemory,
    views: Iterable[WorkspaceView],
    *,
    now: dt.datetime,
    intervals: Intervals,
) -> Load:
    """Return what is asked about for these workspaces, each reference once."""
    tally = _Tally(memory, now, intervals)
    for view in views:
        for watch in view.discovered:
            tally.add_pull_request(view, watch)
        for watch in view.searching:
            tally.add_branch(view, watch)
        tally.add_lists(view)
        tally.add_finished(view)
    return tally.build()


class _Tally:
    def __init__(
        self, memory: PollMemory, now: dt.datetime, intervals: Intervals
    ) -> None:
        self._memory = memory
        self._now = now
        self._intervals = intervals
        self._pull_requests: Counter[Activity] = Counter()
        self._branches: Counter[Activity] = Counter()
        self._lists: dict[str, int] = {}
        self._searches: dict[str, int] = {}
        self._archived = 0
        self._finished: set[str] = set()
        self._seen: set[object] = set()

    def add_pull_request(self, view: WorkspaceView, watch: Watch) -> None:
        """Count a discovered watch, unless its pull request was counted already."""
        key = watch.node_id or (watch.repository_id, watch.pr_number)
        if key in self._seen:
            return
        self._seen.add(key)
        if sleeps(view, watch):
            self._archived += 1
            return
        memory = self._memory.get(watch.id, now=self._now)
        is_busy = memory.is_busy if memory.asked_at else _seems_busy(watch)
        is_busy = is_busy or is_awaited(memory, self._now)
        if is_busy or memory.due_at is not None:
            self._pull_requests[Activity.HOT] += 1
        else:
            self._pull_requests[judge_age(self._now - watch.moved_at)] += 1

    def add_branch(self, view: WorkspaceView, watch: Watch) -> None:
        """Count the places where a branch is looked up."""
        repository = view.repositories[watch.repository_id]
        sign_at = max(watch.last_sign_at, view.last_session_start(watch))
        turn = Turn(
            kind=ReferenceKind.SEARCHING,
            last_sign_at=sign_at,
            can_rest=can_rest(view, watch),
        )
        if repository.is_archived or is_resting(
            turn, now=self._now, intervals=self._intervals
        ):
            return
        names = {
            repository.name_with_owner.lower(),
            watch.head_repository.lower(),
            repository.parent_name_with_owner.lower(),
        }
        for name in names - {""}:
            key = (name, watch.branch, watch.head_repository.lower())
            if key not in self._seen:
                self._seen.add(key)
                self._branches[judge_age(self._now - sign_at)] += 1

    def add_lists(self, view: WorkspaceView) -> None:
        """Count the lists, and the watched pull requests that each shows."""
        watched = Counter(
            watch.repository_id for watch in view.discovered if not sleeps(view, watch)
        )
        for row in view.snapshot.repository_watches:
            if row.repository_id:
                name = view.repositories[row.repository_id].name_with_owner.lower()
                known = self._lists.get(name, 0)
                self._lists[name] = max(known, watched[row.repository_id])
            else:
                key = f"{view.workspace.id}/{row.author}"
                self._searches[key] = _count_own(view)

    def add_finished(self, view: WorkspaceView) -> None:
        """Count the closed pull requests that may be opened again."""
        for row in list_finished_links(view.snapshot):
            turn = Turn(
                kind=ReferenceKind.FINISHED, closed_at=row.observation.closed_at
            )
            if not is_resting(turn, now=self._now, intervals=self._intervals):
                self._finished.add(row.observation.node_id)

    def build(self) -> Load:
        """Return the counts."""
        return Load(
            pull_requests=dict(self._pull_requests),
            branches=dict(self._branches),
            archived=self._archived,
            finished=len(self._finished),
            lists=tuple(self._lists.values()),
            searches=tuple(self._searches.values()),
        )


def _seems_busy(watch: Watch) -> bool:
    """Return what the store says while this process has not asked yet."""
    mark = watch.watermark
    return mark is not None and (
        mark.checks is ChecksState.PENDING or mark.merge_queue is True
    )


def _count_own(view: WorkspaceView) -> int:
    """Return how many pull requests a search has brought: those of no list."""
    listed = {row.repository_id for row in view.snapshot.repository_watches}
    return sum(
        watch.repository_id not in listed
        and view.origin(watch.task_id) is Origin.ADOPTED
        for watch in view.discovered
    )
