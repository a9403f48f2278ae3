"""Which watches are asked in this cycle: stored times, memory and the clock."""

import datetime as dt
from collections.abc import Iterable, Iterator

from prwatch.app.guard.admission import admit_watch, wait_until
from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.poll_memory import PollMemory, WatchMemory
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.schedule import ReferenceKind, Turn, is_resting, next_due
from prwatch.domain.task import Origin
from prwatch.domain.watch import Watch


def take_turns(
    cycle: Cycle, view: WorkspaceView, watches: Iterable[Watch]
) -> Iterator[Watch]:
    """Yield the watches whose turn it is, and count why the others are left out."""
    now, is_forced = cycle.now(), cycle.is_forced
    archived = {row.id for row in view.repositories.values() if row.is_archived}
    is_open = cycle.is_asked or len(cycle.circuits) == 0
    for watch in watches:
        is_awake = watch.repository_id not in archived or not sleeps(view, watch)
        if is_forced and is_awake and not watch.is_searching:
            # It never rests, and its due time would be ignored.
            if is_open or admit_watch(cycle, view, watch):
                yield watch
            continue
        turn = build_turn(cycle.memory, view, watch, now=now)
        if is_resting(turn, now=now, intervals=cycle.settings.intervals):
            cycle.report.skipped["resting"] += 1
        elif (cycle.is_forced and not turn.is_archived) or _is_due(cycle, turn, now):
            if admit_watch(cycle, view, watch):
                yield watch
        else:
            cycle.report.skipped["archived" if turn.is_archived else "not_due"] += 1


def _is_due(cycle: Cycle, turn: Turn, now: dt.datetime) -> bool:
    due_at = next_due(turn, now=now, intervals=cycle.settings.intervals)
    return due_at is not None and due_at <= now


def find_turn(
    cycle: Cycle, view: WorkspaceView, watch: Watch, *, now: dt.datetime
) -> dt.datetime | None:
    """
    Return when a watch is due; None while it rests or its repository sleeps.

    One whose circuit is not closed is never asked for beside others.
    """
    turn = build_turn(cycle.memory, view, watch, now=now)
    if turn.is_archived or wait_until(cycle.circuits, view, watch) is not None:
        return None
    return next_due(turn, now=now, intervals=cycle.settings.intervals)


def build_turn(
    poll_memory: PollMemory, view: WorkspaceView, watch: Watch, *, now: dt.datetime
) -> Turn:
    """Return what decides a watch's next turn."""
    memory = poll_memory.get(watch.id, now=now)
    if not watch.is_searching:
        return Turn(
            kind=ReferenceKind.DISCOVERED,
            last_asked_at=memory.asked_at,
            is_busy=memory.is_busy or is_awaited(memory, now),
            look_at=memory.due_at,
            is_archived=sleeps(view, watch),
            last_sign_at=watch.moved_at,
        )
    repository = view.repositories.get(watch.repository_id)
    return Turn(
        kind=ReferenceKind.SEARCHING,
        last_asked_at=memory.asked_at,
        is_archived=bool(repository and repository.is_archived),
        last_sign_at=max(watch.last_sign_at, view.last_session_start(watch)),
        can_rest=can_rest(view, watch),
    )


def is_awaited(memory: WatchMemory, now: dt.datetime) -> bool:
    """Return whether somebody waits for a pull request: it is looked at often then."""
    return memory.awaited_until is not None and now < memory.awaited_until


def can_rest(view: WorkspaceView, watch: Watch) -> bool:
    """Return whether a searching watch may rest; the configuration's never do."""
    return view.origin(watch.task_id) is not Origin.CONFIG


def sleeps(view: WorkspaceView, watch: Watch) -> bool:
    """Return whether a discovered watch's repository is archived, and that was told."""
    repository = view.repositories.get(watch.repository_id)
    if repository is None or not repository.is_archived:
        return False
    # Somebody else's look may have shown it first: then it is still to be told.
    return not (watch.watermark and watch.watermark.is_archived is False)
