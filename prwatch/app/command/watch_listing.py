"""What a person is shown of watches: each with its task, its state and its age."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
    NamedWatch,
    Reference,
)
from prwatch.app.command.watch_row import AdoptionRow, WatchList, WatchRow
from prwatch.app.command.workbench import Workbench
from prwatch.app.refused_fields import read_refused
from prwatch.app.walk.turns import can_rest
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.capability import RefusedField, find_unreadable
from prwatch.domain.phrase import Known, recall
from prwatch.domain.schedule import Intervals, ReferenceKind, Turn, is_resting
from prwatch.domain.task import RepositoryWatch, TaskPullRequest, Workspace
from prwatch.domain.watch import Watch
from prwatch.errors import WatchNotFound


async def list_watches(
    bench: Workbench, *, workspace: str = "", is_all: bool = False
) -> WatchList:
    """
    Return what is watched; with `is_all` also what is finished, detached, archived.

    Raises:
        NotFound: There is no such workspace.
    """
    watches: list[WatchRow] = []
    adoptions: list[AdoptionRow] = []
    for one in await bench.list_workspaces(workspace):
        desk = await open_desk(bench, one)
        watches.extend(desk.iter_watches())
        if is_all:
            watches.extend(desk.iter_unwatched())
        adoptions.extend(desk.iter_adoptions())
    return WatchList(
        watches=tuple(sorted(watches, key=_order)),
        adoptions=tuple(
            sorted(adoptions, key=lambda a: (a.workspace, a.repository, a.author))
        ),
    )


async def find_watches(
    bench: Workbench, reference: Reference, *, workspace: str = ""
) -> tuple[WatchRow, ...]:
    """
    Return the rows that a reference means: those watched, else those once watched.

    Raises:
        WatchNotFound: It means none, or its beginning of an id means several.
    """
    listed = await list_watches(bench, workspace=workspace, is_all=True)
    rows = tuple(row for row in listed.watches if is_meant(row, reference))
    watched = tuple(row for row in rows if row.id)
    if isinstance(reference, NamedWatch) and len(watched) > 1:
        raise WatchNotFound(
            f"{len(watched)} watches have an id that begins with {reference}",
            hint="write more of it; `prwatch watch list --json` prints whole ids",
        )
    if not rows:
        raise WatchNotFound(
            f"{reference} is not watched", hint="`prwatch watch add` watches it"
        )
    return watched or rows


def is_meant(row: WatchRow, reference: Reference) -> bool:
    """Return whether a reference names a row. GitHub ignores case in names."""
    if isinstance(reference, NamedWatch):
        return row.id != "" and row.id.startswith(reference.id)
    place = f"{reference.owner}/{reference.name}".lower()
    if row.repository.lower() != place:
        return False
    match reference:
        case NamedPullRequest(number=number):
            return row.number == number
        case NamedBranch(branch=branch, head_repository=head):
            known = row.branch or row.read("head_ref_name")
            return known == branch and head.lower() in ("", row.head_repository.lower())
        case NamedRepository():
            return True


async def open_desk(bench: Workbench, workspace: Workspace) -> "Desk":
    """Read a workspace, archived tasks too, ready to be listed."""
    view = WorkspaceView(await bench.load_snapshot(workspace))
    return Desk(
        view,
        bench.surroundings.clock.now(),
        bench.config.poll.search_for,
        refused=await read_refused(bench.database, workspace),
    )


class Desk:
    """The rows of one workspace, told in words."""

    def __init__(
        self,
        view: WorkspaceView,
        now: dt.datetime,
        search_for: dt.timedelta,
        *,
        refused: Sequence[RefusedField] = (),
    ) -> None:
        self.view = view
        self._refused = refused
        self._unreadable: dict[str, Mapping[str, str]] = {}
        self._now = now
        self._intervals = Intervals(search_for=search_for)
        self._open = Counter(
            (row.task_id, row.branch)
            for row in view.discovered
            if row.branch and (row.watermark is None or row.watermark.state == "OPEN")
        )

    def list_all(self) -> list[WatchRow]:
        """List what is watched and what once was, by repository, number, branch."""
        return sorted([*self.iter_watches(), *self.iter_unwatched()], key=_order)

    def iter_watches(self) -> Iterator[WatchRow]:
        """Yield every watch."""
        for watch in self.view.snapshot.watches:
            known = self.view.find_task_pull_request(watch)
            task = self.view.tasks[watch.task_id]
            yield WatchRow(
                id=watch.id,
                workspace=self.view.workspace.name,
                task=task.external_id,
                origin=task.origin,
                is_archived=task.archived_at is not None,
                repository=self._name(watch.repository_id),
                repository_id=watch.repository_id,
                number=watch.pr_number,
                branch=watch.branch,
                head_repository=watch.head_repository,
                state=self._tell_state(watch),
                known=self._recall(known, watch),
                companions=self._list_companions(watch),
                revision=watch.revision,
                observed_at=watch.watermark.observed_at if watch.watermark else None,
                last_sign_at=self._last_sign(watch) if watch.is_searching else None,
            )

    def iter_unwatched(self) -> Iterator[WatchRow]:
        """Yield the pull requests that tasks know and watch no longer."""
        watched = {
            (watch.task_id, watch.repository_id, watch.pr_number)
            for watch in self.view.discovered
        }
        for known in self.view.snapshot.task_pull_requests:
            key = (known.task_id, known.repository_id, known.pr_number)
            if key in watched:
                continue
            task = self.view.tasks[known.task_id]
            is_detached = known.detached_at is not None
            yield WatchRow(
                id="",
                workspace=self.view.workspace.name,
                task=task.external_id,
                origin=task.origin,
                is_archived=task.archived_at is not None,
                repository=self._name(known.repository_id),
                repository_id=known.repository_id,
                number=known.pr_number,
                branch=known.observation.head_ref_name,
                head_repository="",
                state="detached" if is_detached else known.observation.state.value,
                known=self._recall(known),
                observed_at=known.observed_at,
            )

    def iter_adoptions(self) -> Iterator[AdoptionRow]:
        """Yield every standing adoption."""
        for row in self.view.snapshot.repository_watches:
            yield self.describe_adoption(row)

    def describe_adoption(self, row: RepositoryWatch) -> AdoptionRow:
        """Tell one standing adoption."""
        return AdoptionRow(
            workspace=self.view.workspace.name,
            repository=self._name(row.repository_id) if row.repository_id else "",
            author=row.author,
            origin=row.origin,
        )

    def _recall(
        self, stored: TaskPullRequest | None, watch: Watch | None = None
    ) -> Known | None:
        if stored is None:
            return None
        watermark = watch.watermark if watch else None
        return recall(
            stored,
            now=self._now,
            since=watermark.checks_since if watermark else None,
            unreadable=self._find_unreadable(stored.repository_id),
        )

    def _find_unreadable(self, repository_id: str) -> Mapping[str, str]:
        found = self._unreadable.get(repository_id)
        if found is None:
            found = find_unreadable(self._refused, self._name(repository_id))
            self._unreadable[repository_id] = found
        return found

    def _name(self, repository_id: str) -> str:
        row = self.view.repositories.get(repository_id)
        return row.name_with_owner if row else repository_id

    def _tell_state(self, watch: Watch) -> str:
        if not watch.is_searching:
            return watch.watermark.state.value if watch.watermark else "unread"
        turn = Turn(
            kind=ReferenceKind.SEARCHING,
            last_sign_at=self._last_sign(watch),
            can_rest=can_rest(self.view, watch),
        )
        is_asleep = is_resting(turn, now=self._now, intervals=self._intervals)
        return "resting" if is_asleep else "searching"

    def _last_sign(self, watch: Watch) -> dt.datetime:
        return max(watch.last_sign_at, self.view.last_session_start(watch))

    def _list_companions(self, watch: Watch) -> tuple[int, ...]:
        if watch.is_searching or self._open[watch.task_id, watch.branch] < 2:
            return ()
        return tuple(
            sorted(
                other.pr_number
                for other in self.view.discovered
                if (other.task_id, other.branch) == (watch.task_id, watch.branch)
                and other.id != watch.id
            )
        )


def _order(row: WatchRow) -> tuple[str, str, int, str, str]:
    return (
        row.workspace,
        row.repository.lower(),
        row.number,
        row.branch,
        row.task,
    )
