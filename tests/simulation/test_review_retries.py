"""When a search that failed is made again, and how often a dead host is asked."""

import httpx
import pytest

from prwatch.app.guard.admission import host_key
from prwatch.app.review.queue import ReviewQueue, SearchOrder
from prwatch.domain.circuit import Cause
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import DEFAULT_TOKEN, GitHubApp, World
from prwatch.simulator.faults import Fault
from tests.product import MovedClock
from tests.simulation.test_review_queue import (
    MINE,
    ask,
    numbers,
    open_queue,
    read_watch,
    turn,
)

DAY = 'interval = "24h"'
THREE = f"{MINE}\n{DAY}\n" + "".join(
    f'[[workspace.review]]\nname = "{name}"\nquery = "is:open label:{name}"\n{DAY}\n'
    for name in ("one", "two")
)
PLACES = ", ".join(f'"octo/r{number}"' for number in range(5))
TEN = "".join(
    f'[[workspace.review]]\nname = "w{number}"\nrepositories = [{PLACES}]\n'
    for number in range(10)
)


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


class Broken(httpx.ASGITransport):
    """Answers requests with a word in them like this, while it is broken."""

    def __init__(self, world, answer, word=b"ReviewHits"):
        super().__init__(GitHubApp(world))
        self.answer, self.word = answer, word
        self.is_broken = True
        self.asked = 0

    async def handle_async_request(self, request):
        if self.is_broken and self.word in request.content:
            self.asked += 1
            return httpx.Response(request=request, **self.answer)
        return await super().handle_async_request(request)


BAD = {"status_code": 502}
SSO = {
    "status_code": 403,
    "headers": {"x-github-sso": "required; url=https://github.com/orgs/octo/sso"},
    "json": {"message": "Resource protected by organization SAML enforcement."},
}


async def test_one_bad_answer_costs_no_day(tmp_path, world):
    ask(world, 1)
    reviews = f"{MINE}\n{DAY}"
    transport = Broken(world, BAD)
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        queue = ReviewQueue(product.runtime)
        _, failed = await turn(product, queue)
        transport.is_broken = False
        _, early = await turn(product, queue, gap=29.0)
        _, told = await turn(product, queue, gap=9.0)
        await turn(product, queue, gap=3600.0)
        due_at = await queue.next_due_at()
        wait = due_at - product.clock.now()

    assert (failed, early, numbers(told)) == ([], [], [1])
    assert wait.total_seconds() == 23 * 3600


async def test_a_token_that_was_refused_costs_no_day_of_any_watch(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world, reviews=THREE) as product:
        queue = ReviewQueue(product.runtime)
        world.tokens.pop(DEFAULT_TOKEN)
        report, _ = await turn(product, queue)
        held, _ = await turn(product, queue, gap=60.0)
        world.set_token(DEFAULT_TOKEN)
        again, told = await turn(product, queue, gap=330.0)

    assert set(report.outcomes) == {("acme", "mine")}
    assert (held.outcomes, held.failures) == ({}, [])
    assert {name for _, name in again.outcomes} == {"mine", "one", "two"}
    assert numbers(told) == [1]


async def test_a_dead_host_is_asked_three_times_and_then_left(tmp_path, world):
    transport = Broken(world, BAD)
    async with open_queue(tmp_path, world, reviews=TEN, transport=transport) as product:
        queue = ReviewQueue(product.runtime)
        report, _ = await turn(product, queue)
        first = transport.asked
        left, _ = await turn(product, queue, gap=29.0)
        held = transport.asked
        await turn(product, queue, gap=9.0)
        second = transport.asked
        transport.is_broken = False
        whole, _ = await turn(product, queue)

    assert (first, held, second) == (3, 3, 6)
    assert len(report.outcomes) == 1
    assert (report.skipped["account"], len(report.failures)) == (9, 10)
    assert all(each.is_whole for each in report.failures)
    assert left.outcomes == {}
    assert len(whole.outcomes) == 10
    assert whole.failures == []


async def test_three_watches_without_an_answer_are_no_matter_of_theirs(tmp_path, world):
    reviews = "".join(
        f'[[workspace.review]]\nname = "w{number}"\n' for number in range(10)
    )
    transport = Broken(world, BAD)
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        report, _ = await turn(product)

    assert (transport.asked, len(report.outcomes)) == (3, 3)


async def test_what_fails_in_one_watch_alone_keeps_no_other_back(tmp_path, world):
    ask(world, 1)
    reviews = f'[[workspace.review]]\nname = "bad"\nrepositories = [{PLACES}]\n{MINE}\n'
    transport = Broken(world, BAD, word=b"octo/r")
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        queue = ReviewQueue(product.runtime)
        await turn(product, queue)
        _, told = await turn(product, queue, gap=38.0)
        for _ in range(20):
            await turn(product, queue, gap=38.0)
        report = [(await turn(product, queue, gap=38.0))[0] for _ in range(9)]

    assert numbers(told) == [1]
    assert any(("acme", "mine") in each.outcomes for each in report)


async def test_a_host_that_polling_knows_to_be_dead_is_not_asked(tmp_path, world):
    ask(world, 1)
    async with open_queue(tmp_path, world) as product:
        queue, runtime = ReviewQueue(product.runtime), product.runtime
        (account,) = runtime.wired.accounts
        product.clock.advance(300.0)
        cause = Cause(
            failure_class=FailureClass.TRANSIENT, code="down", message="no answer"
        )
        runtime.circuits.trip(host_key(account.host), cause)
        asked = len(world.requests)
        report, _ = await turn(product, queue, gap=1.0)
        due_at = await queue.next_due_at()
        silent = len(world.requests) == asked
        standing = runtime.circuits.find(host_key(account.host))
        forced = await queue.run_once(SearchOrder(is_forced=True))

    assert silent
    assert due_at == standing.open_until
    assert (report.skipped, report.outcomes) == ({"account": 1}, {})
    assert [each.message for each in report.failures] == ["no answer"]
    assert forced.created == 1


async def test_an_organisation_that_refuses_is_no_matter_of_the_account(
    tmp_path, world
):
    ask(world, 1)
    world.add_repository("octo/other")
    reviews = f'{MINE}\nrepositories = ["octo/other", "octo/hello"]\n' + MINE.replace(
        "mine", "next"
    )
    transport = Broken(world, SSO, word=b"octo/other")
    async with open_queue(
        tmp_path, world, reviews=reviews, transport=transport
    ) as product:
        report, told = await turn(product)
        watch = await read_watch(product)

    assert set(report.outcomes) == {("acme", "mine"), ("acme", "next")}
    assert numbers(told) == [1]
    assert watch.last_error
    assert [each.is_whole for each in report.failures] == [False]


async def test_searching_leaves_the_reserve_to_people(tmp_path, world):
    world.limits["graphql"] = 20
    async with open_queue(tmp_path, world, poll="reserve = 0.5") as product:
        queue = ReviewQueue(product.runtime)
        for _ in range(11):
            report, _ = await turn(product, queue)
        kept = world.get_budget("octocat", "graphql").remaining
        forced = await queue.run_once(SearchOrder(is_forced=True))
        used = world.get_budget("octocat", "graphql").remaining

    assert (kept, report.failures[0].code) == (10, "reserve_kept")
    assert (forced.failures, used) == ([], 9)


async def test_a_hit_that_was_not_readable_this_time_is_tried_again_soon(
    tmp_path, world
):
    ask(world, 1)
    async with open_queue(tmp_path, world, reviews=f"{MINE}\n{DAY}") as product:
        queue = ReviewQueue(product.runtime)
        fault = world.faults.add(Fault(kind="html502", times=None, match="ReviewFacts"))
        await turn(product, queue)
        world.faults.remove(fault)
        _, told = await turn(product, queue, gap=38.0)

    assert numbers(told) == [1]
