"""When each review watch was and will be searched, and what holds it back."""

import datetime as dt

import pytest

from prwatch.app.command.review.turns import answer_turns
from prwatch.app.guard.admission import host_key
from prwatch.app.review.queue import ReviewQueue
from prwatch.app.review.standing import list_standings
from prwatch.domain.circuit import Cause
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import DEFAULT_TOKEN, World
from tests.product import MovedClock
from tests.simulation.test_review_queue import MINE, open_queue, read_watch, turn

TWO = f'{MINE}\n[[workspace.review]]\nname = "off"\nenabled = false'


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


async def read_standing(product, queue):
    watch = await read_watch(product)
    standings = await list_standings(product.runtime, queue)
    assert set(standings) == {watch.id}  # one that is disabled is not searched
    return standings[watch.id]


async def test_a_watch_tells_when_it_was_searched_and_is_next(tmp_path, world):
    async with open_queue(tmp_path, world, reviews=TWO) as product:
        queue = ReviewQueue(product.runtime)
        new = await read_standing(product, queue)
        await turn(product, queue)
        now = product.clock.now()
        product.clock.advance(10.0)
        searched = await read_standing(product, queue)
        answer = await answer_turns(product.runtime, queue)

    assert (new.searched_at, new.held) == (None, None)
    assert (searched.searched_at, searched.held) == (now, None)
    assert searched.due_at == now + dt.timedelta(minutes=5)
    ((_, told),) = answer["turns"].items()
    assert told["searched_at"] < told["due_at"]
    assert (told["held_by"], told["held_until"], told["held_message"]) == ("", "", "")


async def test_what_holds_a_watch_back_is_told_with_its_end(tmp_path, world):
    async with open_queue(tmp_path, world) as product:
        queue, runtime = ReviewQueue(product.runtime), product.runtime
        (account,) = runtime.wired.accounts
        await turn(product, queue)
        last = product.clock.now()

        world.exhaust_rate_limit()
        await turn(product, queue)
        limit = await read_standing(product, queue)
        product.clock.advance(7200.0)
        await queue.run_once()
        none = await read_standing(product, queue)

        world.tokens.pop(DEFAULT_TOKEN)
        await turn(product, queue)
        dead = await read_standing(product, queue)

        cause = Cause(
            failure_class=FailureClass.TRANSIENT, code="down", message="no answer"
        )
        runtime.circuits.trip(host_key(account.host), cause)
        host = await read_standing(product, queue)
        now = product.clock.now()

    assert (limit.searched_at, limit.held.reason) == (last, "limit")
    assert limit.due_at == limit.held.until
    assert none.held is None
    assert (dead.held.reason, dead.due_at) == ("auth", dead.held.until)
    assert dead.searched_at > last
    assert "token" in dead.held.message
    assert (host.held.reason, host.held.message) == ("host", "no answer")
    assert host.due_at > now
