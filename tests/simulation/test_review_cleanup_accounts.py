"""Nobody's cleaning up waits for an account that hangs, or a login that fails."""

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.daemon.cleanup_loop import CleanupLoop
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.guard.stragglers import PATIENCE_SECONDS
from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_cleanup import CYCLE
from prwatch.simulator import DEFAULT_TOKEN, Fault, GitHubApp, World
from tests.cleanup import MINE, ask, sweep, tasks, verdicts
from tests.product import LoopClock, MovedClock, open_product

JUMPING = ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})
WORKSPACES = 3


class HangingGitHub:
    """Lets one token wait for `seconds` once it reads for cleaning up."""

    def __init__(self, world, clock):
        self._app = GitHubApp(world)
        self._clock = clock
        self.seconds = 0.0
        self.asked = {}
        self.under_way = 0
        self.most = 0

    async def __call__(self, scope, receive, send):
        token = dict(scope["headers"])[b"authorization"].decode().split()[-1]
        self.asked.setdefault(token, []).append(self._clock.monotonic())
        if token == DEFAULT_TOKEN:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            try:
                await anyio.sleep(self.seconds)
            finally:
                self.under_way -= 1
        await self._app(scope, receive, send)


@pytest.mark.parametrize("anyio_backend", [JUMPING], ids=["virtual"])
async def test_the_others_are_swept_on_time_while_one_hangs(tmp_path, anyio_backend):
    clock = LoopClock()
    world = World(clock)
    world.add_repository("octo/hello")
    ones = [ask(world, number) for number in range(1, WORKSPACES + 1)]
    secrets, text = {}, f'{MINE}\nquery = "topic-1"'
    for number in range(2, WORKSPACES + 1):
        token = f"ghp_{number}" + "x" * 35
        world.set_token(token, login="octocat")
        secrets[f"TOKEN_{number}"] = token
        text += (
            f'\n[[workspace]]\nname = "w{number}"\ntoken_env = "TOKEN_{number}"\n{MINE}'
            f'\nquery = "topic-{number}"'
        )
    app = HangingGitHub(world, clock)
    async with open_product(
        tmp_path,
        clock=clock,
        transport=httpx.ASGITransport(app),
        watches=(),
        tasks=text,
        secrets=secrets,
    ) as product:
        await ReviewQueue(product.runtime).run_once()
        before = len(tasks(product))
        registry = LoopRegistry(clock)
        loop = CleanupLoop(product.runtime, registry)
        registry.begin_run(loop.name, loop.deadline)
        for one in ones:
            world.merge(one)
        app.seconds, app.asked, app.most = 10_000.0, {}, 0
        begun = clock.monotonic()
        with anyio.move_on_after(3000):
            await loop.run(lambda: None)
        swept = [
            [at - begun for at in times]
            for token, times in app.asked.items()
            if token != DEFAULT_TOKEN
        ]

    patience = CYCLE.total_seconds() + PATIENCE_SECONDS
    assert before == WORKSPACES
    # The others' work was seen done in the first sweep, and went in the second.
    assert len(swept) == WORKSPACES - 1
    assert all(times[0] <= 1 and times[-1] <= patience + 1 for times in swept)
    assert loop.cleanup.deleted == WORKSPACES - 1
    assert app.most == 1


async def test_a_login_that_cannot_be_told_starves_no_other(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    for number in range(1, 251):
        ask(world, number)
    theirs = ask(world, 300, reviewer="bob")
    text = f'{MINE}\n[[workspace.review]]\nname = "b"\ntarget_login = "bob"'
    async with open_product(tmp_path, world, watches=(), tasks=text) as product:
        await ReviewQueue(product.runtime).run_once()
        cleanup = ReviewCleanup(product.runtime)
        world.merge(theirs)
        world.faults.add(Fault(kind="html503", match="Viewer", times=None))
        reports = [await sweep(product, cleanup, gap=3600.0) for _ in range(3)]
        gone = sum(report.deleted for report in reports)

    assert verdicts(reports[0]) == {"skipped": 251}
    assert verdicts(reports[1]) == {"skipped": 250, "seen_done": 1}
    assert gone == 1
