import datetime as dt

import pytest

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.errors import StoreUnavailable
from tests.daemon_parts import HandClock

MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def registry(clock):
    registry = LoopRegistry(clock)
    registry.begin_run("poll", MINUTE)
    registry.mark_ready("poll")
    return registry


def test_a_new_loop_has_its_start_and_nothing_else(registry):
    assert registry.as_json() == {
        "poll": {
            "state": "running",
            "last_start_at": "2026-11-30T01:02:03.000000Z",
            "last_success_at": None,
            "lag_seconds": 0.0,
            "progress_age_seconds": 0.0,
            "consecutive_failures": 0,
            "last_error": None,
            "restarts": 0,
            "stuck": 0,
        }
    }


def test_turns_are_counted_as_failures_until_one_succeeds(registry, clock):
    registry.fail("poll", StoreUnavailable("busy"))
    registry.fail("poll", StoreUnavailable("full"))
    failing = registry.as_json()["poll"]
    clock.seconds += 5
    registry.begin_turn("poll")
    clock.seconds += 1
    registry.succeed("poll")
    facts = registry.as_json()["poll"]

    assert (failing["consecutive_failures"], failing["last_error"]) == (
        2,
        {"code": "store_unavailable", "message": "full"},
    )
    assert facts == {
        "state": "running",
        "last_start_at": "2026-11-30T01:02:08.000000Z",
        "last_success_at": "2026-11-30T01:02:09.000000Z",
        "lag_seconds": 0.0,
        "progress_age_seconds": 0.0,
        "consecutive_failures": 0,
        "last_error": {"code": "store_unavailable", "message": "full"},
        "restarts": 0,
        "stuck": 0,
    }


def test_a_crash_is_counted_in_a_row_until_the_loop_has_run_for_a_while(
    registry, clock
):
    rows = []
    for ran in (0, 10, 299, 300, 0):
        clock.seconds += ran
        rows.append(registry.crash("poll", OSError("x")))
        registry.wait_for_restart("poll", MINUTE)
        clock.seconds += 60
        registry.begin_run("poll", MINUTE)

    assert rows == [1, 2, 3, 1, 2]


def test_a_loop_that_runs_for_a_while_has_recovered_in_the_status(registry, clock):
    registry.crash("poll", OSError("x"), is_stuck=True)
    registry.wait_for_restart("poll", MINUTE)
    waiting = registry.as_json()["poll"]
    registry.begin_run("poll", MINUTE)
    clock.seconds += 299
    fresh = registry.as_json()["poll"]["consecutive_failures"]
    clock.seconds += 1
    steady = registry.as_json()["poll"]

    assert (waiting["state"], waiting["consecutive_failures"]) == ("waiting", 1)
    assert (fresh, steady["consecutive_failures"]) == (1, 0)
    assert (steady["restarts"], steady["stuck"]) == (1, 1)


@pytest.mark.parametrize(
    ("silence", "stalled"),
    [
        pytest.param(60, (), id="within its deadline"),
        pytest.param(70, (), id="while it is being cancelled"),
        pytest.param(70.5, ("poll",), id="beyond that"),
    ],
)
def test_a_silent_loop_stalls_when_its_cancellation_did_not_help(
    registry, clock, silence, stalled
):
    clock.seconds += silence

    assert registry.list_stalled() == stalled


@pytest.mark.parametrize(
    "progress",
    [
        pytest.param(lambda r: r.beat("poll"), id="beat"),
        pytest.param(lambda r: r.fail("poll", OSError("x")), id="failed turn"),
        pytest.param(lambda r: r.succeed("poll"), id="good turn"),
        pytest.param(lambda r: r.begin_run("poll", MINUTE), id="restart"),
        pytest.param(lambda r: r.end("poll"), id="end"),
    ],
)
def test_what_moves_on_does_not_stall(registry, clock, progress):
    clock.seconds += 65
    progress(registry)
    clock.seconds += 65

    assert registry.list_stalled() == ()


def test_a_loop_that_waits_for_its_restart_does_not_stall(registry, clock):
    registry.crash("poll", OSError("x"))
    registry.wait_for_restart("poll", dt.timedelta(minutes=5))
    clock.seconds += 300
    waiting = registry.list_stalled(), registry.as_json()["poll"]
    clock.seconds += 71

    assert waiting[0] == ()
    assert waiting[1]["progress_age_seconds"] == 0.0
    assert registry.list_stalled() == ("poll",)


def test_a_loop_without_a_deadline_never_stalls(registry, clock):
    registry.begin_run("http", None)
    clock.seconds += 69
    registry.beat("poll")
    clock.seconds += 1_000_000
    registry.beat("poll")

    assert registry.list_stalled() == ()


def test_the_end_of_a_loop_that_never_ran_is_no_news(registry):
    registry.end("never")

    assert list(registry.as_json()) == ["poll"]


def test_errors_are_redacted(clock):
    registry = LoopRegistry(clock, redact=lambda text: text.replace("hunter2", "***"))
    registry.begin_run("poll", None)

    registry.fail("poll", OSError("hunter2"))

    assert registry.as_json()["poll"]["last_error"] == {
        "code": "internal",
        "message": "OSError: ***",
    }


def test_how_late_a_turn_began_is_kept_until_the_next(registry):
    registry.begin_turn("poll", late_by=dt.timedelta(seconds=90))
    late = registry.as_json()["poll"]["lag_seconds"]
    registry.begin_turn("poll", late_by=dt.timedelta(seconds=-1))

    assert (late, registry.as_json()["poll"]["lag_seconds"]) == (90.0, 0.0)


def test_facts_tell_the_failures_in_a_row_and_leave_out_what_has_ended(registry):
    registry.begin_run("relay secret", None)
    registry.begin_run("old", None)
    registry.end("old")
    registry.fail("poll", StoreUnavailable("busy"))

    poll, relay = registry.list_facts()
    assert (poll.failures, poll.failure_code) == (1, "store_unavailable")
    assert (relay.kind, relay.failures, relay.failure_code) == ("relay", 0, "")


def test_a_good_turn_between_two_crashes_does_not_end_their_row(registry, clock):
    rows = []
    for _ in range(4):
        registry.begin_run("poll", MINUTE)
        registry.succeed("poll")
        clock.seconds += 60
        rows.append(registry.crash("poll", OSError("x")))
        registry.wait_for_restart("poll", dt.timedelta(seconds=1))

    assert rows == [1, 2, 3, 4]


def test_the_code_of_a_failure_is_gone_with_the_next_success(registry):
    registry.fail("poll", StoreUnavailable("busy"))
    registry.succeed("poll")

    (poll,) = registry.list_facts()
    assert (poll.failures, poll.failure_code) == (0, "")


def test_facts_tell_which_loop_stalls(registry, clock):
    clock.seconds += 3600

    assert [each.is_stalled for each in registry.list_facts()] == [True]
