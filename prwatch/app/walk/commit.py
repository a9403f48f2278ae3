"""
Committing observations: row, task pull request, events and deliveries as one.

Everything here runs inside one transaction function: it takes values, returns
values and awaits nothing but its transaction.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prwatch.domain.compare import merge_observations
from prwatch.domain.event_building import EventNames, build_events, wants
from prwatch.domain.events import Event, Interest
from prwatch.domain.merge_progress import NO_PROGRESS, follow_merge
from prwatch.domain.observing import Arrival, Ending, ObservationCommit
from prwatch.domain.task import (
    Origin,
    PullRequestLink,
    Task,
    TaskPullRequest,
)
from prwatch.domain.watch import Watch
from prwatch.store import outbox, sessions, task_pull_requests, tasks, watches
from prwatch.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitContext:
    """What a commit needs to know beside the observation itself."""

    workspace_name: str
    source: str
    interests: tuple[Interest, ...]
    feedback_on_activity: bool
    now: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCommit:
    """A commit with the task's name and the ids that its events will have."""

    commit: ObservationCommit
    task_external_id: str
    session_external_id: str
    """The session that the row came from, for when nobody works there now."""
    event_ids: tuple[str, str]


async def write_commits(
    tx: Transaction, planned: Sequence[PlannedCommit], context: CommitContext
) -> list[tuple[Event, ...] | None]:
    """
    Commit observations of one workspace; None for each that came second.

    A second comer's row is left as the first one made it, and no event of the
    second is written.
    """
    return [await _write_commit(tx, one, context) for one in planned]


async def _write_commit(
    tx: Transaction, planned: PlannedCommit, context: CommitContext
) -> tuple[Event, ...] | None:
    commit = planned.commit
    before = await _arrive(tx, commit, context)
    if before is None:
        return None
    after = replace(
        commit.after,
        id=before.id,
        session_id=before.session_id,
        revision=before.revision + (1 if commit.changes else 0),
    )
    if not await watches.commit_observation(tx, before, after):
        return None
    pull_request = await _merge_task_pull_request(tx, after, commit)
    await task_pull_requests.put_task_pull_request(tx, pull_request)
    events = await _write_events(tx, planned, after, pull_request, context)
    await _end(tx, commit, after, context)
    return events


async def _arrive(
    tx: Transaction, commit: ObservationCommit, context: CommitContext
) -> Watch | None:
    """Return the row that the observation is committed to, or None when second."""
    row = await _find_row(tx, commit)
    adopted = commit.standing.takes_over
    if row is None or adopted is None:
        return row
    if not await watches.remove_watch(tx, adopted):
        # It moved on since it was read: what it knows now passes on next time.
        return None
    await tasks.archive_task(tx, adopted.task_id, context.now)
    return row


async def _find_row(tx: Transaction, commit: ObservationCommit) -> Watch | None:
    standing, watch = commit.standing, commit.before
    if standing.arrival is Arrival.STORED:
        return watch
    if standing.arrival is Arrival.DISCOVERED:
        row = await watches.discover(
            tx,
            watch,
            repository_id=commit.after.repository_id,
            pr_number=commit.after.pr_number,
            node_id=commit.after.node_id,
        )
        return None if row is None or row.watermark is not None else row
    added = replace(watch, pr_number=commit.after.pr_number)
    if standing.new_task and not await _begin_task(tx, standing.new_task, added):
        return None
    return added if await watches.add_watch(tx, added) else None


async def _begin_task(tx: Transaction, task: Task, watch: Watch) -> bool:
    """
    Add an adopted task, or take an archived one up again; False when somebody has it.

    Whoever named the archived one names it no longer: it is an adopted one now, and
    ends like one.
    """
    if task.archived_at is None:
        return await tasks.add_task(tx, task)
    if not await tasks.unarchive_task(tx, task.id):
        return False
    await tasks.put_task_origin(tx, task.id, Origin.ADOPTED)
    link = PullRequestLink(
        task_id=task.id, repository_id=watch.repository_id, pr_number=watch.pr_number
    )
    await tasks.remove_link(tx, link)
    return True


async def _merge_task_pull_request(
    tx: Transaction, after: Watch, commit: ObservationCommit
) -> TaskPullRequest:
    observation = commit.reading.observation
    stored = await task_pull_requests.find_task_pull_request(
        tx, after.task_id, after.repository_id, after.pr_number
    )
    before, progress = None, NO_PROGRESS
    if stored is not None and not stored.is_past:
        before, progress = stored.observation, stored.progress
        observation = merge_observations(before, observation)
    return TaskPullRequest(
        task_id=after.task_id,
        repository_id=after.repository_id,
        pr_number=after.pr_number,
        observation=observation,
        observed_at=observation.observed_at,
        progress=follow_merge(progress, before, observation),
    )


async def _write_events(
    tx: Transaction,
    planned: PlannedCommit,
    after: Watch,
    pull_request: TaskPullRequest,
    context: CommitContext,
) -> tuple[Event, ...]:
    if not planned.commit.changes:
        return ()
    session = await sessions.find_current_session(
        tx,
        task_id=after.task_id,
        repository_id=after.repository_id,
        branch=after.branch or pull_request.observation.head_ref_name,
    )
    names = EventNames(
        workspace=context.workspace_name,
        task_id=planned.task_external_id,
        session_id=session or planned.session_external_id,
        source=context.source,
    )
    events = build_events(
        planned.commit.changes,
        watch=after,
        observation=pull_request.observation,
        names=names,
        ids=planned.event_ids,
        now=context.now,
        feedback_on_activity=context.feedback_on_activity,
    )
    await outbox.add_events(tx, events, _choose_sinks(events, context), now=context.now)
    return events


def _choose_sinks(
    events: Sequence[Event], context: CommitContext
) -> Mapping[str, Sequence[str]]:
    return {
        event.id: [
            interest.sink for interest in context.interests if wants(interest, event)
        ]
        for event in events
    }


async def _end(
    tx: Transaction, commit: ObservationCommit, after: Watch, context: CommitContext
) -> None:
    match commit.ending:
        case Ending.STAY:
            pass
        case Ending.SEARCH_AGAIN:
            # Looked at here and not before: the others may end in this transaction.
            if await watches.find_open(tx, commit.standing.covered_by):
                await watches.remove_watch(tx, after)
                return
            observation = commit.reading.observation
            await watches.return_to_searching(
                tx,
                after,
                repository_id=commit.standing.search_in,
                searching_since=observation.merged_at
                or observation.closed_at
                or observation.observed_at,
                last_sign_at=context.now,
            )
        case Ending.REMOVE:
            await watches.remove_watch(tx, after)
        case Ending.ARCHIVE:
            await tasks.archive_task(tx, after.task_id, context.now)
