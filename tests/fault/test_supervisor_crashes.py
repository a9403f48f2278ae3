"""What becomes of the daemon when its services crash, hang or resist."""

import datetime as dt

import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.errors import StoreCorrupt, StoreUnavailable
from tests.daemon_parts import (
    FakeService,
    FinishingService,
    LoopClock,
    beat_for_ever,
    crash,
    hang,
    make_supervisor,
)

MINUTE = 60


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


async def run_for(supervisor, seconds):
    async with anyio.create_task_group() as group:
        group.start_soon(supervisor.run)
        await anyio.sleep(seconds)
        supervisor.request_stop()


def pauses(service):
    return [
        later - earlier
        for earlier, later in zip(service.runs, service.runs[1:], strict=False)
    ]


async def test_a_crash_restarts_one_service_and_leaves_the_others_alone():
    broken = FakeService("broken", crash(OSError("disk"), after=2), beat_for_ever)
    others = [FakeService("a"), FakeService("b")]

    await run_for(make_supervisor(others[0], broken, others[1]), 30)

    assert [len(each.runs) for each in (broken, *others)] == [2, 1, 1]


async def test_a_crash_loop_grows_slower_up_to_the_cap():
    broken = FakeService("broken", crash(OSError("disk")))

    await run_for(make_supervisor(broken), 3600)

    waits = pauses(broken)
    wanted = [1, 2, 4, 8, 16, 32, 64, 128, 256, *[300] * 20]
    within = [
        low <= wait <= low * 1.25 for wait, low in zip(waits, wanted, strict=False)
    ]
    assert len(waits) > 12
    assert all(within)


@pytest.mark.parametrize(
    ("after", "most"),
    [
        pytest.param(10, 24, id="soon after each start"),
        pytest.param(299, 13, id="just before it counts as recovered"),
        pytest.param(301, 12, id="just after it counts as recovered"),
    ],
)
async def test_no_pattern_of_crashes_restarts_faster_than_the_backoff(after, most):
    broken = FakeService("broken", crash(OSError("disk"), after=after))

    await run_for(make_supervisor(broken), 3600)

    assert len(broken.runs) <= most


async def test_a_crash_long_after_the_last_one_waits_for_a_second_again():
    scenes = [crash(OSError("disk"))] * 6 + [crash(OSError("x"), after=600)]
    broken = FakeService("broken", *scenes, beat_for_ever)

    await run_for(make_supervisor(broken), 1800)

    assert 601 <= pauses(broken)[-1] <= 601.25


async def test_a_traceback_is_logged_once_while_a_crash_repeats_itself():
    scenes = [crash(OSError("disk"))] * 2 + [crash(ValueError("else")), beat_for_ever]

    with structlog.testing.capture_logs() as logs:
        await run_for(make_supervisor(FakeService("broken", *scenes)), MINUTE)

    crashes = [entry for entry in logs if entry["event"] == "service.crashed"]
    assert [
        (each["service"], each["code"], each["message"], "exc_info" in each)
        for each in crashes
    ] == [
        ("broken", "internal", "OSError: disk", True),
        ("broken", "internal", "OSError: disk", False),
        ("broken", "internal", "ValueError: else", True),
    ]


@pytest.mark.parametrize(
    ("error", "level"),
    [
        pytest.param(StoreUnavailable("busy"), "warning", id="may go away by itself"),
        pytest.param(StoreCorrupt("torn"), "error", id="needs a person"),
        pytest.param(KeyError("x"), "error", id="fault of ours"),
    ],
)
async def test_the_level_says_whether_a_person_is_needed(error, level):
    with structlog.testing.capture_logs() as logs:
        await run_for(
            make_supervisor(FakeService("broken", crash(error), beat_for_ever)), MINUTE
        )

    assert [e["log_level"] for e in logs if e["event"] == "service.crashed"] == [level]


async def test_a_service_that_ends_unasked_is_started_again():
    async def leave(beat, task_status):
        task_status.started()

    registry = LoopRegistry(LoopClock())
    service = FakeService("short", leave, beat_for_ever)

    await run_for(make_supervisor(service, registry=registry), 30)

    facts = registry.as_json()["short"]
    assert (facts["restarts"], facts["last_error"]["message"]) == (
        1,
        "RuntimeError: it ended although nobody asked",
    )


async def test_a_critical_failure_stops_all_in_order_and_comes_out():
    story = []
    error = StoreCorrupt("torn")
    critical = FakeService(
        "critical", crash(error, after=5), is_critical=True, story=story
    )
    relay = FinishingService("relay", 2, story=story)

    with pytest.raises(StoreCorrupt) as caught:
        await make_supervisor(relay, critical).run()

    assert caught.value is error
    assert story == [
        "relay runs",
        "critical runs",
        "critical ends",
        "relay is stopped",
        "relay has finished",
        "relay ends",
    ]


async def test_a_critical_failure_at_the_start_starts_nothing_more():
    later = FakeService("later")
    critical = FakeService(
        "critical", crash(StoreCorrupt("torn"), is_started=False), is_critical=True
    )

    with pytest.raises(StoreCorrupt):
        await make_supervisor(critical, later).run()

    assert later.runs == []


async def test_the_error_inside_a_group_comes_out_with_its_exit_code():
    async def scene(beat, task_status):
        task_status.started()
        async with anyio.create_task_group() as group:

            async def fail():
                raise StoreUnavailable("full")

            group.start_soon(fail)

    critical = FakeService("critical", scene, is_critical=True)

    with pytest.raises(StoreUnavailable, match="full"):
        await make_supervisor(critical).run()


async def test_a_stuck_service_is_cancelled_counted_and_started_again():
    registry = LoopRegistry(LoopClock())
    stuck = FakeService("stuck", hang, beat_for_ever, deadline=dt.timedelta(minutes=2))
    other = FakeService("other")

    await run_for(make_supervisor(stuck, other, registry=registry), 10 * MINUTE)

    facts = registry.as_json()["stuck"]
    assert 120 <= pauses(stuck)[0] <= 122
    assert (facts["stuck"], facts["restarts"]) == (1, 1)
    assert facts["last_error"]["message"] == "ServiceStuck: no progress for 120 s"
    assert len(other.runs) == 1


async def test_a_stuck_critical_service_is_started_again_too():
    stuck = FakeService(
        "stuck",
        hang,
        beat_for_ever,
        deadline=dt.timedelta(minutes=2),
        is_critical=True,
    )

    await run_for(make_supervisor(stuck), 10 * MINUTE)

    assert len(stuck.runs) == 2


async def test_a_service_that_beats_is_never_stuck():
    service = FakeService("busy", deadline=dt.timedelta(seconds=2))

    await run_for(make_supervisor(service), 3600)

    assert len(service.runs) == 1


async def test_a_service_without_a_deadline_may_be_silent_for_ever():
    service = FakeService("quiet", hang)

    await run_for(make_supervisor(service), 24 * 3600)

    assert len(service.runs) == 1


async def test_an_error_during_the_cancellation_of_a_stuck_service_is_a_crash():
    async def break_when_cancelled(beat, task_status):
        task_status.started()
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("while closing")

    service = FakeService(
        "stuck", break_when_cancelled, beat_for_ever, deadline=dt.timedelta(seconds=5)
    )
    other = FakeService("other")

    await run_for(make_supervisor(service, other), MINUTE)

    assert (len(service.runs), len(other.runs)) == (2, 1)


async def test_an_error_while_stopping_is_logged_and_stops_nothing():
    async def break_when_cancelled(beat, task_status):
        task_status.started()
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("while closing")

    story = []
    with structlog.testing.capture_logs() as logs:
        await run_for(
            make_supervisor(
                FakeService("first", story=story),
                FakeService("broken", break_when_cancelled),
            ),
            1,
        )

    assert story == ["first runs", "first ends"]
    assert [e["message"] for e in logs if e["event"] == "service.failed_at_stop"] == [
        "OSError: while closing"
    ]


async def test_a_request_to_stop_does_not_wait_for_a_restart_that_is_due_later():
    broken = FakeService("broken", crash(OSError("disk")))
    began = anyio.current_time()

    await run_for(make_supervisor(broken), 1000)

    assert anyio.current_time() - began == 1000


async def test_a_stopped_relay_that_waits_for_its_restart_is_not_run_again():
    class Broken(FinishingService):
        async def work(self, beat, task_status):
            raise OSError("disk")

    relay = Broken("relay", 1)
    supervisor = make_supervisor(relay)
    async with anyio.create_task_group() as group:
        group.start_soon(supervisor.run)
        await anyio.sleep(1000)
        runs = len(relay.runs)
        supervisor.request_stop()

    assert (len(relay.runs), relay.is_stopped.is_set()) == (runs, False)


async def test_saying_twice_that_it_started_is_a_fault_of_the_service():
    async def start_twice(beat, task_status):
        task_status.started()
        task_status.started()

    registry = LoopRegistry(LoopClock())
    await run_for(
        make_supervisor(
            FakeService("eager", start_twice, beat_for_ever), registry=registry
        ),
        30,
    )

    assert registry.as_json()["eager"]["last_error"]["message"] == (
        "RuntimeError: a service says only once that it has started"
    )
