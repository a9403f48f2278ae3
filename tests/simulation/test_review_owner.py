"""A token that changes hands: what its old owner approved removes nothing."""

import contextlib
import dataclasses

import httpx
import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from tests.cleanup import ME, MINE, ask, sweep, tasks, verdicts
from tests.product import MovedClock, open_product

BOB = "ghp_" + "b" * 36
NAME = "review:octo/hello#1"
MINES = '[[workspace.watch]]\nrepository = "octo/hello"\nauthor = "@me"'


class Acting(httpx.ASGITransport):
    """Lets something happen before or after GitHub answers requests of one kind."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.before, self.after = {}, {}

    async def handle_async_request(self, request):
        await self._act(self.before, request)
        response = await super().handle_async_request(request)
        await self._act(self.after, request)
        return response

    async def _act(self, acts, request):
        for kind in list(acts):
            if kind in request.content:
                await acts.pop(kind)()


class Hands:
    """A token file that goes from octocat to bob, and a product that reads it."""

    def __init__(self, tmp_path, world):
        self.world = world
        self.path = tmp_path / "token"
        self.path.write_text(DEFAULT_TOKEN)
        self.path.chmod(0o600)
        self.transport = Acting(world)
        world.set_token(BOB, login="bob")

    @contextlib.asynccontextmanager
    async def open(self, tmp_path, text=MINE):
        text = f'[[workspace]]\nname = "two"\ntoken_file = "{self.path}"\n{text}'
        async with open_product(
            tmp_path / "state",
            self.world,
            watches=(),
            tasks=text,
            transport=self.transport,
        ) as product:
            (self.account,) = [
                each
                for each in product.runtime.wired.accounts
                if each.workspaces[0].name == "two"
            ]
            await ReviewQueue(product.runtime).run_once()
            assert tasks(product) == [NAME]
            yield product

    def swap(self):
        """Give the file to bob; the program has octocat's token still."""
        self.path.write_text(BOB)

    async def replace(self):
        """Give the file to bob, and let the program read it."""
        self.swap()
        assert await self.account.github.credential.reload()

    def revoke(self):
        """Let GitHub refuse octocat's, so that the program reads the file again."""
        self.swap()
        self.world.revoke_token(DEFAULT_TOKEN)


class ActingDatabase:
    """Lets something happen just before a task is removed."""

    def __init__(self, database, act):
        self._database = database
        self._act = act

    async def transact(self, fn):
        if fn.__qualname__.startswith("remove_done"):
            await self._act()
        return await self._database.transact(fn)

    def __getattr__(self, name):
        return getattr(self._database, name)


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


@pytest.fixture
def one(world):
    return ask(world)


@pytest.fixture
def hands(tmp_path, world, one):
    return Hands(tmp_path, world)


async def test_what_polling_knew_of_the_old_owner_is_not_believed(
    tmp_path, hands, world, one
):
    async with hands.open(tmp_path, f"{MINES}\n{MINE}") as product:
        await product.cycle()
        assert hands.account.viewer.login == ME
        world.submit_review(one, ME)
        hands.revoke()
        cleanup = ReviewCleanup(product.runtime)
        # Polling does not come by: it would notice the new token itself.
        reports = [await sweep(product, cleanup) for _ in range(4)]

        assert hands.account.github.credential.generation == 2
        assert [report.deleted for report in reports] == [0] * 4
        assert NAME in tasks(product)


async def test_a_login_is_asked_for_anew_with_each_token(tmp_path, hands, world, one):
    async with hands.open(tmp_path) as product:
        cleanup = ReviewCleanup(product.runtime)
        world.submit_review(one, ME)
        first = await sweep(product, cleanup)
        await hands.replace()
        reports = [await sweep(product, cleanup) for _ in range(3)]
        world.submit_review(one, "bob")
        gone = [await sweep(product, cleanup) for _ in range(2)]

        assert verdicts(first) == {"seen_done": 1}
        assert verdicts(reports[0]) == {"reopened": 1}
        assert {"open": 1} == verdicts(reports[1]) == verdicts(reports[2])
        assert [verdicts(each) for each in gone] == [{"seen_done": 1}, {"deleted": 1}]


@pytest.mark.parametrize("place", ["before", "after"])
async def test_a_token_that_is_replaced_in_a_reading_removes_nothing(
    tmp_path, hands, world, one, place
):
    async with hands.open(tmp_path) as product:
        cleanup = ReviewCleanup(product.runtime)
        world.submit_review(one, ME)
        await sweep(product, cleanup)
        getattr(hands.transport, place)[b"ReviewEnds"] = hands.replace
        report = await sweep(product, cleanup)
        later = await sweep(product, cleanup)

        assert (verdicts(report), report.failures) == ({"skipped": 1}, [])
        assert "replaced" in report.findings[0].reason
        assert verdicts(later) == {"reopened": 1}
        assert tasks(product) == [NAME]


async def test_a_token_that_is_replaced_before_the_deletion_stops_it(
    tmp_path, hands, world, one
):
    async with hands.open(tmp_path) as product:
        database = ActingDatabase(product.runtime.database, hands.replace)
        runtime = dataclasses.replace(product.runtime, database=database)
        cleanup = ReviewCleanup(runtime)
        world.submit_review(one, ME)
        await sweep(product, cleanup)
        report = await sweep(product, cleanup)

        assert (verdicts(report), report.deleted) == ({"changed": 1}, 0)
        assert tasks(product) == [NAME]
        assert product.ask("SELECT * FROM review_audit") == []


async def test_a_merge_counts_for_whoever_has_the_token(tmp_path, hands, world, one):
    async with hands.open(tmp_path) as product:
        cleanup = ReviewCleanup(product.runtime)
        world.merge(one)
        await sweep(product, cleanup)
        await hands.replace()
        report = await sweep(product, cleanup)

        assert verdicts(report) == {"deleted": 1}
