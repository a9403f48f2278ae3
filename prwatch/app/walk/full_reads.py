"""Which of the probed pull requests are read in full, and in whose company."""

import datetime as dt
import enum
from collections.abc import Mapping, Sequence

from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.poll_memory import WatchMemory
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.price import READS_A_REQUEST
from prwatch.domain.reference import Probe
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


class Judge:
    """
    Judges what the probes of one answer say about watches, and remembers it.

    Mostly they say that nothing moved, thousands of times in each cycle: what is the
    same for all of them is worked out once.
    """

    def __init__(self, cycle: Cycle, *, now: dt.datetime) -> None:
        self._cycle = cycle
        self._now = now
        self._recall = cycle.memory.get
        self._is_full = cycle.is_full
        self._fresh_since = now - cycle.settings.intervals.full_read

    def judge(self, view: WorkspaceView, watch: Watch, probe: Probe) -> Need:
        """
        Return whether a watch needs a full reading.

        A moved probe whose full reading showed no change is remembered, so that it
        costs one reading and no write. One that shows what is known is a good
        observation.
        """
        now = self._now
        memory = self._recall(watch.id, now=now)
        memory.is_busy = probe.is_busy
        if self._is_full:
            return Need.MOVED
        shown = probe.fingerprint
        if memory.due_at is not None:
            return self._judge_held(memory, shown)
        is_same = shown != "" and shown in (watch.fingerprint, memory.fingerprint)
        read_at = memory.full_read_at
        is_fresh = self._fresh_since < read_at <= now
        if not is_fresh and self._is_due(view, watch, probe, read_at):
            return Need.DUE if is_same else Need.MOVED
        memory.held_fingerprint = shown
        if not is_same:
            return Need.MOVED
        memory.good_at = now
        if probe.is_mergeable_known:
            memory.mergeable_unknown_since = None
        return Need.SPARE

    def _judge_held(self, memory: WatchMemory, shown: str) -> Need:
        """Nothing new can be told before that time, whatever moves with it."""
        due_at = memory.due_at or self._now
        # Nothing is held back for longer: then the clock was set back meanwhile.
        is_soon = self._now < due_at <= self._now + 2 * self._cycle.settings.settle
        if shown == memory.held_fingerprint and is_soon:
            memory.good_at = self._now
            return Need.HELD
        memory.held_fingerprint = shown
        return Need.MOVED

    def _is_due(
        self, view: WorkspaceView, watch: Watch, probe: Probe, read_at: dt.datetime
    ) -> bool:
        """Return whether it is to be read in full; idle ones that stretched later."""
        if view.repositories[watch.repository_id].is_archived:
            return False  # read-only: nothing moves that a probe cannot see
        now, intervals = self._now, self._cycle.settings.intervals
        activity = Activity.HOT if probe.is_busy else judge_age(now - watch.moved_at)
        return has_passed(read_at, get_full_read_interval(activity, intervals), now=now)


def choose_reads(
    cycle: Cycle,
    needs: Mapping[Need, Sequence[str]],
    known: Mapping[str, Pairs],
    *,
    now: dt.datetime,
) -> tuple[str, ...]:
    """
    Return what is read in full: what moved first, then what is due, and who fills.

    All are node ids.

    Free places go to what is due within half of its time. Where nothing is due they
    stay free, so that what moved is known sooner.
    """
    moved, due = needs.get(Need.MOVED, ()), needs.get(Need.DUE, ())
    if not due:
        return tuple(moved)
    half = cycle.settings.intervals.full_read / 2
    candidates: list[tuple[dt.datetime, str]] = []
    for node_id in needs.get(Need.SPARE, ()):
        watch = known[node_id][0][1]
        read_at = cycle.memory.get(watch.id, now=now).full_read_at
        if has_passed(read_at, half, now=now):
            candidates.append((read_at, node_id))
    return fill([*moved, *due], candidates, READS_A_REQUEST)
