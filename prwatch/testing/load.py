"""
The product under a load whose every effect is known, and what must hold in it.

One task was resumed in many sessions; others stand beside it. Whatever the number of
sessions, the canonical watches stay the same, a cycle looks branches up at once, a
quiet one writes nothing, and what is told is what happened.
"""

import contextlib
import gc
import io
import itertools
import json
import math
import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from prwatch.app.polling import poll, start
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.config.loader import load_config
from prwatch.http.in_process import create_in_process_transport
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.store import watches
from prwatch.store.database import Transaction
from prwatch.testing.load_story import Change, LoadShape, LoadStory, render_tasks
from prwatch.testing.moved_clock import MovedClock

INTERVAL_SECONDS: Final = 60.0
BRANCHES_A_LOOK_UP: Final = 50
"""So many branches cost one point, and go into one request."""
MOST_LATENCY: Final = 5.0
"""Times the median that the slowest quiet cycle in twenty may take."""
MOST_GROWTH: Final = 2.0
"""Times the first half's median that the second half's may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCycle:
    """What one cycle did. `seconds` are those of the stopwatch."""

    rows: int
    lookups: int
    requests: int
    points: int
    rows_written: int
    events: int
    failures: int
    seconds: float
    expected: tuple[Change, ...]
    told: tuple[Change, ...]

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing happened in the world before it."""
        return not self.expected


@dataclass(slots=True)
class LoadReport:
    """All cycles of a load, the first of which adopted what there was."""

    shape: LoadShape
    cycles: list[LoadCycle] = field(default_factory=list)

    @property
    def quiet_seconds(self) -> list[float]:
        """
        Return how long each quiet cycle took, in order.

        The one after a change is left out: it asks in new words, which both sides
        have to parse once.
        """
        return [
            one.seconds
            for before, one in itertools.pairwise(self.cycles)
            if before.is_quiet and one.is_quiet
        ]

    @property
    def latency_ratio(self) -> float:
        """Return the 95th percentile of quiet cycles over their median, in one run."""
        seconds = self.quiet_seconds
        return statistics.quantiles(seconds, n=20)[-1] / statistics.median(seconds)

    @property
    def growth_ratio(self) -> float:
        """Return the median of the later quiet cycles over that of the earlier."""
        seconds = self.quiet_seconds
        middle = len(seconds) // 2
        later, earlier = seconds[middle:], seconds[:middle]
        return statistics.median(later) / statistics.median(earlier)

    def list_broken(self) -> list[str]:
        """Say of each cycle what it should not have done; empty when all is well."""
        found = [
            f"cycle {number}: {broken}"
            for number, one in enumerate(self.cycles)
            for broken in self._list_broken(number, one)
        ]
        if self.latency_ratio > MOST_LATENCY:
            found.append(f"a late cycle took {self.latency_ratio:.1f} times the median")
        if self.growth_ratio > MOST_GROWTH:
            found.append(f"cycles became {self.growth_ratio:.1f} times slower")
        return found

    def _list_broken(self, number: int, one: LoadCycle) -> list[str]:
        rows = self.shape.targets
        most = math.ceil(rows / BRANCHES_A_LOOK_UP)
        broken = {
            f"{one.rows} watches, not {rows}": one.rows != rows,
            f"{one.lookups} look-ups of branches": one.lookups > most,
            f"{one.rows_written} rows written for nothing": (
                number > 0 and one.is_quiet and one.rows_written > 0
            ),
            f"{one.failures} failures": one.failures > 0,
            f"told {one.told}, not {one.expected}": one.told != one.expected,
        }
        return [text for text, is_broken in broken.items() if is_broken]

    def render(self) -> str:
        """Return a table with a line for each cycle."""
        head = "cycle  rows  lookups  requests  points  written  events      ms"
        return "\n".join(
            [
                head,
                *(
                    f"{number:5}  {one.rows:4}  {one.lookups:7}  {one.requests:8}"
                    f"  {one.points:6}  {one.rows_written:7}  {one.events:6}"
                    f"  {one.seconds * 1000:6.1f}"
                    for number, one in enumerate(self.cycles)
                ),
            ]
        )


async def run_load(
    shape: LoadShape, state_dir: Path, *, stopwatch: Callable[[], float]
) -> LoadReport:
    """
    Run the product through all cycles over a world of its own, on a moved clock.

    The store is a SQLite file in `state_dir`. `stopwatch` returns seconds that only
    grow; it measures the product and the simulated GitHub together.
    """
    clock = MovedClock()
    world, report = World(clock), LoadReport(shape)
    story, out = LoadStory(world, shape), io.BytesIO()
    environ = {"HOME": str(state_dir), "TOKEN": DEFAULT_TOKEN}
    surroundings = Surroundings(
        environ=environ,
        clock=clock,
        chance=random.Random(0),  # noqa: S311 - equal runs, no secret
        stdout=out,
        transport=create_in_process_transport(GitHubApp(world)),
        is_inline=True,
    )
    loaded = load_config(_render_config(shape, state_dir), environ=environ)
    async with open_runtime(loaded, surroundings) as runtime:
        await start(runtime)
        for number in range(shape.cycles):
            expected = story.play(number)
            clock.advance(INTERVAL_SECONDS)
            with _collecting_later():
                begun = stopwatch()
                cycle = await poll(runtime, is_forced=True)
                for relay in runtime.relays:
                    await relay.run_once()
                seconds = stopwatch() - begun
            report.cycles.append(
                LoadCycle(
                    seconds=seconds,
                    expected=tuple(expected),
                    told=_take_changes(out),
                    rows=await _count_rows(runtime),
                    **_measure(cycle),
                )
            )
    return report


@contextlib.contextmanager
def _collecting_later() -> Iterator[None]:
    """Keep full collections out of a cycle: they cost what the whole process holds."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _render_config(shape: LoadShape, state_dir: Path) -> str:
    return f"""
state_dir = "{state_dir}"
instance = "load"

[poll]
settle = "0s"

[[workspace]]
name = "load"
token_env = "TOKEN"

{render_tasks(shape)}

[[sink]]
name = "out"
kind = "stdout"
"""


def _measure(cycle: CycleReport) -> dict[str, int]:
    return {
        "lookups": cycle.lookups,
        "requests": cycle.usage.graphql + cycle.usage.rest,
        "points": cycle.usage.points,
        "rows_written": cycle.rows_written,
        "events": sum(cycle.events_by_type.values()),
        "failures": len(cycle.failures),
    }


def _take_changes(out: io.BytesIO) -> tuple[Change, ...]:
    """Return the changes that were told since the last call."""
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    out.seek(0)
    out.truncate()
    return tuple(
        (change["field"], change["previous"], change["current"])
        for event in events
        if event["type"] == "GitHubTaskPRUpdated"
        for change in event["data"]["changes"]
    )


async def _count_rows(runtime: Runtime) -> int:
    (workspace,) = runtime.wired.workspaces.values()

    async def count(tx: Transaction) -> int:
        return len(await watches.list_watches(tx, workspace.id))

    return await runtime.database.read(count)
