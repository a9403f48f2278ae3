"""The walk over repository watches: list open pull requests, adopt the new ones."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from prwatch.app.guard.admission import (
    Asked,
    admit,
    name_found,
    name_list,
    note_found,
    note_missing,
)
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.finished_walk import build_memory_key
from prwatch.app.walk.probe_walk import Pairs, follow_probes
from prwatch.app.walk.reading import Watched, mark_asked, read_details
from prwatch.app.walk.repository_rows import put_facts, put_repository
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.adoption import Adoption, Reopening, plan_adoptions
from prwatch.domain.ids import build_id
from prwatch.domain.observing import Arrival, Standing
from prwatch.domain.outcome import Found
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import OpenPullRequests, Probe, PullRequestReference
from prwatch.domain.task import (
    Origin,
    PullRequestLink,
    Repository,
    RepositoryWatch,
    Task,
)
from prwatch.domain.watch import Watch
from prwatch.store import task_pull_requests, tasks
from prwatch.store.database import Transaction


@dataclass(slots=True)
class _Listing:
    """One repository's list and everybody who watches it."""

    repository: Repository
    watchers: list[tuple[WorkspaceView, RepositoryWatch]] = field(default_factory=list)

    def list_asked(self) -> list[Asked]:
        """Return what is asked, once for each watch of the list."""
        return [_ask_for(view, watch, self.repository) for view, watch in self.watchers]


@dataclass(frozen=True, slots=True)
class _Adopted:
    """A task that has the name of an adoption, and whether its work is merged."""

    task: Task
    is_merged: bool


async def walk_repository_watches(run: AccountRun, *, is_to_end: bool) -> set[str]:
    """
    Walk the lists of all repository watches page by page, and adopt what is new.

    Returns the node ids of the pull requests that were shown: they need no probe in
    this cycle.
    """
    listings: dict[str, _Listing] = {}
    seen: set[str] = set()
    for view in run.views:
        for watch in view.snapshot.repository_watches:
            if not watch.repository_id:
                seen |= await _adopt_own(run, view, watch)
                continue
            repository = view.repositories[watch.repository_id]
            if not admit(run.cycle, view, name_list(watch), repository.owner):
                continue
            key = repository.name_with_owner.lower()
            listing = listings.setdefault(key, _Listing(repository))
            listing.watchers.append((view, watch))
    for listing in listings.values():
        seen |= await _walk(run, listing, is_to_end=is_to_end)
    return seen


async def _walk(run: AccountRun, listing: _Listing, *, is_to_end: bool) -> set[str]:
    repository = listing.repository
    run.cycle.report.references.add(repository.name_with_owner.lower())
    seen: set[str] = set()

    def is_known(probe: Probe) -> bool:
        return any(
            watch.watermark is not None
            and watch.watermark.updated_at == probe.updated_at
            for view, _ in listing.watchers
            for watch in view.list_watches(probe.node_id)
        )

    pages = run.reader.iter_open_pull_requests(
        repository.owner, repository.name, is_known=None if is_to_end else is_known
    )
    async for outcome in pages:
        run.progress()
        if not isinstance(outcome, Found):
            for asked in listing.list_asked():
                note_missing(run.cycle, asked, outcome)
            break
        note_found(run.cycle, listing.list_asked())
        seen.update(probe.node_id for probe in outcome.value.probes)
        await _follow_page(run, listing, outcome.value)
    return seen


def _ask_for(
    view: WorkspaceView, watch: RepositoryWatch, repository: Repository
) -> Asked:
    return Asked(
        view=view,
        reference=repository.name_with_owner,
        record=name_list(watch),
        scope="repository",
    )


async def _follow_page(
    run: AccountRun, listing: _Listing, page: OpenPullRequests
) -> None:
    """Treat a page as probes of what is watched, and as finds of what is not."""
    views = {view.workspace.id: view for view, _ in listing.watchers}
    for view in views.values():
        await put_facts(
            run.cycle, view, listing.repository.name_with_owner, page.repository
        )
    await _follow_probes(run, page.probes)
    for view, repository_watch in listing.watchers:
        await _adopt(run, view, repository_watch, page.probes)


async def _follow_probes(run: AccountRun, probes: Iterable[Probe]) -> None:
    """Let the watches of listed pull requests follow what the list shows of them."""
    now = run.cycle.now()
    known: defaultdict[str, Pairs] = defaultdict(list)
    outcomes: dict[str, Found[Probe]] = {}
    for probe in probes:
        for view in run.views:
            for watch in view.list_watches(probe.node_id):
                if watch.watermark is not None:
                    mark_asked(run, watch, now)
                    known[probe.node_id].append((view, watch))
                    outcomes[probe.node_id] = Found(probe)
    await follow_probes(run, known, outcomes)


async def _adopt_own(
    run: AccountRun, view: WorkspaceView, watch: RepositoryWatch
) -> set[str]:
    """Adopt the login's own open pull requests, wherever they are."""
    viewer = run.account.viewer
    if viewer is None:
        return set()
    login = viewer.login if watch.author == "@me" else watch.author
    run.cycle.report.references.add(f"author:{login}")
    found = await run.reader.own_pull_requests(login)
    run.progress()
    await _follow_probes(run, found.probes)
    await _adopt(run, view, watch, found.probes)
    return {probe.node_id for probe in found.probes}


async def _adopt(
    run: AccountRun,
    view: WorkspaceView,
    repository_watch: RepositoryWatch,
    probes: Iterable[Probe],
) -> None:
    viewer = run.account.viewer
    unwatched = [p for p in probes if not view.list_watches(p.node_id)]
    if not unwatched:
        return
    plan = plan_adoptions(
        repository_watch,
        unwatched,
        view.snapshot,
        login=viewer.login if viewer else "",
    )
    if plan.is_empty:
        return
    existing = await _find_tasks(run, view, plan.adopts)
    waiting: dict[PullRequestReference, list[Watched]] = {}
    for adoption in plan.adopts:
        known = existing.get(adoption.external_id)
        if known is not None and (known.is_merged or known.task.archived_at is None):
            # Merged is final: such a list lags. Or another watch of the same list, or
            # an earlier page, has it already.
            continue
        record = name_found(name_list(repository_watch), adoption.probe.node_id)
        if admit(run.cycle, view, record, adoption.probe.repository.owner):
            watched = await _begin(run, view, adoption, known)
            waiting[_refer(adoption.probe)] = [replace(watched, record=record)]
    for reopening in plan.reopens:
        record = build_memory_key(reopening.known)
        if admit(run.cycle, view, record, reopening.probe.repository.owner):
            watched = _resume(run, view, reopening)
            waiting[_refer(reopening.probe)] = [replace(watched, record=record)]
    await read_details(run, waiting)


async def _find_tasks(
    run: AccountRun, view: WorkspaceView, adoptions: Iterable[Adoption]
) -> dict[str, _Adopted]:
    async def read(tx: Transaction) -> dict[str, _Adopted]:
        found = {}
        for adoption in adoptions:
            task = await tasks.find_task(tx, view.workspace.id, adoption.external_id)
            if task is not None:
                row = await task_pull_requests.find_task_pull_request(
                    tx, task.id, adoption.repository_id, adoption.probe.number
                )
                state = row.observation.state if row else None
                is_merged = state is PullRequestState.MERGED
                found[adoption.external_id] = _Adopted(task, is_merged=is_merged)
        return found

    return await run.cycle.database.read(read)


async def _begin(
    run: AccountRun,
    view: WorkspaceView,
    adoption: Adoption,
    known: _Adopted | None,
) -> Watched:
    now = run.cycle.now()
    probe = adoption.probe
    repository = view.repositories.get(adoption.repository_id)
    if repository is None:
        repository = await put_repository(run.cycle, view, probe.repository)
    task = (
        known.task
        if known
        else Task(
            id=build_id(now, run.cycle.chance),
            workspace_id=view.workspace.id,
            external_id=adoption.external_id,
            origin=Origin.ADOPTED,
            created_at=now,
        )
    )
    place = PullRequestLink(
        task_id=task.id, repository_id=repository.id, pr_number=probe.number
    )
    standing = Standing(
        is_adopted=True,
        arrival=Arrival.ADDED,
        new_task=task,
    )
    watch = _build_watch(run, view, place, probe)
    return Watched(view=view, watch=watch, standing=standing)


def _resume(run: AccountRun, view: WorkspaceView, reopening: Reopening) -> Watched:
    known = reopening.known
    place = PullRequestLink(
        task_id=known.task_id,
        repository_id=known.repository_id,
        pr_number=known.pr_number,
    )
    watch = _build_watch(run, view, place, reopening.probe)
    standing = Standing(
        is_adopted=reopening.task.origin is Origin.ADOPTED,
        stored=known,
        arrival=Arrival.ADDED,
    )
    return Watched(view=view, watch=watch, standing=standing)


def _build_watch(
    run: AccountRun, view: WorkspaceView, place: PullRequestLink, probe: Probe
) -> Watch:
    now = run.cycle.now()
    return Watch(
        id=build_id(now, run.cycle.chance),
        workspace_id=view.workspace.id,
        task_id=place.task_id,
        repository_id=place.repository_id,
        pr_number=place.pr_number,
        node_id=probe.node_id,
        last_sign_at=now,
        created_at=now,
    )


def _refer(probe: Probe) -> PullRequestReference:
    return PullRequestReference(
        owner=probe.repository.owner,
        name=probe.repository.name,
        number=probe.number,
        node_id=probe.node_id,
    )
