"""
The fixtures that pytest finds by itself where prwatch is installed.

Everything else is imported when a test asks for a fixture: whoever has prwatch in an
environment pays nothing for it when pytest starts.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from prwatch.clock import Clock
    from prwatch.simulator import World
    from prwatch.testing.load import LoadReport
    from prwatch.testing.loopback_github import LoopbackGitHub


@pytest.fixture
def prwatch_clock() -> "Clock":
    """Return where `prwatch_world` reads the time: the machine's, unless replaced."""
    from prwatch.clock import SystemClock  # noqa: PLC0415 - who asks pays

    return SystemClock()


@pytest.fixture
def prwatch_world(prwatch_clock: "Clock") -> "World":
    """Return an empty simulated GitHub, to be moved with a person's verbs."""
    from prwatch.simulator import World  # noqa: PLC0415 - who asks pays

    return World(prwatch_clock)


@pytest.fixture
def prwatch_github(prwatch_world: "World") -> "Iterator[LoopbackGitHub]":
    """Serve `prwatch_world` on the loopback while the test runs."""
    from prwatch.testing.loopback_github import (  # noqa: PLC0415 - who asks pays
        open_loopback_github,
    )

    with open_loopback_github(prwatch_world) as github:
        yield github


@pytest.fixture
def prwatch_load(tmp_path: Path) -> "Callable[..., LoadReport]":
    """
    Return a function that runs prwatch under a load and reports each cycle.

    It takes `sessions`, `others` and `cycles`. Call it from a test that is no
    coroutine: it has an event loop of its own.
    """

    def run(**shape: int) -> "LoadReport":
        import anyio  # noqa: PLC0415 - who asks pays

        from prwatch.testing.load import run_load  # noqa: PLC0415 - as above
        from prwatch.testing.load_story import LoadShape  # noqa: PLC0415 - as above

        async def measure() -> "LoadReport":
            # Time of this process: other work on the machine makes no cycle late.
            stopwatch = time.process_time
            return await run_load(LoadShape(**shape), tmp_path, stopwatch=stopwatch)

        return anyio.run(measure)

    return run
