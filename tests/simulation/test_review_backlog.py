"""What is told as backlog, which hits are read again, and what is told of the rest."""

import httpx
import pytest

from prwatch.app.review.queue import ReviewQueue
from prwatch.domain.review_watch import IncompleteReason
from prwatch.simulator import GitHubApp, World
from prwatch.simulator.faults import Fault
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    MINE,
    TEAMS,
    BrokenPlace,
    ask,
    numbers,
    open_queue,
    read_watch,
    turn,
)

DAY = 86_400.0
TWO_PLACES = f'{MINE}\nrepositories = ["octo/hello", "octo/other"]'


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


def is_backlog(told):
    return [each["data"]["backlog"] for each in told]


def hide(world, *numbers):
    return world.faults.add(
        Fault(kind="partial_not_found", numbers=numbers, times=None)
    )


async def test_a_hit_that_cannot_be_read_keeps_no_request_in_the_backlog(
    tmp_path, world
):
    for number in (1, 2):
        ask(world, number)
    fault = hide(world, 1)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        _, first = await turn(product, queue)
        ask(world, 3)
        _, second = await turn(product, queue)
        world.faults.remove(fault)
        _, third = await turn(product, queue)

    assert [numbers(each) for each in (first, second, third)] == [[2], [3], [1]]
    assert [is_backlog(each) for each in (first, second, third)] == [
        [True],
        [False],
        [False],
    ]


async def test_what_could_not_be_read_is_named_with_the_reason_once(tmp_path, world):
    for number in range(1, 6):
        ask(world, number)
    hide(world, 1, 2, 3, 4, 5)
    async with open_queue(tmp_path, world) as product:
        queue = ReviewQueue(product.runtime)
        report, _ = await turn(product, queue)
        watch = await read_watch(product)
        with product.refused_writes():
            await turn(product, queue)

    (outcome,) = report.outcomes.values()
    assert (outcome.unread, outcome.error, report.failures) == (5, None, [])
    assert watch.incomplete_reason is IncompleteReason.UNREAD
    assert "octo/hello#1 could not be read: " in watch.last_error
    assert watch.last_error.endswith("; and 2 more")


async def test_backlog_ends_with_the_second_search_of_a_watch_that_is_a_day_old(
    tmp_path, world
):
    transport = BrokenPlace(world, b"octo/other")
    told = []
    async with open_queue(
        tmp_path, world, reviews=TWO_PLACES, transport=transport
    ) as product:
        queue = ReviewQueue(product.runtime)
        for number, gap in enumerate((60.0, 7200.0, DAY, 7200.0), start=1):
            ask(world, number)
            told.append((await turn(product, queue, gap=gap))[1])
            watch = await read_watch(product)
            told[-1] = (is_backlog(told[-1]), watch.backlog_done_at is not None)

    assert told == [
        ([True], False),
        ([True], False),
        ([True], True),
        ([False], True),
    ]


async def test_the_first_search_of_a_process_ends_no_backlog_by_age(tmp_path, world):
    transport = BrokenPlace(world, b"octo/other")
    for number in (1, 2):
        ask(world, number)
        async with open_queue(
            tmp_path, world, reviews=TWO_PLACES, transport=transport
        ) as product:
            _, told = await turn(product, gap=2 * DAY)
            watch = await read_watch(product)
        assert (is_backlog(told), watch.backlog_done_at) == ([True], None)


@pytest.mark.parametrize("reviews", [MINE, TEAMS])
async def test_a_hit_that_ended_is_not_read_again_until_it_changes(
    tmp_path, world, reviews
):
    one = ask(world, 1)
    world.submit_review(one, "octocat")
    reviews = f'{reviews}\nquery = "repo:octo/hello"\ninterval = "60s"'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue, gap=600.0)
        costs, before = [], len(world.requests)
        for _ in range(5):
            report, _ = await turn(product, queue, gap=60.0)
            costs.append(len(world.requests) - before)
            before = len(world.requests)
        world.request_review(one, "octocat")
        _, told = await turn(product, queue, gap=60.0)

    (outcome,) = report.outcomes.values()
    assert (costs, outcome.ended, outcome.is_complete) == ([1] * 5, 1, True)
    assert numbers(told) == [1]


async def test_a_hit_that_ended_is_read_again_after_a_while(tmp_path, world):
    one = ask(world, 1)
    world.submit_review(one, "octocat")
    reviews = f'{MINE}\nquery = "repo:octo/hello"'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue, gap=600.0)
        moved = one.updated_at
        world.request_review(one, "octocat")
        one.updated_at = moved  # a change that no update time shows
        told = [numbers((await turn(product, queue, gap=1800.0))[1]) for _ in "ab"]

    assert told == [[], [1]]


async def test_a_hit_that_was_cleaned_away_is_read_again_once_it_is_reopened(
    tmp_path, world
):
    one = ask(world, 1)
    world.close(one)
    reviews = f'{MINE}\nquery = "repo:octo/hello"'
    async with open_queue(tmp_path, world, reviews=reviews) as product:
        queue = ReviewQueue(product.runtime)
        for _ in range(3):
            _, silent = await turn(product, queue)
        world.reopen(one)
        _, told = await turn(product, queue)

    assert (silent, numbers(told)) == ([], [1])


class Lagging(httpx.ASGITransport):
    """Lets something happen after each search, which its index does not know yet."""

    def __init__(self, world, act):
        super().__init__(GitHubApp(world))
        self.act = act

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if b"ReviewHits" in request.content and self.act is not None:
            self.act()
        return response


@pytest.mark.parametrize(
    ("query", "found"), [("", []), ('query = "repo:octo/hello"', [1])]
)
async def test_what_is_asked_no_more_makes_nothing_where_requests_are_searched_for(
    tmp_path, world, query, found
):
    one = ask(world, 1)
    transport = Lagging(
        world,
        lambda: world.submit_review(one, "octocat", state="CHANGES_REQUESTED"),
    )
    async with open_queue(
        tmp_path, world, reviews=f"{MINE}\n{query}", transport=transport
    ) as product:
        queue = ReviewQueue(product.runtime)
        report, told = await turn(product, queue)
        transport.act = None
        world.request_review(one, "octocat")
        _, again = await turn(product, queue)

    (outcome,) = report.outcomes.values()
    assert (numbers(told), outcome.unasked) == (found, 1 - len(found))
    assert numbers(told + again) == [1]
