"""The walk over discovered watches: probe them all, read in full what moved."""

import datetime as dt
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from prwatch.app.guard.admission import ask_for, note_found, note_missing
from prwatch.app.walk.cycle import AccountRun
from prwatch.app.walk.full_reads import Judge, Need, choose_reads
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
from prwatch.domain.price import PROBES_A_POINT
from prwatch.domain.reference import Probe, PullRequestReference
from prwatch.domain.schedule import fill
from prwatch.domain.watch import Watch
from prwatch.github.probe import Places

Pairs = list[tuple[WorkspaceView, Watch]]

SLICE: Final = 5000
"""References that are gathered before they are asked for: ten full requests."""


async def walk_discovered(run: AccountRun, *, seen: set[str]) -> None:
    """
    Probe the discovered watches whose turn it is, slice by slice.

    `seen` are the node ids that a list page of this cycle has shown already. A watch
    that was never read, or whose node id is unknown, is read in full at once.
    """
    now, has_probes, recall = (
        run.cycle.now(),
        run.reader.has_probes,
        run.cycle.memory.get,
    )
    # What several workspaces watch is asked once for all of them.
    slice_size = SLICE if len(run.views) == 1 else None
    known: defaultdict[str, Pairs] = defaultdict(list)
    fresh: defaultdict[PullRequestReference, list[Watched]] = defaultdict(list)
    for view in run.views:
        due: Iterable[Watch] = (
            watch for watch in view.discovered if watch.node_id not in seen
        )
        if run.cycle.report.observed:
            due = (watch for watch in due if not _was_read(run, watch, now))
        for watch in take_turns(run.cycle, view, due):
            node_id = watch.node_id
            if len(known) == slice_size and node_id not in known:
                await _probe(run, known)
                known.clear()
            recall(watch.id, now=now).asked_at = now
            if has_probes and node_id and watch.watermark is not None:
                known[node_id].append((view, watch))
            else:
                watched = Watched(view=view, watch=watch, standing=stand(view, watch))
                fresh[refer(view, watch)].append(watched)
    if fresh:
        await read_details(run, fresh)
    if known:
        if not run.cycle.is_forced:
            _fill_places(run, known, seen, now)
        await _probe(run, known)


def _was_read(run: AccountRun, watch: Watch, now: dt.datetime) -> bool:
    """Return whether this cycle has read it already: a branch has just found it."""
    memory = run.cycle.memory.get(watch.id, now=now)
    return memory.read_in == run.cycle.report.cycle_id


def _fill_places(
    run: AccountRun,
    known: defaultdict[str, Pairs],
    seen: Collection[str],
    now: dt.datetime,
) -> None:
    """Let those that are due next have the places that are paid for anyway."""
    memory = run.cycle.memory
    waiting: defaultdict[str, Pairs] = defaultdict(list)
    candidates: list[tuple[dt.datetime, str]] = []
    for view in run.views:
        for watch in view.discovered:
            if watch.node_id in seen or not watch.node_id:
                continue
            if memory.get(watch.id, now=now).asked_at == now:
                continue  # in this slice or one before
            due_at = find_turn(run.cycle, view, watch, now=now)
            if due_at is None or watch.watermark is None:
                continue
            waiting[watch.node_id].append((view, watch))
            candidates.append((due_at, watch.node_id))
    # Whoever else watches what is asked learns it for nothing.
    places = [*fill(list(known), candidates, PROBES_A_POINT)]
    for node_id in places:
        for pair in waiting.get(node_id, ()):
            mark_asked(run, pair[1], now)
            known[node_id].append(pair)


async def _probe(run: AccountRun, known: Mapping[str, Pairs]) -> None:
    run.cycle.report.references.add(*known)
    places = Places(known, _name_place)
    async for answers in run.account.github.iter_probe_by_id(list(known), places):
        run.progress()
        await follow_probes(run, known, answers)


def _name_place(pairs: Pairs) -> str:
    view, watch = pairs[0]
    return view.repositories[watch.repository_id].name_with_owner


async def follow_probes(
    run: AccountRun,
    known: Mapping[str, Pairs],
    answers: Mapping[str, Outcome[Probe]],
) -> None:
    """
    Read in full whatever the probes say has moved, and report what has none.

    `known` are the watches of each pull request, by node id, as the answers are.
    Where some are due to be read in full although nothing moved, those that are due
    next take the free places of their request.
    """
    now, is_quiet = run.cycle.now(), run.cycle.circuits.is_quiet
    judge = Judge(run.cycle, now=now).judge
    needs: defaultdict[Need, list[str]] = defaultdict(list)
    for node_id, outcome in answers.items():
        pairs = known[node_id]
        if not isinstance(outcome, Found):
            for view, watch in pairs:
                name = name_reference(refer(view, watch))
                note_missing(run.cycle, ask_for(run.cycle, view, watch, name), outcome)
            continue
        if not is_quiet:
            note_found(run.cycle, [ask_for(run.cycle, *pair) for pair in pairs])
        need = Need.HELD
        for view, watch in pairs:
            need = max(need, judge(view, watch, outcome.value))
        needs[need].append(node_id)
    asked = choose_reads(run.cycle, needs, known, now=now)
    if asked:
        waiting: defaultdict[PullRequestReference, list[Watched]] = defaultdict(list)
        for view, watch in itertools.chain.from_iterable(known[each] for each in asked):
            watched = Watched(view=view, watch=watch, standing=stand(view, watch))
            waiting[refer(view, watch)].append(watched)
        await read_details(run, waiting)
