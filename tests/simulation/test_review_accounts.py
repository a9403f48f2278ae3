"""Accounts of the review queue: none waits for another, and each tells of its own."""

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.review_loop import ReviewLoop
from prwatch.app.guard.stragglers import PATIENCE_SECONDS
from prwatch.app.review.queue import ReviewQueue, SearchOrder
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.product import LoopClock, MovedClock, open_product
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    numbers,
    open_queue,
    read_watch,
    turn,
)

HANG = 10_000.0
MINUTE = 60.0
GOOD = "ghp_" + "g" * 36
SECOND = f'[[workspace]]\nname = "corp"\ntoken_env = "GOOD"\n{MINE}\ninterval = "60s"'
TWO = f'{MINE}\ninterval = "60s"\n{SECOND}'


class HangingGitHub:
    """Answers all tokens but one, which waits for `seconds`."""

    def __init__(self, world, seconds):
        self._app = GitHubApp(world)
        self.seconds = seconds
        self.under_way = 0

    async def __call__(self, scope, receive, send):
        value = dict(scope["headers"])[b"authorization"].decode().split()[-1]
        if value == DEFAULT_TOKEN:
            self.under_way += 1
            try:
                await anyio.sleep(self.seconds)
            finally:
                self.under_way -= 1
        await self._app(scope, receive, send)


class TestSlowAccount:
    """The loop in the daemon, over hours that pass at once."""

    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})

    @pytest.fixture
    async def stage(self, tmp_path):
        clock = LoopClock()
        world = World(clock)
        world.add_repository("octo/hello")
        world.set_token(GOOD, login="bob")
        app = HangingGitHub(world, HANG)
        async with open_product(
            tmp_path,
            clock=clock,
            transport=httpx.ASGITransport(app),
            secrets={"GOOD": GOOD},
            watches=(),
            tasks=TWO,
        ) as product:
            yield product, app, world

    async def run_loop(self, product, seconds):
        registry = LoopRegistry(product.clock)
        loop = ReviewLoop(product.runtime, registry)
        registry.begin_run(loop.name, loop.deadline)
        with anyio.move_on_after(seconds):
            await loop.run(lambda: None)
        return loop

    def find_times(self, product, workspace):
        rows = product.ask(
            "SELECT events.time FROM events"
            " INNER JOIN workspaces ON workspaces.id = events.workspace_id"
            " WHERE workspaces.name = ? ORDER BY 1",
            workspace,
        )
        start = product.clock.now().timestamp() - product.clock.monotonic()
        return [row["time"] / 1e6 - start for row in rows]

    async def test_one_that_hangs_delays_no_other(self, stage):
        product, app, world = stage
        ask(world, 1, "bob")
        async with anyio.create_task_group() as group:
            group.start_soon(self.run_loop, product, 20 * MINUTE)
            await anyio.sleep(10 * MINUTE)
            ask(world, 2, "bob")
        first, second = self.find_times(product, "corp")

        assert first <= PATIENCE_SECONDS
        assert second <= 11 * MINUTE + PATIENCE_SECONDS
        assert self.find_times(product, "acme") == []
        assert app.under_way == 0

    async def test_what_a_slow_one_found_is_told_and_counted(self, stage):
        product, app, world = stage
        app.seconds = PATIENCE_SECONDS * 2
        ask(world, 1)
        loop = await self.run_loop(product, 5 * MINUTE)

        assert len(self.find_times(product, "acme")) == 1
        assert loop.queue.counts.hits["created"] == 1
        assert loop.queue.counts.searches["complete"] > 1

    async def test_a_limit_is_waited_for_and_not_looked_at_each_second(self, stage):
        product, app, world = stage
        app.seconds = 0.0
        for login in ("octocat", "bob"):
            world.exhaust_rate_limit(login=login)
        loop = await self.run_loop(product, 30 * MINUTE)

        # The longest pause is half a minute; a wait of its own would be 1,800 turns.
        skipped = loop.queue.counts.skipped["limit"]
        assert 0 < skipped <= 2 * 2 * 30 + 4


async def test_all_accounts_are_searched_when_a_person_asks(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.set_token(GOOD, login="bob")
    ask(world, 1)
    ask(world, 2, "bob")
    async with open_queue(
        tmp_path, world, reviews=TWO, secrets={"GOOD": GOOD}
    ) as product:
        queue = ReviewQueue(product.runtime)
        report = await queue.run_once(SearchOrder(is_forced=True))
        one = await queue.run_once(SearchOrder(workspace="corp", is_forced=True))

    assert set(report.outcomes) == {("acme", "mine"), ("corp", "mine")}
    assert report.created == 2
    assert set(one.outcomes) == {("corp", "mine")}


async def test_each_watch_of_a_dead_token_says_so(tmp_path):
    world = World(MovedClock())
    reviews = f'{MINE}\n[[workspace.review]]\nname = "other"'
    async with open_queue(tmp_path, world, reviews=reviews, token="dead") as product:
        queue = ReviewQueue(product.runtime)
        report, _ = await turn(product, queue)
        watches = [await read_watch(product, name) for name in ("mine", "other")]
        with product.refused_writes():
            await turn(product, queue, gap=400.0)

    # A refused token is read anew and tried once more; no other watch asks.
    assert len(world.requests) == 2 * 2
    assert all(watch.last_error and watch.incomplete_since for watch in watches)
    assert len({watch.last_error for watch in watches}) == 1
    assert (report.skipped, len(report.failures)) == ({"account": 1}, 2)


class SwappingTransport(httpx.ASGITransport):
    """Replaces the token while it is asked something."""

    def __init__(self, world, act, on=b"Viewer"):
        super().__init__(GitHubApp(world))
        self.act = act
        self.on = on

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if self.on in request.content:
            await self.act()
        return response


@pytest.mark.parametrize("on", [b"Viewer", b"ReviewHits", b"ReviewFacts"])
async def test_a_token_that_changes_hands_meanwhile_finds_nothing_of_its_old_owner(
    tmp_path, on
):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.set_token(GOOD, login="bob")
    ask(world, 1)
    ask(world, 2, "bob")
    path = tmp_path / "token"
    path.write_text(DEFAULT_TOKEN)
    path.chmod(0o600)

    async def act():
        path.write_text(GOOD)
        accounts = product.runtime.wired.accounts
        (account,) = [a for a in accounts if a.workspaces[0].name == "two"]
        await account.github.credential.reload()

    transport = SwappingTransport(world, act, on)
    reviews = f'[[workspace]]\nname = "two"\ntoken_file = "{path}"\n{MINE}'
    async with open_queue(
        tmp_path / "state", world, reviews=reviews, transport=transport, token="dead"
    ) as product:
        queue = ReviewQueue(product.runtime)
        _, told = await turn(product, queue)
        _, later = await turn(product, queue)

    assert numbers([*told, *later]) == [2]
    assert [*told, *later][0]["data"]["requested"] == "bob"


async def test_a_token_of_somebody_else_is_searched_for_that_person(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.set_token(GOOD, login="bob")
    ask(world, 1)
    ask(world, 2, "bob")
    path = tmp_path / "token"
    path.write_text(DEFAULT_TOKEN)
    path.chmod(0o600)
    reviews = f'[[workspace]]\nname = "two"\ntoken_file = "{path}"\n{MINE}'
    async with open_queue(
        tmp_path / "state", world, reviews=reviews, token="dead"
    ) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        path.write_text(GOOD)
        accounts = product.runtime.wired.accounts
        (account,) = [a for a in accounts if a.workspaces[0].name == "two"]
        await account.github.credential.reload()
        _, second = await turn(product, queue)

    assert (numbers(first), numbers(second)) == ([1], [2])
    assert [e["data"]["requested"] for e in first + second] == ["octocat", "bob"]
