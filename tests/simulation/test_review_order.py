"""What is told of one review reaches a sink in the order in which it happened."""

import json

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.review.queue import ReviewQueue
from prwatch.simulator import World
from tests.cleanup import CYCLE, ME, ask, sweep
from tests.product import OUT, MovedClock, open_product

MINE = '[[workspace.review]]\nname = "mine"\npolicy = "always"'


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


async def relay(product):
    for each in product.runtime.relays:
        await each.run_once()


def read_types(path):
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return [event["type"] for event in events]


async def test_a_sink_that_failed_hears_the_end_of_a_review_after_its_beginning(
    tmp_path, world
):
    path = tmp_path / "mounted" / "told.jsonl"
    sink = OUT.replace("stdout", f'jsonl"\npath = "{path}')
    one = ask(world)
    async with open_product(
        tmp_path, world, watches=(), tasks=MINE, sinks=sink
    ) as product:
        queue, cleanup = ReviewQueue(product.runtime), ReviewCleanup(product.runtime)
        await queue.run_once()
        world.submit_review(one, ME)
        seen = (await sweep(product, cleanup)).deleted
        product.clock.advance(CYCLE)
        await relay(product)
        path.parent.mkdir()
        removed = (await sweep(product, cleanup, gap=0.0)).deleted
        world.request_review(one, ME)
        found = (await queue.run_once()).created
        await relay(product)
        is_early = path.exists()
        product.clock.advance(CYCLE)
        await relay(product)

    assert (seen, removed, found, is_early) == (0, 1, 1, False)
    assert read_types(path) == [
        "GitHubPRReviewRequested",
        "GitHubPRReviewTaskDeleted",
        "GitHubPRReviewRequested",
    ]
