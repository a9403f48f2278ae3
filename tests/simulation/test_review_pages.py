"""What happens between the pages of a search, and hits of every hostile kind."""

import json

import anyio
import httpx
import pytest

from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_search import MAX_QUERY
from prwatch.simulator import GitHubApp, World
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    list_tasks,
    numbers,
    open_queue,
    read_watch,
    turn,
)

PAGE = 100


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


class BetweenPages(httpx.ASGITransport):
    """Does something after each page of a search, as long as there is something."""

    def __init__(self, world, *acts):
        super().__init__(GitHubApp(world))
        self.acts = list(acts)
        self.pages = 0

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if b"ReviewHits" in request.content:
            self.pages += 1
            if self.acts:
                await self.acts.pop(0)()
        return response


async def test_what_slips_between_two_pages_is_found_by_the_next_search(
    tmp_path, world
):
    made = [ask(world, number) for number in range(1, 2 * PAGE + 1)]

    async def act():
        # The newest stand on the first page: the second one moves up by two.
        world.close(made[-1])
        world.close(made[-2])

    transport = BetweenPages(world, act)
    async with open_queue(tmp_path, world, transport=transport) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        _, second = await turn(product, queue)

    assert len(first) < 2 * PAGE - 2
    assert sorted(numbers(first + second)) == list(range(1, 2 * PAGE - 1))


async def test_what_comes_between_two_pages_is_taken_up_once(tmp_path, world):
    for number in range(1, 2 * PAGE + 1):
        ask(world, number)

    async def act():
        ask(world, 2 * PAGE + 1)

    transport = BetweenPages(world, act)
    async with open_queue(tmp_path, world, transport=transport) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        _, second = await turn(product, queue)

    assert sorted(numbers(first + second)) == list(range(1, 2 * PAGE + 2))


async def test_a_stop_between_two_pages_leaves_nothing_half_done(tmp_path, world):
    for number in range(1, 2 * PAGE + 1):
        ask(world, number)
    transport = BetweenPages(world, anyio.sleep_forever)
    async with open_queue(tmp_path, world, transport=transport) as product:
        with anyio.move_on_after(0.5):
            await turn(product)
        assert list_tasks(product) == []
        watch = await read_watch(product)
    async with open_queue(tmp_path, world) as product:
        _, told = await turn(product)

    assert (transport.pages, watch.backlog_done_at) == (1, None)
    assert {each["data"]["backlog"] for each in told} == {True}
    assert len(told) == 2 * PAGE


@pytest.mark.parametrize("count", [0, 1, PAGE, 999])
async def test_as_many_as_there_are_become_tasks(tmp_path, world, count):
    for number in range(1, count + 1):
        ask(world, number)
    async with open_queue(tmp_path, world) as product:
        report, told = await turn(product)
        watch = await read_watch(product)

    assert len(told) == count
    assert [each.is_complete for each in report.outcomes.values()] == [True]
    assert watch.backlog_done_at is not None


@pytest.mark.parametrize(
    "title",
    [
        "\x1b[31mred\x07",
        "\u202eright to left\u2066",
        "'; DROP TABLE tasks; --",
        '{"json": [1, 2]}\n[[workspace]]',
        "\U0001d56c \U0001f469\u200d\U0001f680 ﷽",
        "x" * 100_000,
        "",
    ],
    ids=["escape", "bidi", "sql", "lines", "wide", "long", "empty"],
)
async def test_a_title_of_any_kind_is_a_title(tmp_path, world, title):
    world.retitle(ask(world, 1), title)
    async with open_queue(tmp_path, world) as product:
        _, (event,) = await turn(product)
        (task,) = list_tasks(product)

    assert (event["data"]["pull_request"]["title"], task["title"]) == (title, title)


async def test_the_longest_query_is_asked_as_it_is(tmp_path, world):
    ask(world, 1)
    query = "repo:octo/hello topic".ljust(MAX_QUERY - len("is:pr ") - 2) + " 1"
    reviews = f"{MINE}\nquery = {json.dumps(query)}"
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        _, told = await turn(product)

    assert len(query) + len("is:pr ") == MAX_QUERY
    assert numbers(told) == [1]
