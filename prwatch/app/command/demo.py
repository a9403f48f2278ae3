"""Plays the simulator's story through the real product, without a network."""

import datetime as dt
import io
import json
import random
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio.lowlevel

from prwatch.app.polling import poll, start
from prwatch.app.runtime import Runtime, open_runtime
from prwatch.app.surroundings import Surroundings
from prwatch.app.walk.cycle_report import CycleReport
from prwatch.config.loader import LoadedConfig, load_config
from prwatch.http.in_process import create_in_process_transport
from prwatch.simulator.github_app import GitHubApp
from prwatch.simulator.limits import DEFAULT_TOKEN
from prwatch.simulator.story import REPOSITORY, STEP_GAP, STORY, Step, set_the_stage
from prwatch.simulator.world import World

TOKEN_VARIABLE: Final = "DEMO_GITHUB_TOKEN"  # noqa: S105 - a variable's name
ASLEEP: Final = dt.timedelta(days=1)
"""How long the product leaves an archived repository alone."""
_SEED: Final = 12


class StoryClock:
    """A clock that stands still until it is moved; sleeping moves it."""

    def __init__(self, begin: dt.datetime) -> None:
        self._begin = begin
        self._elapsed = 0.0

    def now(self) -> dt.datetime:
        """Return the story's time."""
        return self._begin + dt.timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the story's seconds."""
        return self._elapsed

    def advance(self, duration: dt.timedelta) -> None:
        """Let the story's time pass."""
        self._elapsed += duration.total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once, and give way."""
        self._elapsed += max(0.0, seconds)
        await anyio.lowlevel.checkpoint()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """
    What one step of the story came to.

    `gap` is the story's time since the last look. `events` are the delivered ones,
    decoded; `requests` and `rows_written` are what the pass over GitHub cost.
    """

    number: int
    step: Step
    gap: dt.timedelta
    events: tuple[Mapping[str, Any], ...]
    requests: int
    rows_written: int


def load_demo_config(state_dir: Path) -> LoadedConfig:
    """Return the configuration of the demo: one pull request, events to stdout."""
    text = f"""
[[workspace]]
name = "demo"
token_env = "{TOKEN_VARIABLE}"

[[workspace.watch]]
repository = "{REPOSITORY}"
pull_request = 12
"""
    return load_config(
        text,
        environ={"HOME": str(state_dir)},
        flags={"state_dir": str(state_dir), "instance": "demo"},
    )


async def play_story(
    state_dir: Path, *, begin: dt.datetime
) -> AsyncGenerator[Scene, None]:
    """Play the story from `begin` on its own clock, and yield each step's scene."""
    clock = StoryClock(begin)
    world = World(clock, seed=_SEED)
    pull_request = set_the_stage(world)
    output = io.BytesIO()
    surroundings = Surroundings(
        environ={TOKEN_VARIABLE: DEFAULT_TOKEN, "HOME": str(state_dir)},
        clock=clock,
        chance=random.Random(_SEED),  # noqa: S311 - equal stories are the purpose
        stdout=output,
        transport=create_in_process_transport(GitHubApp(world)),
    )
    async with open_runtime(load_demo_config(state_dir), surroundings) as runtime:
        await start(runtime)
        for number, step in enumerate(STORY, start=1):
            is_asleep = pull_request.repository.is_archived
            gap = ASLEEP + STEP_GAP if is_asleep else STEP_GAP
            step.play(world, pull_request)
            clock.advance(gap)
            events, report = await _look(runtime, output)
            yield Scene(
                number=number,
                step=step,
                gap=gap,
                events=events,
                requests=report.usage.graphql + report.usage.rest,
                rows_written=report.rows_written,
            )


async def _look(
    runtime: Runtime, output: io.BytesIO
) -> tuple[tuple[Mapping[str, Any], ...], CycleReport]:
    """Make one pass, deliver, and return what was delivered and what it cost."""
    report = await poll(runtime, is_forced=True)
    for relay in runtime.relays:
        await relay.run_once()
    lines = output.getvalue().splitlines()
    output.seek(0)
    output.truncate()
    return tuple(json.loads(line) for line in lines), report
