"""A webhook that refuses, hangs or is down: nobody else waits for it. Virtual time."""

import contextlib
import datetime as dt
import json

import anyio
import httpx
import pytest
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.watch_loop import WatchLoop
from prwatch.app.outbox_relay import OutboxRelay, SinkRoute
from prwatch.domain.outbox import Delivered
from prwatch.http.client import create_http_client
from prwatch.simulator import World
from prwatch.sinks.sink import SinkSettings
from prwatch.sinks.webhook import WebhookSink
from tests.product import LoopClock, open_product

NUMBERS = (1, 2, 3)
SICK = 1
ENTRIES = [f'repository = "octo/hello"\npull_request = {n}' for n in NUMBERS]
SINKS = (
    '[[sink]]\nname = "log"\nkind = "stdout"\n'
    '[[sink]]\nname = "hook"\nkind = "webhook"\nurl = "http://127.0.0.1:9/"'
)
CHANGE_AT = 300.0
HOUR = 3600.0
SOON = 90.0
"""The base interval, a tick and the settling of nothing."""
LONGEST_BACKOFF = 1800.0 * 1.25


@pytest.fixture
def anyio_backend():
    clock = trio.testing.MockClock(autojump_threshold=0)
    return "trio", {"clock": clock}


class RecordingSink:
    """Takes everything at once and remembers when."""

    kind = "stdout"
    limit = 8

    def __init__(self, name, clock):
        self.name = name
        self.arrivals = []
        self._clock = clock

    async def deliver(self, delivery):
        event = delivery.event
        self.arrivals.append((self._clock.monotonic(), event.pr_number, event.id))
        return Delivered()

    async def close(self):
        pass


class SickReceiver(httpx.AsyncBaseTransport):
    """Answers webhooks, but badly for an hour: for one pull request or for all."""

    def __init__(self, clock, sickness, *, is_for_all):
        self.arrivals = []
        self.attempts = 0
        self._clock = clock
        self._sickness = sickness
        self._is_for_all = is_for_all

    async def handle_async_request(self, request):
        event = json.loads(request.content)
        number = event["data"]["pull_request"]["number"]
        now = self._clock.monotonic()
        is_ill = CHANGE_AT <= now < CHANGE_AT + HOUR
        if is_ill and (self._is_for_all or number == SICK):
            self.attempts += 1
            await self._fail()
            return httpx.Response(500, stream=httpx.ByteStream(b"ill"))
        self.arrivals.append((now, number, event["id"]))
        return httpx.Response(204, stream=httpx.ByteStream(b""))

    async def _fail(self):
        if self._sickness == "hangs":
            await anyio.sleep_forever()
        if self._sickness == "is down":
            raise httpx.ConnectError("connection refused")


@contextlib.asynccontextmanager
async def run_daemon_loops(folder, sickness, *, is_for_all):
    """Run the watch loop and both relays beside each other, on virtual time."""
    clock = LoopClock()
    world = World(clock)
    world.add_repository("octo/hello")
    opened = [
        world.open_pull_request("octo/hello", branch=f"topic-{n}", number=n)
        for n in NUMBERS
    ]
    receiver = SickReceiver(clock, sickness, is_for_all=is_for_all)
    log = RecordingSink("log", clock)
    async with (
        create_http_client(transport=receiver) as http,
        open_product(folder, world, watches=ENTRIES, sinks=SINKS) as product,
    ):
        settings = SinkSettings(name="hook", timeout=dt.timedelta(seconds=10))
        hook = WebhookSink(settings, "http://127.0.0.1:9/", client=http, clock=clock)
        runtime = product.runtime
        runtime.relays = tuple(
            OutboxRelay(
                SinkRoute(sink=sink),
                runtime.database,
                clock=clock,
                chance=runtime.surroundings.chance,
            )
            for sink in (log, hook)
        )
        registry = LoopRegistry(clock)
        loop = WatchLoop(runtime, registry)
        registry.begin_run(loop.name, loop.deadline)
        async with anyio.create_task_group() as group:
            await group.start(loop.run, lambda: None)
            for relay in runtime.relays:
                group.start_soon(relay.run)
            yield world, opened, log, receiver, product
            group.cancel_scope.cancel()


def arrived(arrivals, *numbers):
    return [one for one in arrivals if one[1] in numbers and one[0] >= CHANGE_AT]


def latest(arrivals):
    return max(at for at, _, _ in arrivals)


@pytest.mark.parametrize("sickness", ["answers 500", "hangs", "is down"])
@pytest.mark.parametrize("is_for_all", [False, True], ids=["one PR", "all PRs"])
async def test_a_sick_webhook_delays_no_other_sink_and_no_other_pull_request(
    tmp_path, sickness, is_for_all
):
    daemon = run_daemon_loops(tmp_path, sickness, is_for_all=is_for_all)
    async with daemon as (world, opened, log, receiver, product):
        await anyio.sleep(CHANGE_AT - 1)
        adopted = len(log.arrivals)
        for _ in range(2):
            for one in opened:
                world.comment(one, "linus")
                world.mark_draft(one)
            await anyio.sleep(SOON)
            for one in opened:
                world.mark_ready(one)
            await anyio.sleep(SOON)
        await anyio.sleep(HOUR + LONGEST_BACKOFF)
        rows = product.ask("SELECT id, pr_number FROM events ORDER BY position")

    well = () if is_for_all else (2, 3)
    ill = NUMBERS if is_for_all else (SICK,)
    in_order = {n: [r["id"] for r in rows if r["pr_number"] == n] for n in NUMBERS}
    assert adopted == len(NUMBERS)
    assert latest(log.arrivals) < CHANGE_AT + 4 * SOON
    assert latest(arrived(receiver.arrivals, *ill)) > CHANGE_AT + HOUR
    assert all(
        at < CHANGE_AT + 4 * SOON for at, _, _ in arrived(receiver.arrivals, *well)
    )
    for number in NUMBERS:
        for sink in (log, receiver):
            ids = [id_ for _, one, id_ in sink.arrivals if one == number]
            assert ids == in_order[number]
    assert receiver.attempts < 40 * len(ill)
