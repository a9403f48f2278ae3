import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.telemetry.systemd import SystemdNotifier
from tests.daemon_parts import (
    FakeService,
    FinishingService,
    LoopClock,
    SystemdEnd,
    crash,
    make_supervisor,
)


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


@pytest.fixture
def systemd(tmp_path):
    end = SystemdEnd(tmp_path / "notify")
    yield end
    end.close()


async def run_for(supervisor, seconds):
    """Run a supervisor, ask it to stop after that time, and see it end."""
    async with anyio.create_task_group() as group:
        group.start_soon(supervisor.run)
        await anyio.sleep(seconds)
        supervisor.request_stop()


async def test_services_start_in_order_and_end_in_the_reverse_one():
    story = []
    services = [FakeService(name, story=story) for name in ("a", "b", "c")]

    await run_for(make_supervisor(*services), 10)

    assert story == ["a runs", "b runs", "c runs", "c ends", "b ends", "a ends"]


async def test_a_service_starts_when_the_one_before_it_is_ready():
    async def start_slowly(beat, task_status):
        await anyio.sleep(5)
        task_status.started()
        await anyio.sleep_forever()

    first, second = FakeService("first", start_slowly), FakeService("second")
    began = anyio.current_time()

    await run_for(make_supervisor(first, second), 10)

    assert [first.runs, second.runs] == [[began], [began + 5]]


async def test_systemd_hears_ready_when_all_have_started_and_then_stopping(systemd):
    said = []

    async def start_slowly(beat, task_status):
        await anyio.sleep(5)
        said.extend(systemd.receive())
        task_status.started()
        await anyio.sleep_forever()

    with SystemdNotifier(systemd.address) as notifier:
        supervisor = make_supervisor(
            FakeService("a"), FakeService("slow", start_slowly), notifier=notifier
        )
        async with anyio.create_task_group() as group:
            group.start_soon(supervisor.run)
            await anyio.sleep(6)
            ready = systemd.receive()
            supervisor.request_stop()

    assert (said, ready, systemd.receive()) == ([], ["READY=1"], ["STOPPING=1"])


async def test_readiness_does_not_wait_for_a_service_that_crashes_at_its_start():
    moments = []
    broken = FakeService("broken", crash(OSError("no"), is_started=False))
    supervisor = make_supervisor(broken, FakeService("other"))
    began = anyio.current_time()

    async with anyio.create_task_group() as group:

        async def run():
            await supervisor.run(
                on_ready=lambda: moments.append(anyio.current_time() - began)
            )

        group.start_soon(run)
        await anyio.sleep(30)
        supervisor.request_stop()

    assert moments == [0]


async def test_a_service_that_never_gets_ready_holds_readiness_back_for_a_minute():
    async def never(beat, task_status):
        await anyio.sleep_forever()

    moments = []
    supervisor = make_supervisor(FakeService("never", never))
    began = anyio.current_time()

    async with anyio.create_task_group() as group:

        async def run():
            await supervisor.run(
                on_ready=lambda: moments.append(anyio.current_time() - began)
            )

        group.start_soon(run)
        await anyio.sleep(100)
        supervisor.request_stop()

    assert moments == [60]


async def test_a_request_to_stop_ends_a_start_that_is_under_way(systemd):
    async def never(beat, task_status):
        await anyio.sleep_forever()

    later = FakeService("later")
    with SystemdNotifier(systemd.address) as notifier:
        supervisor = make_supervisor(
            FakeService("never", never), later, notifier=notifier
        )
        began = anyio.current_time()
        await run_for(supervisor, 3)

    assert anyio.current_time() - began == 3
    assert (later.runs, systemd.receive()) == ([], ["STOPPING=1"])


async def test_work_in_flight_may_finish_while_the_others_are_cancelled():
    story = []
    relays = [FinishingService(name, 3, story=story) for name in ("x", "y")]
    began = anyio.current_time()

    await run_for(make_supervisor(*relays, FakeService("poll", story=story)), 1)

    assert anyio.current_time() - began == 4
    assert story[3:6] == ["poll ends", "y is stopped", "x is stopped"]
    assert sorted(story[6:]) == [
        "x ends",
        "x has finished",
        "y ends",
        "y has finished",
    ]


async def test_work_that_outlives_the_grace_period_is_cancelled():
    story = []
    relay = FinishingService("relay", 1000, story=story)
    began = anyio.current_time()

    await run_for(make_supervisor(relay, grace=20), 1)

    assert anyio.current_time() - began == 21
    assert story == ["relay runs", "relay is stopped", "relay ends"]


async def test_without_a_grace_period_everything_is_cancelled_at_once():
    relay = FinishingService("relay", 1000)
    began = anyio.current_time()

    await run_for(make_supervisor(relay, FakeService("poll"), grace=0), 1)

    assert anyio.current_time() - began == 1


async def test_a_service_that_resists_its_cancellation_is_named_in_the_log():
    async def resist(beat, task_status):
        task_status.started()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(100)

    with structlog.testing.capture_logs() as logs:
        await run_for(make_supervisor(FakeService("stubborn", resist)), 1)

    assert logs[-1] == {
        "event": "service.not_stopping",
        "log_level": "error",
        "services": ["stubborn"],
    }


async def test_a_service_can_be_added_and_removed_while_others_run():
    story = []
    supervisor = make_supervisor(FakeService("a", story=story))

    async with anyio.create_task_group() as group:
        group.start_soon(supervisor.run)
        await anyio.sleep(1)
        await supervisor.add(FakeService("b", story=story))
        await supervisor.remove("b")
        await supervisor.add(FakeService("b", story=story))
        supervisor.request_stop()

    assert story == [
        "a runs",
        "b runs",
        "b ends",
        "b runs",
        "b ends",
        "a ends",
    ]


async def test_removing_what_does_not_run_is_no_error():
    service = FakeService("a")
    supervisor = make_supervisor(service)

    async with anyio.create_task_group() as group:
        group.start_soon(supervisor.run)
        await anyio.sleep(1)
        await supervisor.remove("b")
        await anyio.sleep(1)
        supervisor.request_stop()

    assert len(service.runs) == 1


async def test_two_services_of_one_name_are_refused():
    with pytest.raises(ExceptionGroup) as caught:
        await make_supervisor(FakeService("a"), FakeService("a")).run()

    assert str(caught.value.exceptions[0]) == "two services are named a"


async def test_nothing_can_be_added_to_a_supervisor_that_does_not_run():
    with pytest.raises(RuntimeError, match="does not run"):
        await make_supervisor().add(FakeService("a"))


async def test_the_registry_knows_each_loop_and_that_it_has_ended():
    registry = LoopRegistry(LoopClock())

    await run_for(make_supervisor(FakeService("a"), registry=registry), 2)

    assert [(n, facts["state"]) for n, facts in registry.as_json().items()] == [
        ("a", "ended")
    ]
