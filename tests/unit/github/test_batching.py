"""Requests as large as GitHub can answer, and one bad member that costs no other."""

import httpx
import pytest

from prwatch.domain.outcome import Found, Retry
from prwatch.errors import (
    AuthenticationFailed,
    ProviderUnavailable,
    RateLimited,
)
from prwatch.github.batching import BatchSize, iter_batches

CUT = Retry("too heavy", code="resource_limits")


def fail(status=502, cause=None):
    error = ProviderUnavailable("no", scope="host", status=status)
    error.__cause__ = cause
    return error


class Host:
    """Answers numbers; `judge` says what a request of them raises, or None."""

    def __init__(self, judge=lambda _: None, *, heaviest=None):
        self.asked = []
        self._judge = judge
        self._heaviest = heaviest

    async def ask(self, members):
        self.asked.append(tuple(members))
        error = self._judge(members)
        if error is not None:
            raise error
        whole = len(members) if self._heaviest is None else self._heaviest
        return {
            each: Found(each) if at < whole else CUT for at, each in enumerate(members)
        }

    async def walk(self, count, size):
        told = {}
        async for outcomes in iter_batches(range(count), size, self.ask):
            told |= outcomes
        return told


async def test_everything_is_asked_in_full_requests():
    host = Host()

    told = await host.walk(60, BatchSize(25))

    assert [len(each) for each in host.asked] == [25, 25, 10]
    assert told == {each: Found(each) for each in range(60)}


@pytest.mark.parametrize("poison", [0, 7, 24, 30])
async def test_a_member_that_cannot_be_answered_costs_no_other(poison):
    host = Host(lambda members: fail() if poison in members else None)
    size = BatchSize(25)

    told = {**await host.walk(60, size), **await host.walk(60, size)}

    lost = [each for each, outcome in told.items() if outcome != Found(each)]
    assert lost == [poison]
    assert isinstance(told[poison], Retry)


async def test_it_is_asked_for_itself_until_it_is_answered():
    poison = {7}
    host = Host(lambda members: fail() if poison & set(members) else None)
    size = BatchSize(25)
    for _ in range(2):
        await host.walk(50, size)

    host.asked.clear()
    await host.walk(50, size)
    alone = [len(each) for each in host.asked]
    poison.clear()
    told = await host.walk(50, size)
    host.asked.clear()
    await host.walk(50, size)

    assert alone == [25, 24, 1]
    assert told[7] == Found(7)
    assert [len(each) for each in host.asked] == [25, 25]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(fail(502), id="502"),
        pytest.param(fail(504), id="504"),
        pytest.param(fail(200), id="no data"),
        pytest.param(fail(0, httpx.ReadTimeout("")), id="no byte came"),
        pytest.param(fail(0, TimeoutError()), id="too long in all"),
    ],
)
async def test_a_request_that_is_too_heavy_is_halved_and_grows_back(error):
    host = Host(lambda members: error if len(members) > 10 else None)
    size = BatchSize(40)

    told = await host.walk(40, size)
    after = [size.current]
    host = Host()
    for _ in range(8):
        await host.walk(1, size)
        after.append(size.current)

    assert told == {each: Found(each) for each in range(40)}
    assert after == sorted(after)
    assert after[-1] == 40


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(fail(500), id="500"),
        pytest.param(fail(503), id="503"),
        pytest.param(fail(0, httpx.ConnectError("")), id="no connection"),
        pytest.param(fail(0, httpx.ConnectTimeout("")), id="no connection in time"),
        pytest.param(AuthenticationFailed("no"), id="auth"),
        pytest.param(
            RateLimited("no", bucket="graphql", retry_at=None), id="rate limit"
        ),
    ],
)
async def test_what_is_no_matter_of_size_ends_the_walk_at_once(error):
    host = Host(lambda _: error)
    size = BatchSize(25)

    with pytest.raises(type(error)):
        await host.walk(60, size)

    assert ([len(each) for each in host.asked], size.current) == ([25], 25)


@pytest.mark.parametrize(("count", "requests"), [(60, 3), (2, 3), (1, 1)])
async def test_a_host_that_answers_nothing_is_asked_three_times_at_most(
    count, requests
):
    host = Host(lambda _: fail())

    with pytest.raises(ProviderUnavailable):
        await host.walk(count, BatchSize(25))

    assert len(host.asked) == requests


async def test_what_an_answer_left_out_is_asked_again_in_smaller_requests():
    host = Host(heaviest=6)
    size = BatchSize(25)

    told = await host.walk(25, size)

    assert told == {each: Found(each) for each in range(25)}
    assert (len(host.asked), size.current) == (6, 10)


async def test_an_answer_that_leaves_all_out_is_told_in_the_end():
    host = Host(heaviest=0)

    assert await host.walk(2, BatchSize(25)) == {0: CUT, 1: CUT}
