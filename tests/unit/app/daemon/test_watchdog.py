import datetime as dt
import random
import threading

import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.supervisor import Supervisor
from prwatch.app.daemon.watchdog import Watchdog
from prwatch.clock import SystemClock
from prwatch.errors import StoreUnavailable
from prwatch.telemetry.systemd import SystemdNotifier
from tests.daemon_parts import (
    FakeService,
    LoopClock,
    SystemdEnd,
    beat_for_ever,
    crash,
    hang,
)

DEADLINE = dt.timedelta(minutes=1)


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


@pytest.fixture
def systemd(tmp_path):
    end = SystemdEnd(tmp_path / "notify")
    yield end
    end.close()


async def feed_for(seconds, systemd, *services, interval=120):
    """Run services under a supervisor and a watchdog; return the messages."""
    clock = LoopClock()
    registry = LoopRegistry(clock)
    with SystemdNotifier(systemd.address) as notifier:
        watchdog = Watchdog(
            notifier=notifier,
            registry=registry,
            clock=clock,
            interval=dt.timedelta(seconds=interval),
            describe=lambda: "3 watches",
        )
        supervisor = Supervisor(
            [*services, watchdog],
            registry=registry,
            clock=clock,
            chance=random.Random(3),
            notifier=notifier,
            grace=dt.timedelta(0),
        )
        messages = []
        async with anyio.create_task_group() as group:
            group.start_soon(supervisor.run)
            await anyio.sleep(5)  # so that no message is due when one is looked for
            for _ in range(seconds // 10):
                messages += systemd.receive()
                await anyio.sleep(10)
            supervisor.request_stop()
    return [each for each in messages if each != "READY=1"]


async def test_three_messages_fit_into_the_interval_of_systemd(systemd):
    messages = await feed_for(120, systemd, FakeService("poll", deadline=DEADLINE))

    assert messages == ["WATCHDOG=1", "STATUS=3 watches", "WATCHDOG=1", "WATCHDOG=1"]


async def test_an_idle_daemon_is_fed_for(systemd):
    messages = await feed_for(3600, systemd, FakeService("quiet", hang))

    assert messages.count("WATCHDOG=1") == 90


async def test_a_loop_that_fails_at_each_turn_is_fed_for(systemd):
    broken = FakeService("poll", crash(StoreUnavailable("full")), deadline=DEADLINE)

    messages = await feed_for(3600, systemd, broken)

    assert messages.count("WATCHDOG=1") == 90


async def test_a_stuck_loop_that_can_be_cancelled_is_fed_for(systemd):
    stuck = FakeService("poll", hang, beat_for_ever, deadline=DEADLINE)

    messages = await feed_for(600, systemd, stuck)

    assert messages.count("WATCHDOG=1") == 15


async def wedge(beat, task_status):
    task_status.started()
    with anyio.CancelScope(shield=True):
        await anyio.sleep(400)


async def test_a_wedged_loop_stops_the_messages_and_is_named(systemd):
    with structlog.testing.capture_logs() as logs:
        messages = await feed_for(
            300, systemd, FakeService("poll", wedge, deadline=DEADLINE)
        )

    assert messages == [
        *["WATCHDOG=1", "STATUS=3 watches", "WATCHDOG=1"],
        "STATUS=no progress: poll",
    ]
    assert [e["services"] for e in logs if e["event"] == "watchdog.withheld"] == [
        ["poll"]
    ]


async def test_the_messages_come_again_when_the_loop_moves_again(systemd):
    with structlog.testing.capture_logs() as logs:
        messages = await feed_for(
            500,
            systemd,
            FakeService("poll", wedge, beat_for_ever, deadline=DEADLINE),
        )

    assert [each for each in messages if each != "WATCHDOG=1"] == [
        "STATUS=3 watches",
        "STATUS=no progress: poll",
        "STATUS=3 watches",
    ]
    assert messages[-1] == "WATCHDOG=1"
    assert [e["event"] for e in logs if e["event"].startswith("watchdog")] == [
        "watchdog.withheld",
        "watchdog.resumed",
    ]


def test_a_blocked_event_loop_stops_the_messages(systemd):
    """In real time: a call that blocks lets nothing run, the watchdog neither."""
    is_blocked, go_on = threading.Event(), threading.Event()

    async def block(beat, task_status):
        task_status.started()
        await anyio.sleep(0.2)
        is_blocked.set()
        go_on.wait(20)
        await anyio.sleep_forever()

    def run():
        anyio.run(feed_in_real_time, systemd, FakeService("poll", block))

    daemon = threading.Thread(target=run)
    daemon.start()
    try:
        assert is_blocked.wait(20)
        before = systemd.receive()
        while_blocked = systemd.wait_for_message(0.4)
    finally:
        go_on.set()
        after = systemd.wait_for_message(20)
        daemon.join(20)

    assert "WATCHDOG=1" in before
    assert (while_blocked, after) == (False, True)


async def feed_in_real_time(systemd, *services):
    clock = SystemClock()
    registry = LoopRegistry(clock)
    with SystemdNotifier(systemd.address) as notifier:
        watchdog = Watchdog(
            notifier=notifier,
            registry=registry,
            clock=clock,
            interval=dt.timedelta(milliseconds=150),
            describe=lambda: "3 watches",
        )
        supervisor = Supervisor(
            [*services, watchdog],
            registry=registry,
            clock=clock,
            chance=random.Random(3),
            notifier=notifier,
            grace=dt.timedelta(0),
        )
        with anyio.move_on_after(1):
            await supervisor.run()


async def test_without_a_watchdog_the_status_is_sent_nevertheless(systemd):
    clock = LoopClock()
    with SystemdNotifier(systemd.address) as notifier:
        watchdog = Watchdog(
            notifier=notifier,
            registry=LoopRegistry(clock),
            clock=clock,
            interval=None,
            describe=lambda: "idle",
        )
        with anyio.move_on_after(59):
            await watchdog.run(lambda: None)

    assert systemd.receive() == ["WATCHDOG=1", "STATUS=idle", "WATCHDOG=1"]


async def test_a_status_that_nobody_took_is_sent_again(systemd, tmp_path):
    clock = LoopClock()
    nowhere = tmp_path / "later"
    with SystemdNotifier(str(nowhere)) as notifier:
        watchdog = Watchdog(
            notifier=notifier,
            registry=LoopRegistry(clock),
            clock=clock,
            interval=None,
            describe=lambda: "idle",
        )
        watchdog.feed()
        late = SystemdEnd(nowhere)
        watchdog.feed()
        watchdog.feed()
        heard = late.receive()
        late.close()

    assert heard == ["WATCHDOG=1", "STATUS=idle", "WATCHDOG=1"]


async def test_the_sink_of_a_relay_that_stalls_is_not_named(systemd):
    relay = FakeService("relay secret-project", wedge, deadline=DEADLINE)

    messages = await feed_for(300, systemd, relay)

    assert messages[-1] == "STATUS=no progress: relay"
