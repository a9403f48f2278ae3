"""A checks state that comes back is told once it stays: by all ways of looking."""

import pytest

from tests.product import MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

READ_PATHS = ("graphql", "rest")
FEEDBACK = "GitHubPRFeedback"
SOON = 25.0
"""Seconds: longer than a verdict takes to settle."""


def finish(world, pull_request, conclusion):
    world.set_check(pull_request, "test", workflow="CI", conclusion=conclusion)


def poll(read_path):
    return f'read_path = "{read_path}"'


async def flap(world, pull_request, look):
    """Let the checks fail and pass again on one head; return what each look told."""
    finish(world, pull_request, "SUCCESS")
    told = [await look(60.0)]
    finish(world, pull_request, "FAILURE")
    told.append(await look(60.0))
    finish(world, pull_request, "SUCCESS")
    told.append(await look(60.0))
    return [*told, *[await look(SOON) for _ in range(4)]]


EXPECTED = [
    [],
    [(("checks", "success", "failure"),)],
    [],
    [(("checks", "failure", "success"),)],
    [],
    [],
    [],
]


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_a_state_that_came_back_is_told_at_the_second_look(tmp_path, read_path):
    world, pull_request = make_world(MovedClock())
    async with open_product(tmp_path, world, poll=poll(read_path)) as product:

        async def look(gap):
            return list_changes(await product.cycle(gap=gap), FEEDBACK)

        told = await flap(world, pull_request, look)

    assert told == EXPECTED


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_it_is_told_also_when_each_look_is_a_run_of_its_own(tmp_path, read_path):
    world, pull_request = make_world(MovedClock())

    async def look(gap):
        config = {"poll": poll(read_path), "seed": int(world.clock.monotonic())}
        async with open_product(tmp_path, world, **config) as product:
            return list_changes(await product.cycle(gap=gap), FEEDBACK)

    assert await flap(world, pull_request, look) == EXPECTED


@pytest.mark.parametrize("read_path", READ_PATHS)
async def test_a_flap_ends_quietly_with_the_state_that_people_know(tmp_path, read_path):
    world, pull_request = make_world(MovedClock())
    finish(world, pull_request, "SUCCESS")
    async with open_product(tmp_path, world, poll=poll(read_path)) as product:
        await product.cycle()
        for conclusion in ("FAILURE", "SUCCESS", "FAILURE"):
            finish(world, pull_request, conclusion)
            await product.cycle(gap=SOON)
        quiet = await product.cycles(8, gap=SOON)
        row = product.ask("SELECT checks, revision FROM pr_watches")

    assert list_changes(quiet) == []
    assert row == [{"checks": "failure", "revision": 4}]
