"""From full readings to commits: compare, decide, write, remember."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from prwatch.app.walk.commit import CommitContext, PlannedCommit, write_commits
from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.poll_memory import WatchMemory
from prwatch.app.walk.repository_rows import follow_observation
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.compare import is_stale
from prwatch.domain.events import Event
from prwatch.domain.ids import build_id
from prwatch.domain.observing import (
    ObservationCommit,
    Standing,
    decide_commit,
    due_after,
)
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, Observation
from prwatch.domain.reference import Reading
from prwatch.domain.staleness import StaleReadings
from prwatch.domain.watch import Watch
from prwatch.errors import StoreConflict
from prwatch.store.database import Transaction

_log = structlog.get_logger()

CHUNK = 40
"""Observations in one transaction: about nine rows each, and 500 is the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A full reading on its way to one watch."""

    view: WorkspaceView
    watch: Watch
    reading: Reading
    standing: Standing


async def observe(cycle: Cycle, sightings: Sequence[Sighting]) -> int:
    """Commit what the readings show; return how many commits took effect."""
    planned: defaultdict[str, list[tuple[Sighting, ObservationCommit]]]
    planned = defaultdict(list)
    for sighting in sightings:
        await _follow_repository(cycle, sighting)
        commit = _decide(cycle, sighting)
        if commit is not None:
            planned[sighting.view.workspace.id].append((sighting, commit))
    done = 0
    for commits in planned.values():
        for start in range(0, len(commits), CHUNK):
            done += await _commit(cycle, commits[start : start + CHUNK])
    return done


def _decide(cycle: Cycle, sighting: Sighting) -> ObservationCommit | None:
    watch, reading = sighting.watch, sighting.reading
    settle = cycle.settings.settle
    now = cycle.now()
    memory = cycle.memory.get(watch.id, now=now)
    observation = reading.observation
    memory.good_at = memory.full_read_at = now
    memory.read_in = cycle.report.cycle_id
    cycle.report.observed += 1
    if observation.checks is not UNOBSERVED:
        # Without checks what the probe said stands: they may lag behind the head.
        memory.is_busy = _is_busy(observation)
        memory.summary = observation.checks_summary if memory.is_busy else None
    _remember_mergeable(memory, observation, now)
    is_believed = False
    if watch.watermark is not None and is_stale(watch.watermark, observation):
        memory.stale = (memory.stale or StaleReadings()).add(observation, now=now)
        is_believed = memory.stale.is_believed
        if not is_believed:
            memory.due_at = None
            return None
        _log.warning(
            "reading.believed",
            watch_id=watch.id,
            readings=memory.stale.count,
            updated_at=observation.updated_at.isoformat(),
        )
    memory.stale = None
    commit = decide_commit(
        watch, reading, sighting.standing, settle=settle, is_believed=is_believed
    )
    if commit is None:
        due_at = due_after(watch.watermark, reading, settle=settle)
        memory.fingerprint = "" if due_at else reading.fingerprint
    else:
        due_at = commit.due_at
        memory.fingerprint = ""
    memory.due_at = _to_our_clock(due_at, observation, now)
    return commit


def _to_our_clock(
    due_at: dt.datetime | None, observation: Observation, now: dt.datetime
) -> dt.datetime | None:
    """Return when our clock shows what is a time of GitHub's clock."""
    return None if due_at is None else now + (due_at - observation.observed_at)


def _remember_mergeable(
    memory: WatchMemory, observation: Observation, now: dt.datetime
) -> None:
    if observation.is_final or observation.mergeable is not UNOBSERVED:
        memory.mergeable_unknown_since = None
    elif memory.mergeable_unknown_since is None:
        memory.mergeable_unknown_since = now


def _is_busy(observation: Observation) -> bool:
    return not observation.is_final and (
        observation.checks is ChecksState.PENDING
        or (observation.merge_queue is not UNOBSERVED and observation.merge_queue)
    )


async def _commit(
    cycle: Cycle, commits: Sequence[tuple[Sighting, ObservationCommit]]
) -> int:
    view = commits[0][0].view
    now = cycle.now()
    context = CommitContext(
        workspace_name=view.workspace.name,
        source=cycle.source,
        interests=cycle.interests,
        feedback_on_activity=cycle.settings.feedback_on_activity,
        now=now,
    )
    planned = [
        PlannedCommit(
            commit=commit,
            task_external_id=_external_id(sighting),
            session_external_id=view.session_external_id(sighting.watch.session_id),
            event_ids=(build_id(now, cycle.chance), build_id(now, cycle.chance)),
        )
        for sighting, commit in commits
    ]

    async def write(tx: Transaction) -> list[tuple[Event, ...] | None]:
        return await write_commits(tx, planned, context)

    try:
        written = await cycle.database.transact(write)
    except StoreConflict:
        # A row that the chunk rests on went away: all of it is read again next time.
        cycle.mirror.forget()
        cycle.report.rejected_commits += len(planned)
        return 0
    for plan, events in zip(planned, written, strict=True):
        if events is None:
            cycle.report.rejected_commits += 1
        else:
            cycle.report.events_by_type.update(event.type.value for event in events)
            changed = (change.field.value for change in plan.commit.changes)
            cycle.report.changes_by_field.update(changed)
    if any(written):
        cycle.on_commit()
    return sum(events is not None for events in written)


def _external_id(sighting: Sighting) -> str:
    new_task = sighting.standing.new_task
    if new_task is not None:
        return new_task.external_id
    return sighting.view.external_id(sighting.watch.task_id)


async def _follow_repository(cycle: Cycle, sighting: Sighting) -> None:
    """Let the stored repository follow the name and identity that GitHub shows."""
    base_id = sighting.standing.base_id or sighting.watch.repository_id
    stored = sighting.view.repositories.get(base_id)
    if stored is not None:
        observation = sighting.reading.observation
        await follow_observation(cycle, sighting.view, stored, observation)
