"""Delivering once: one attempt for each delivery that is due, sinks side by side."""

import os
import random
import socket

import anyio
import pytest

from prwatch.app.lease_owner import build_lease_owner
from prwatch.app.outbox_relay import LEASE, OutboxRelay, SinkRoute, deliver_once
from prwatch.domain.outbox import Dead, Delivered, DeliveryState, Retry
from prwatch.simulator import World
from prwatch.store import outbox
from tests.product import MovedClock, open_product

ALL = 'repository = "octo/hello"\nall = true'


class Receiver:
    """A sink that answers what `answer` returns, and notes what it was handed."""

    kind = "stdout"

    def __init__(self, name, answer, *, limit=1):
        self.name = name
        self.limit = limit
        self.numbers = []
        self._answer = answer

    async def deliver(self, delivery):
        self.numbers.append(delivery.event.pr_number)
        return await self._answer(delivery)

    async def close(self):
        pass


@pytest.fixture
async def product(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_many("octo/hello", 3)
    sinks = "\n".join(f'[[sink]]\nname = "{n}"\nkind = "stdout"' for n in "ab")
    async with open_product(tmp_path, world, watches=(ALL,), sinks=sinks) as opened:
        opened.runtime.relays = ()
        await opened.cycle()
        yield opened


def build_relay(product, receiver, *, owner=""):
    return OutboxRelay(
        SinkRoute(sink=receiver),
        product.runtime.database,
        clock=product.clock,
        chance=random.Random(0),
        owner=owner,
    )


async def hold_all(product, sink, lease_token):
    """Take every delivery of a sink, as a process does that is killed then."""

    async def take(tx):
        now = product.clock.now()
        await outbox.acquire_deliveries(
            tx,
            sink=sink,
            now=now,
            lease_until=now + LEASE,
            lease_token=lease_token,
            limit=100,
        )

    await product.runtime.database.transact(take)


async def test_what_a_killed_process_held_goes_out_at_once(product):
    async def take(_):
        return Delivered()

    killed = f"{socket.gethostname()}/{os.getpid()}/1"
    await hold_all(product, "a", f"{killed}/x")
    await hold_all(product, "b", f"{build_lease_owner(os.getpid())}/y")
    freed, held = Receiver("a", take), Receiver("b", take)

    await build_relay(product, freed).run_once()
    await build_relay(product, held).run_once()

    assert (sorted(freed.numbers), held.numbers) == ([1, 2, 3], [])


async def test_what_has_to_be_tried_again_waits_for_another_run(product):
    async def answer(_):
        # So slow that the first one is due again before the last was handed over.
        product.clock.advance(60)
        return Retry("not now")

    receiver = Receiver("a", answer)

    await build_relay(product, receiver).run_once()
    assert sorted(receiver.numbers) == [1, 2, 3]

    product.clock.advance(60)
    await build_relay(product, receiver).run_once()
    assert sorted(receiver.numbers) == [1, 1, 2, 2, 3, 3]


async def test_a_sink_that_hangs_delays_no_other(product):
    done = anyio.Event()

    async def hang(_):
        await done.wait()
        return Delivered()

    async def take(_):
        if len(quick.numbers) == 3:
            done.set()
        return Delivered()

    slow, quick = Receiver("a", hang), Receiver("b", take)

    with anyio.fail_after(5):
        taken = await deliver_once(
            [build_relay(product, slow), build_relay(product, quick)]
        )

    assert taken == 6


async def test_how_attempts_ended_is_counted_and_the_last_one_stands(product):
    answers = {
        1: [Retry("not now"), Delivered()],
        2: [Dead("never")],
        3: [Delivered()],
    }

    async def answer(delivery):
        return answers[delivery.event.pr_number].pop(0)

    relay = build_relay(product, Receiver("a", answer))
    await relay.run_once()
    first = dict(relay.outcomes)
    product.clock.advance(600)
    await relay.run_once()

    assert first == {
        DeliveryState.PENDING: 1,
        DeliveryState.DEAD: 1,
        DeliveryState.DELIVERED: 1,
    }
    assert relay.outcomes[DeliveryState.DELIVERED] == relay.delivered == 2
    assert not relay.is_failing


@pytest.mark.parametrize("outcome", [Retry("not now"), Dead("never")])
async def test_a_relay_fails_until_an_event_goes_out(product, outcome):
    async def refuse(_):
        return outcome

    relay = build_relay(product, Receiver("a", refuse))
    before = relay.is_failing
    await relay.run_once()

    assert (before, relay.is_failing) == (False, True)
