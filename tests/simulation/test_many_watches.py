"""More watches than one slice of a walk holds: each is probed once, none is left out."""

import httpx
import pytest

from prwatch.app.walk.probe_walk import SLICE
from prwatch.simulator import GitHubApp, World
from tests.product import ALL, MovedClock, list_changes, open_product

COUNT = SLICE + 150


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_each_of_more_than_a_slice_is_probed_once_a_cycle(tmp_path):
    world = World(MovedClock())
    world.limits = dict.fromkeys(world.limits, 10**6)
    world.add_repository("octo/hello")
    opened = world.open_many("octo/hello", COUNT)
    transport = httpx.ASGITransport(GitHubApp(world))

    sink = '[[sink]]\nname = "out"\nkind = "stdout"\nevents = ["GitHubPRFeedback"]'
    options = {"transport": transport, "watches": [ALL], "sinks": sink}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle(gap=5)
        with product.refused_writes():
            await product.cycle(gap=5)
        quiet = product.report
        world.set_check(opened[0], "test", conclusion="FAILURE")
        world.set_check(opened[-1], "test", conclusion="FAILURE")
        told = await product.cycles(3, gap=20)

    probed = COUNT - 100
    assert quiet.failures == []
    assert len(quiet.references) == probed + 1
    assert quiet.usage.points == 1 + -(-SLICE // 100) + -(-(probed - SLICE) // 100)
    assert list_changes(told, "GitHubPRFeedback") == [
        (("checks", "none", "failure"),),
        (("checks", "none", "failure"),),
    ]
