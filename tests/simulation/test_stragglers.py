"""An account that is slow, or does not answer at all, keeps nobody else waiting."""

import itertools

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.guard.stragglers import PATIENCE_SECONDS
from prwatch.domain.circuit import CircuitKind
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.product import ONE, LoopClock, open_product

WORKSPACES = 10
HANG = 10_000.0
MINUTE = 60.0


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class HangingGitHub:
    """Answers all tokens but one, which waits for `seconds`."""

    def __init__(self, world, clock):
        self._app = GitHubApp(world)
        self._clock = clock
        self.seconds = 0.0
        self.asked = {}
        """When each token asked."""
        self.under_way = 0
        self.most = 0

    async def __call__(self, scope, receive, send):
        value = dict(scope["headers"])[b"authorization"].decode().split()[-1]
        self.asked.setdefault(value, []).append(self._clock.monotonic())
        if value != DEFAULT_TOKEN:
            await self._app(scope, receive, send)
            return
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await anyio.sleep(self.seconds)
            await self._app(scope, receive, send)
        finally:
            self.under_way -= 1


@pytest.fixture
async def stage(tmp_path):
    clock = LoopClock()
    world = World(clock)
    world.add_repository("octo/hello")
    pull_request = world.open_pull_request("octo/hello", branch="fix", number=12)
    app = HangingGitHub(world, clock)
    secrets, tables = {}, []
    for number in range(1, WORKSPACES):
        token = f"ghp_{number}" + "x" * 35
        world.set_token(token, login=f"user-{number}")
        secrets[f"TOKEN_{number}"] = token
        tables.append(
            f'[[workspace]]\nname = "w{number}"\ntoken_env = "TOKEN_{number}"\n\n'
            f"[[workspace.watch]]\n{ONE}"
        )
    async with open_product(
        tmp_path,
        clock=clock,
        transport=httpx.ASGITransport(app),
        secrets=secrets,
        tasks="\n\n".join(tables),
    ) as product:
        yield product, app, world, pull_request


async def run_loop(product, seconds, on_report=lambda _: None):
    registry = LoopRegistry(product.clock)
    loop = WatchLoop(product.runtime, registry, on_report=on_report)
    registry.begin_run(loop.name, loop.deadline)
    with anyio.move_on_after(seconds):
        await loop.run(lambda: None)
    return loop


def list_gaps(app, since):
    """List the longest time between two questions of each good token."""
    gaps = []
    for token, moments in app.asked.items():
        if token != DEFAULT_TOKEN:
            late = [moment for moment in moments if moment >= since]
            gaps.append(max(b - a for a, b in itertools.pairwise(late)))
    return gaps


async def test_nine_are_asked_on_time_while_one_hangs(stage):
    product, app, _, _ = stage
    await run_loop(product, 3 * MINUTE)
    app.seconds = HANG
    begun = product.clock.monotonic()
    reports = []
    loop = await run_loop(product, 30 * MINUTE, reports.append)

    # No cycle waits for the one that hangs until its requests are given up.
    assert max(report.duration_ms for report in reports) <= PATIENCE_SECONDS * 1000
    # The base interval with its jitter, and the time a cycle waits for the slowest.
    assert max(list_gaps(app, begun)) <= MINUTE * 1.1 + 15
    assert len(list_gaps(app, begun)) == WORKSPACES - 1
    assert app.most == 1
    assert loop.last_report.failed_workspaces == {"acme"}
    kinds = {key.kind for key, _ in product.runtime.circuits.items()}
    assert kinds == {CircuitKind.WORKSPACE}


async def test_what_a_late_walk_did_is_counted_in_a_later_cycle(stage):
    product, app, world, pull_request = stage
    reports = []
    app.seconds = 8.0
    registry = LoopRegistry(product.clock)
    loop = WatchLoop(product.runtime, registry, on_report=reports.append)
    registry.begin_run(loop.name, loop.deadline)
    with anyio.move_on_after(3 * MINUTE):
        await loop.run(lambda: None)
    world.mark_draft(pull_request)
    with anyio.move_on_after(3 * MINUTE):
        await loop.run(lambda: None)

    told = sum(report.events_by_type["GitHubTaskPRUpdated"] for report in reports)
    assert told == 2 * WORKSPACES
    assert all(report.failures == [] for report in reports)


async def test_a_walk_that_is_under_way_ends_with_its_loop(stage):
    product, app, _, _ = stage
    app.seconds = HANG
    await run_loop(product, 10.0)

    assert app.under_way == 0
    assert product.runtime.stragglers is None
