"""The walk over searching watches: one batched look-up, then associations."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from prwatch.app.guard.admission import (
    admit,
    ask_for,
    name_found,
    note_found,
    note_missing,
)
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.reading import Watched, mark_asked, note_good, read_details
from prwatch.app.walk.repository_rows import put_facts, put_repository
from prwatch.app.walk.turns import find_turn, take_turns
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.association import FoundPullRequest, choose_pull_requests
from prwatch.domain.ids import build_id
from prwatch.domain.observing import Arrival, Standing
from prwatch.domain.outcome import Found, Outcome
from prwatch.domain.price import BRANCHES_A_REQUEST
from prwatch.domain.pull_request import RepositoryName
from prwatch.domain.reference import (
    BranchAnswer,
    BranchReference,
    PullRequestReference,
)
from prwatch.domain.task import Repository, TaskPullRequest
from prwatch.domain.watch import Watch
from prwatch.store import watches
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True)
class _Search:
    """A searching watch and the places that are asked for its branch, base first."""

    view: WorkspaceView
    watch: Watch
    places: tuple[BranchReference, ...]


async def walk_searching(run: AccountRun) -> None:
    """
    Look all branches up whose turn it is, and associate what is found.

    Equal branches are asked once, whoever searches for them. What one answer shows
    is committed before the next request is asked.
    """
    now = run.cycle.now()
    searches: list[_Search] = []
    for view in run.views:
        for watch in take_turns(run.cycle, view, view.searching):
            mark_asked(run, watch, now)
            searches.append(_Search(view, watch, _list_places(view, watch)))
    if searches and run.reader.has_probes and not run.cycle.is_forced:
        searches.extend(_fill_places(run, searches))
    references = list(dict.fromkeys(place for s in searches for place in s.places))
    if not references:
        return
    run.cycle.report.references.add(*references)
    answered: dict[BranchReference, Outcome[BranchAnswer]] = {}
    async for answers in run.reader.iter_branches(references):
        run.progress()
        run.cycle.report.lookups += 1
        answered.update(answers)
        ready: list[_Search] = []
        waiting: list[_Search] = []
        for search in searches:
            is_ready = all(place in answered for place in search.places)
            (ready if is_ready else waiting).append(search)
        searches = waiting
        await _conclude(run, ready, answered)


def _fill_places(run: AccountRun, due: list[_Search]) -> list[_Search]:
    """Let those that are due next have the places that are paid for anyway."""
    now = run.cycle.now()
    asked = {search.watch.id for search in due}
    taken = {place for search in due for place in search.places}
    free = -len(taken) % BRANCHES_A_REQUEST
    waiting = [
        (due_at, watch.id, _Search(view, watch, _list_places(view, watch)))
        for view in run.views
        for watch in view.searching
        if watch.id not in asked
        and (due_at := find_turn(run.cycle, view, watch, now=now)) is not None
    ]
    filling: list[_Search] = []
    for _, _, search in sorted(waiting, key=lambda each: each[:2]):
        new = set(search.places) - taken
        if len(new) > free:
            break
        free -= len(new)
        taken |= new
        mark_asked(run, search.watch, now)
        filling.append(search)
    return filling


def _list_places(view: WorkspaceView, watch: Watch) -> tuple[BranchReference, ...]:
    """
    List where pull requests of a watch's branch may stand.

    That is its base, the fork that holds the branch, and the parent of a base that
    is a fork itself.
    """
    repository = view.repositories[watch.repository_id]
    names = [repository.name_with_owner]
    if watch.head_repository:
        names.append(watch.head_repository)
    if repository.parent_name_with_owner:
        names.append(repository.parent_name_with_owner)
    places = (name.split("/", 1) for name in names)
    return tuple(
        dict.fromkeys(
            BranchReference(
                owner=owner,
                name=name,
                branch=watch.branch,
                head_owner=(watch.head_repository or names[0]).partition("/")[0],
            )
            for owner, name in places
        )
    )


async def _conclude(
    run: AccountRun,
    ready: list[_Search],
    answered: Mapping[BranchReference, Outcome[BranchAnswer]],
) -> None:
    waiting: defaultdict[PullRequestReference, list[Watched]] = defaultdict(list)
    for search in ready:
        outcomes = [answered[place] for place in search.places]
        answers = [
            outcome.value if isinstance(outcome, Found) else None
            for outcome in outcomes
        ]
        _report_missing(run, search, outcomes)
        if all(answers):
            note_good(run, search.watch)
        for place, answer in zip(search.places, answers, strict=True):
            if answer is not None:
                asked = f"{place.owner}/{place.name}"
                await put_facts(run.cycle, search.view, asked, answer.repository)
        found = choose_pull_requests(
            search.watch,
            answers,
            head_repository_id=_find_head_id(search),
            task_pull_requests=search.view.list_task_pull_requests(
                search.watch.task_id
            ),
        )
        if not found:
            await _note_sign_of_life(run, search, answers)
        for index, one in enumerate(found):
            record = name_found(search.watch.id, one.pull_request.node_id)
            owner = one.repository.repository.owner
            # The first has the row, and the circuit, of the search itself.
            if index == 0 or admit(run.cycle, search.view, record, owner):
                reference, watched = await _await_reading(run, search, one, index)
                own = watched if index == 0 else replace(watched, record=record)
                waiting[reference].append(own)
    if waiting:
        await read_details(run, waiting)


def _find_head_id(search: _Search) -> str:
    """Return the node id of the branch's repository, '' while it is not known."""
    view, watch = search.view, search.watch
    repository: Repository | None = view.repositories[watch.repository_id]
    if watch.head_repository:
        owner, _, name = watch.head_repository.partition("/")
        repository = view.find_repository(RepositoryName(owner, name))
    return repository.node_id if repository else ""


def _report_missing(
    run: AccountRun, search: _Search, outcomes: list[Outcome[BranchAnswer]]
) -> None:
    """Report what was not found. One place that answered keeps the search going."""
    is_answered = any(isinstance(outcome, Found) for outcome in outcomes)
    for place, outcome in zip(search.places, outcomes, strict=True):
        name = f"{place.owner}/{place.name}@{place.branch}"
        asked = ask_for(run.cycle, search.view, search.watch, name)
        if isinstance(outcome, Found):
            note_found(run.cycle, [asked])
        else:
            note_missing(run.cycle, asked, outcome, is_reported_only=is_answered)


async def _await_reading(
    run: AccountRun, search: _Search, found: FoundPullRequest, index: int
) -> tuple[PullRequestReference, Watched]:
    """
    Prepare the association of a found pull request.

    The first takes the searching row with it; several open pull requests with one
    head each get a row of their own.
    """
    view, watch = search.view, search.watch
    repository = await put_repository(run.cycle, view, found.repository.repository)
    number = found.pull_request.number
    arrival = Arrival.DISCOVERED
    if index > 0:
        arrival = Arrival.ADDED
        watch = replace(
            watch,
            id=build_id(run.cycle.now(), run.cycle.chance),
            repository_id=repository.id,
            revision=0,
            searching_since=None,
            branch_head_oid="",
        )
    stored = _find_stored(view, watch.task_id, repository.id, number)
    standing = Standing(
        search_in=search.watch.repository_id if index == 0 else "",
        base_id=repository.id,
        stored=stored,
        arrival=arrival,
        takes_over=view.adopted.find(repository.id, number),
    )
    reference = PullRequestReference(
        owner=repository.owner,
        name=repository.name,
        number=number,
        node_id=found.pull_request.node_id,
    )
    return reference, Watched(view=view, watch=watch, standing=standing)


def _find_stored(
    view: WorkspaceView, task_id: str, repository_id: str, number: int
) -> TaskPullRequest | None:
    for row in view.list_task_pull_requests(task_id):
        if (row.repository_id, row.pr_number) == (repository_id, number):
            return row
    return None


async def _note_sign_of_life(
    run: AccountRun, search: _Search, answers: list[BranchAnswer | None]
) -> None:
    """
    Remember the branch's head; that it moved is a sign that somebody works.

    Only the repository that holds the branch is looked at: another place that was
    asked may have a branch of that name too.
    """
    watch = search.watch
    head_id = _find_head_id(search)
    head = ""
    for answer in filter(None, answers):
        shown = answer.repository.repository
        name = shown.name_with_owner.lower()
        is_named = not head_id and name == watch.head_repository.lower()
        if is_named or (head_id and shown.node_id == head_id):
            head = answer.head_ref_oid
    if not head or head == watch.branch_head_oid:
        return
    now = run.cycle.now()
    sign_at = now if watch.branch_head_oid else watch.last_sign_at

    async def write(tx: Transaction) -> None:
        await watches.touch_searching(
            tx,
            watch,
            branch_head_oid=head,
            last_sign_at=sign_at,
            searching_since=watch.searching_since,
        )

    await run.cycle.database.transact(write)
