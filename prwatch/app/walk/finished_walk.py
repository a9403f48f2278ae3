"""The walk over closed pull requests that somebody named: they may be reopened."""

from collections.abc import Iterator

from prwatch.app.guard.admission import Asked, admit, note_found, note_missing
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.reading import Watched, name_reference, read_details
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.ids import build_id
from prwatch.domain.observing import Arrival, Standing
from prwatch.domain.outcome import Found
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reconcile import list_finished_links
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.schedule import ReferenceKind, Turn, is_resting, next_due
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.watch import Watch

Finished = tuple[WorkspaceView, TaskPullRequest]


async def walk_finished(run: AccountRun) -> None:
    """Probe the closed pull requests whose turn it is; take up those that are not."""
    waiting: dict[PullRequestReference, list[Finished]] = {}
    for view in run.views:
        for row in _take_turns(run, view):
            observation = row.observation
            reference = PullRequestReference(
                owner=observation.repository.owner,
                name=observation.repository.name,
                number=row.pr_number,
                node_id=observation.node_id,
            )
            waiting.setdefault(reference, []).append((view, row))
    if not waiting:
        return
    run.cycle.report.references.add_pull_requests(waiting)
    reopened: dict[PullRequestReference, list[Watched]] = {}
    async for answers in run.reader.iter_probe(list(waiting)):
        run.progress()
        for reference, outcome in answers.items():
            asked = [_ask_for(reference, *each) for each in waiting[reference]]
            if not isinstance(outcome, Found):
                for one in asked:
                    note_missing(run.cycle, one, outcome)
                continue
            note_found(run.cycle, asked)
            # It may have been opened and merged since: that is told too.
            if outcome.value.state is not PullRequestState.CLOSED:
                rows = waiting[reference]
                reopened[reference] = [_resume(run, *row) for row in rows]
    if reopened:
        await read_details(run, reopened)


def _take_turns(run: AccountRun, view: WorkspaceView) -> Iterator[TaskPullRequest]:
    cycle = run.cycle
    now = cycle.now()
    for row in list_finished_links(view.snapshot):
        memory = cycle.memory.get(build_memory_key(row), now=now)
        turn = Turn(
            kind=ReferenceKind.FINISHED,
            last_asked_at=memory.asked_at,
            closed_at=row.observation.closed_at,
        )
        intervals = cycle.settings.intervals
        if is_resting(turn, now=now, intervals=intervals):
            cycle.report.skipped["resting"] += 1
            continue
        due_at = next_due(turn, now=now, intervals=intervals)
        is_due = cycle.is_forced or (due_at is not None and due_at <= now)
        owner = row.observation.repository.owner
        if is_due and not admit(cycle, view, build_memory_key(row), owner):
            continue
        if is_due:
            memory.asked_at = now
            yield row
        else:
            cycle.report.skipped["not_due"] += 1


def _ask_for(
    reference: PullRequestReference, view: WorkspaceView, row: TaskPullRequest
) -> Asked:
    return Asked(
        view=view, reference=name_reference(reference), record=build_memory_key(row)
    )


def build_memory_key(row: TaskPullRequest) -> str:
    """Return what a finished pull request, which has no watch, is remembered by."""
    return f"{row.task_id}/{row.repository_id}/{row.pr_number}"


def _resume(run: AccountRun, view: WorkspaceView, row: TaskPullRequest) -> Watched:
    now = run.cycle.now()
    watch = Watch(
        id=build_id(now, run.cycle.chance),
        workspace_id=view.workspace.id,
        task_id=row.task_id,
        repository_id=row.repository_id,
        pr_number=row.pr_number,
        node_id=row.observation.node_id,
        last_sign_at=now,
        created_at=now,
    )
    standing = Standing(stored=row, arrival=Arrival.ADDED)
    record = build_memory_key(row)
    return Watched(view=view, watch=watch, standing=standing, record=record)
