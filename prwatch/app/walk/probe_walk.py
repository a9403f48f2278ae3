"""The walk over discovered watches: probe them all, read in full what moved."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from prwatch.app.walk.admission import ask_for, note_found, note_missing
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.reading import (
    Watched,
    mark_asked,
    name_reference,
    read_details,
    refer,
    stand,
)
from prwatch.app.walk.turns import find_turn, take_turns
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.outcome import Found, Outcome
from prwatch.domain.reference import Probe, PullRequestReference
from prwatch.domain.schedule import fill, is_full_read_due
from prwatch.domain.watch import Watch

Pairs = list[tuple[WorkspaceView, Watch]]

PLACES: Final = 100
"""Pull requests that one point of GitHub's budget probes."""


async def walk_discovered(run: AccountRun, *, seen: set[str]) -> None:
    """
    Probe the discovered watches whose turn it is, chunk by chunk.

    `seen` are the node ids that a list page of this cycle has shown already. A watch
    that was never read, or whose node id is unknown, is read in full at once.
    """
    now = run.cycle.now()
    known: defaultdict[PullRequestReference, Pairs] = defaultdict(list)
    fresh: defaultdict[PullRequestReference, list[Watched]] = defaultdict(list)
    for view in run.views:
        due = [
            watch
            for watch in view.discovered
            if watch.node_id not in seen and not _was_read(run, watch)
        ]
        for watch in take_turns(run.cycle, view, due):
            mark_asked(run, watch, now)
            reference = refer(view, watch)
            has_probe = run.reader.has_probes and watch.node_id
            if has_probe and watch.watermark is not None:
                known[reference].append((view, watch))
            else:
                watched = Watched(view=view, watch=watch, standing=stand(view, watch))
                fresh[reference].append(watched)
    if fresh:
        await read_details(run, fresh)
    if known:
        if not run.cycle.is_forced:
            _fill_places(run, known, seen)
        await _probe(run, known)


def _was_read(run: AccountRun, watch: Watch) -> bool:
    """Return whether this cycle has read it already: a branch has just found it."""
    memory = run.cycle.memory.get(watch.id, now=run.cycle.now())
    return memory.read_in == run.cycle.report.cycle_id


def _fill_places(
    run: AccountRun,
    known: defaultdict[PullRequestReference, Pairs],
    seen: Collection[str],
) -> None:
    """Let those that are due next have the places that are paid for anyway."""
    now = run.cycle.now()
    asked = {watch.id for pairs in known.values() for _, watch in pairs}
    waiting: defaultdict[PullRequestReference, Pairs] = defaultdict(list)
    candidates: list[tuple[dt.datetime, PullRequestReference]] = []
    for view in run.views:
        for watch in view.discovered:
            if watch.id in asked or watch.node_id in seen or not watch.node_id:
                continue
            due_at = find_turn(run.cycle, view, watch, now=now)
            if due_at is None or watch.watermark is None:
                continue
            reference = refer(view, watch)
            waiting[reference].append((view, watch))
            candidates.append((due_at, reference))
    # Whoever else watches what is asked learns it for nothing.
    places = [*fill(list(known), candidates, PLACES)]
    for reference in places:
        for pair in waiting.get(reference, ()):
            mark_asked(run, pair[1], now)
            known[reference].append(pair)


async def _probe(run: AccountRun, known: Mapping[PullRequestReference, Pairs]) -> None:
    run.cycle.report.references.update(known)
    async for answers in run.reader.iter_probe(list(known)):
        run.progress()
        await follow_probes(run, known, answers)


async def follow_probes(
    run: AccountRun,
    known: Mapping[PullRequestReference, Pairs],
    answers: Mapping[PullRequestReference, Outcome[Probe]],
) -> None:
    """Read in full whatever the probes say has moved, and report what has none."""
    now = run.cycle.now()
    moved: dict[PullRequestReference, list[Watched]] = {}
    for reference, outcome in answers.items():
        pairs = known[reference]
        if not isinstance(outcome, Found):
            name = name_reference(reference)
            for view, watch in pairs:
                note_missing(run.cycle, ask_for(run.cycle, view, watch, name), outcome)
            continue
        if not run.cycle.circuits.is_quiet:
            note_found(run.cycle, [ask_for(run.cycle, *pair) for pair in pairs])
        has_moved = False
        for _, watch in pairs:
            has_moved = _has_moved(run, watch, outcome.value, now) or has_moved
        if has_moved:
            moved[reference] = [
                Watched(view=view, watch=watch, standing=stand(view, watch))
                for view, watch in pairs
            ]
    if moved:
        await read_details(run, moved)


def _has_moved(run: AccountRun, watch: Watch, probe: Probe, now: dt.datetime) -> bool:
    """
    Return whether a full reading could show something new.

    A moved probe whose full reading showed no change is remembered, so that it costs
    one reading and no write.
    """
    memory = run.cycle.memory.get(watch.id, now=now)
    memory.is_busy = probe.is_busy
    if run.cycle.is_full:
        return True
    if memory.due_at is not None:
        # Held back: nothing new can be told before that time, whatever moves with it.
        is_known = probe.fingerprint == memory.held_fingerprint
        wait = memory.due_at - now
        # Nothing is held back for longer: then the clock was set back meanwhile.
        if is_known and dt.timedelta(0) < wait <= 2 * run.cycle.settings.settle:
            return False
        memory.held_fingerprint = probe.fingerprint
        return True
    if is_full_read_due(
        memory.full_read_at, now=now, intervals=run.cycle.settings.intervals
    ):
        return True
    memory.held_fingerprint = probe.fingerprint
    if probe.fingerprint and probe.fingerprint in (
        watch.fingerprint,
        memory.fingerprint,
    ):
        memory.good_at = now
        return False
    return True
