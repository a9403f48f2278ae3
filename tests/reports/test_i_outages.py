"""Reports about outages and silence: what goes on meanwhile, and afterwards."""

import datetime as dt
import re

import anyio
import httpx
import pytest
import trio.testing

from prwatch.simulator import GitHubApp, World
from tests.product import LoopClock, MovedClock, list_changes, open_product
from tests.reports.acts import draft, end_faults, fail_from_now
from tests.reports.stage import PATHS, configure

HOUR = 3_600


def by_number(world):
    return [
        f'repository = "octo/hello"\npull_request = {one.number}'
        for one in world.pull_requests.values()
    ]


# chdsbd/kodiak#899


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("kind", ["html503", "html502", "json500", "reset", "not_json"])
@pytest.mark.parametrize("hours", [1, 8])
async def test_i19_after_an_outage_everything_goes_on_within_one_backoff(
    tmp_path, kind, hours, read_path
):
    world = World(MovedClock())
    watches = []
    for number in range(5):
        world.add_repository(f"octo/r{number}")
        world.open_pull_request(f"octo/r{number}", branch="topic", number=1)
        watches.append(f'repository = "octo/r{number}"\npull_request = 1')
    options = {"watches": watches, **configure(read_path)}
    first = next(iter(world.pull_requests.values()))
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        fail_from_now(kind)(world, first)
        ends_at = world.clock.now() + dt.timedelta(hours=hours)
        lost = []
        while world.clock.now() < ends_at:
            lost += await product.cycle(gap=60, is_forced=False)
        end_faults(world, first)
        for one in world.pull_requests.values():
            draft(world, one)
        # The longest backoff is ten minutes and a quarter more.
        told = await product.cycles(14, gap=60, is_forced=False)

    assert lost == []
    assert list_changes(told) == [(("is_draft", False, True),)] * 5


class JumpingClock(LoopClock):
    """The loop's time, which no cycle moves."""

    def advance(self, seconds):
        pass


class TestSilence:
    """Calls that hang, on time of the loop's own that jumps over every wait."""

    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})

    # indexable-inc/index#2149, misospace/pr-reviewer-action#663

    @pytest.mark.parametrize(
        ("read_path", "silent"),
        [
            pytest.param("rest", r"/pulls/7$", id="I14 one of fifty"),
            pytest.param("rest", r"/pulls/50$", id="I14 the last of fifty"),
            pytest.param("rest", r"/pulls/1/reviews", id="I14 a part of the first"),
            pytest.param("graphql", "", id="I15 all of them"),
            pytest.param("rest", "", id="I15 all of them through REST"),
        ],
    )
    async def test_a_call_without_an_answer_is_given_up_and_the_rest_goes_on(
        self, tmp_path, read_path, silent
    ):
        clock = JumpingClock()
        world = World(clock)
        world.add_repository("octo/hello")
        opened = world.open_many("octo/hello", 50, prefix="topic-")
        github = SilentGitHub(world)
        options = {"watches": by_number(world), "transport": github}
        options |= configure(read_path)
        async with open_product(tmp_path, world, clock=clock, **options) as product:
            await product.cycle(gap=0)
            for one in opened:
                draft(world, one)
            github.silent = silent
            began = clock.monotonic()
            told = await product.cycle(gap=0)
            took = clock.monotonic() - began
            github.silent = None
            await anyio.sleep(HOUR)
            told += await product.cycle(gap=0)

        assert took <= 120
        assert list_changes(told) == [(("is_draft", False, True),)] * 50


class SilentGitHub(httpx.ASGITransport):
    """Never answers what matches `silent`; None is nothing, '' is everything."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.silent = None

    async def handle_async_request(self, request):

        if self.silent is not None and re.search(self.silent, request.url.path):
            await anyio.sleep_forever()
        return await super().handle_async_request(request)
