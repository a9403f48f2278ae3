"""The loop's own waking: as often as each reference wants it, and no oftener."""

import itertools
import statistics

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.simulator import GitHubApp
from tests.product import LoopClock, open_product
from tests.simulation.scenarios import make_world

HOUR = 3600.0


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class WatchedApp:
    """Notes when GitHub is asked."""

    def __init__(self, world, clock):
        self._app = GitHubApp(world)
        self._clock = clock
        self.asked_at = []

    async def __call__(self, scope, receive, send):
        self.asked_at.append(self._clock.monotonic())
        await self._app(scope, receive, send)


async def list_gaps(tmp_path, *, is_hot):
    """Return the seconds between the requests of one hour, first adoption left out."""
    clock = LoopClock()
    world, pull_request = make_world(clock)
    if is_hot:
        world.set_check(pull_request, "test", workflow="CI")
    app = WatchedApp(world, clock)
    transport = httpx.ASGITransport(app)
    async with open_product(
        tmp_path, world, clock=clock, transport=transport
    ) as product:
        registry = LoopRegistry(clock)
        loop = WatchLoop(product.runtime, registry)
        registry.begin_run(loop.name, loop.deadline)
        with anyio.move_on_after(HOUR):
            await loop.run(lambda: None)
    rounds = sorted({round(moment, 3) for moment in app.asked_at})
    return [later - earlier for earlier, later in itertools.pairwise(rounds)]


@pytest.mark.parametrize(
    ("is_hot", "interval"),
    [pytest.param(False, 60.0, id="base"), pytest.param(True, 15.0, id="checks run")],
)
async def test_a_reference_is_asked_at_its_interval_give_or_take_a_tenth(
    tmp_path, is_hot, interval
):
    gaps = await list_gaps(tmp_path, is_hot=is_hot)

    probing = [gap for gap in gaps if gap > 0.5]
    assert min(probing) >= interval * 0.9
    assert max(probing) <= interval * 1.1
    assert statistics.mean(probing) == pytest.approx(interval, rel=0.03)
