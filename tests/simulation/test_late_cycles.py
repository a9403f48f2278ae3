"""Cycles that are slow or stuck: late ones are skipped, stuck ones given up."""

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.simulator import GitHubApp
from tests.product import ALL, BRANCH, ONE, LoopClock, open_product
from tests.simulation.scenarios import make_world

HOUR = 3600.0


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class SlowGitHub:
    """Takes its time, and notes how many requests are under way."""

    def __init__(self, world, seconds):
        self._app = GitHubApp(world)
        self.seconds = seconds
        self.begun_at = []
        self.most = self._now = 0

    async def __call__(self, scope, receive, send):
        self.begun_at.append(anyio.current_time())
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await anyio.sleep(self.seconds)
            await self._app(scope, receive, send)
        finally:
            self._now -= 1


async def run_loop(product, seconds):
    registry = LoopRegistry(product.clock)
    loop = WatchLoop(product.runtime, registry)
    registry.begin_run(loop.name, loop.deadline)
    with anyio.move_on_after(seconds):
        await loop.run(lambda: None)
    return loop


def open_over(tmp_path, app, clock, **config):
    transport = httpx.ASGITransport(app)
    return open_product(tmp_path, clock=clock, transport=transport, **config)


async def test_a_late_cycle_is_skipped_and_never_stacked(tmp_path):
    clock = LoopClock()
    world, _ = make_world(clock)
    app = SlowGitHub(world, 25.0)
    config = {"watches": (ALL, ONE, BRANCH.replace("fix-greeting", "none"))}
    async with open_over(tmp_path, app, clock, **config) as product:
        loop = await run_loop(product, HOUR)

    assert app.most == 1
    assert len(app.begun_at) <= HOUR / 25
    assert loop.last_report.duration_ms > 2 * 25_000 - 1
    assert loop.last_report.failures == []


async def test_a_cycle_that_gets_nowhere_is_given_up_and_the_next_one_goes_on(tmp_path):
    clock = LoopClock()
    world, _ = make_world(clock)
    app = SlowGitHub(world, 0.0)
    config = {"watches": (ONE,), "poll": 'progress_deadline = "10s"'}
    async with open_over(tmp_path, app, clock, **config) as product:
        await run_loop(product, 90)
        app.seconds = HOUR
        stuck = await run_loop(product, 90)
        app.seconds = 0.0
        again = await run_loop(product, HOUR)

    assert [f.code for f in stuck.last_report.failures] == ["no_progress"]
    assert again.last_report.failures == []


async def test_each_request_of_one_pull_request_is_progress(tmp_path):
    clock = LoopClock()
    world, _ = make_world(clock)
    app = SlowGitHub(world, 8.0)
    poll = 'progress_deadline = "10s"\nread_path = "rest"'
    async with open_over(tmp_path, app, clock, watches=(ONE,), poll=poll) as product:
        loop = await run_loop(product, 90)

    assert len(app.begun_at) > 2
    assert loop.last_report.failures == []
