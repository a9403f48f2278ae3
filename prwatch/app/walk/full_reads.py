"""Which of the probed pull requests are read in full, and in whose company."""

import datetime as dt
import enum
from collections.abc import Mapping, Sequence

from prwatch.app.walk.cycle import Cycle
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.price import READS_A_REQUEST
from prwatch.domain.reference import Probe, PullRequestReference
from prwatch.domain.schedule import (
    Activity,
    fill,
    get_full_read_interval,
    has_passed,
    judge_age,
)
from prwatch.domain.watch import Watch

Pairs = Sequence[tuple[WorkspaceView, Watch]]


class Need(enum.IntEnum):
    """What a probe says about a full reading; the greater one counts."""

    HELD = 0
    """Nothing could be told before its verdict has settled."""
    SPARE = 1
    """Nothing moved. It may take a place that is free anyway."""
    DUE = 2
    """What a probe cannot see has not been looked at for too long."""
    MOVED = 3
    """A full reading could show something new."""


def judge_need(
    cycle: Cycle,
    watch: Watch,
    probe: Probe,
    *,
    is_archived: bool = False,
    now: dt.datetime,
) -> Need:
    """
    Judge what a probe says about a watch, and remember it.

    With `is_archived` its repository is known to be read-only: then nothing moves that
    a probe cannot see.

    A moved probe whose full reading showed no change is remembered, so that it costs
    one reading and no write. One that shows what is known is a good observation.
    """
    memory = cycle.memory.get(watch.id, now=now)
    memory.is_busy = probe.is_busy
    if cycle.is_full:
        return Need.MOVED
    if memory.due_at is not None:
        # Held back: nothing new can be told before that time, whatever moves with it.
        is_known = probe.fingerprint == memory.held_fingerprint
        wait = memory.due_at - now
        # Nothing is held back for longer: then the clock was set back meanwhile.
        if is_known and dt.timedelta(0) < wait <= 2 * cycle.settings.settle:
            memory.good_at = now
            return Need.HELD
        memory.held_fingerprint = probe.fingerprint
        return Need.MOVED
    shown = probe.fingerprint
    is_same = shown != "" and shown in (watch.fingerprint, memory.fingerprint)
    read_at = memory.full_read_at
    # Mostly it is too early: thousands of times in each cycle.
    is_early = read_at <= now < read_at + cycle.settings.intervals.full_read
    if not (is_early or is_archived) and _is_due(cycle, watch, probe, read_at, now=now):
        return Need.DUE if is_same else Need.MOVED
    memory.held_fingerprint = probe.fingerprint
    if is_same:
        memory.good_at = now
        if probe.is_mergeable_known:
            memory.mergeable_unknown_since = None
        return Need.SPARE
    return Need.MOVED


def choose_reads(
    cycle: Cycle,
    needs: Mapping[Need, Sequence[PullRequestReference]],
    known: Mapping[PullRequestReference, Pairs],
    *,
    now: dt.datetime,
) -> tuple[PullRequestReference, ...]:
    """
    Return what is read in full: what moved first, then what is due, and who fills.

    Free places go to what is due within half of its time. Where nothing is due they
    stay free, so that what moved is known sooner.
    """
    moved, due = needs.get(Need.MOVED, ()), needs.get(Need.DUE, ())
    if not due:
        return tuple(moved)
    half = cycle.settings.intervals.full_read / 2
    candidates: list[tuple[dt.datetime, PullRequestReference]] = []
    for reference in needs.get(Need.SPARE, ()):
        watch = known[reference][0][1]
        read_at = cycle.memory.get(watch.id, now=now).full_read_at
        if has_passed(read_at, half, now=now):
            candidates.append((read_at, reference))
    return fill([*moved, *due], candidates, READS_A_REQUEST)


def _is_due(
    cycle: Cycle, watch: Watch, probe: Probe, read_at: dt.datetime, *, now: dt.datetime
) -> bool:
    """Return whether it is to be read in full; idle ones that stretched later."""
    intervals = cycle.settings.intervals
    activity = Activity.HOT if probe.is_busy else judge_age(now - watch.moved_at)
    return has_passed(read_at, get_full_read_interval(activity, intervals), now=now)
