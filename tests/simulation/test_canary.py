"""Watches that nobody looks at any more are noticed, and those that wait are not."""

import contextlib

import anyio
import pytest
import structlog.testing
import trio.testing

from prwatch.app.mirror import Mirror
from prwatch.errors import StoreUnavailable
from tests.daemons import make_daemon_world, running_daemon

MINUTE = 60.0


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


async def let_nothing_be_due(runtime, end):
    """Be a walk that believes to have asked, cycle after cycle."""
    while not end.is_set():
        for memory in runtime.memory._watches.values():
            memory.asked_at = runtime.clock.now()
        await anyio.sleep(1)


@contextlib.asynccontextmanager
async def blind_daemon(tmp_path):
    """Run a daemon whose cycles succeed without looking at anything."""
    async with running_daemon(tmp_path, make_daemon_world()) as running:
        await anyio.sleep(MINUTE)
        async with anyio.create_task_group() as group:
            end = anyio.Event()
            group.start_soon(let_nothing_be_due, running.runtime, end)
            yield running, end


async def test_a_walk_that_looks_at_nothing_is_found_out(tmp_path):
    with structlog.testing.capture_logs() as logs:
        async with blind_daemon(tmp_path) as (running, end):
            await anyio.sleep(4 * MINUTE)
            early = running.reasons()
            await anyio.sleep(6 * MINUTE)
            found = running.health()
            stale = running.metric("prwatch_stale_watches", reason="unexplained")
            age = running.metric("prwatch_oldest_observation_age_seconds")
            ready, cycles = running.ready(), running.daemon.shift.loop.last_report
            end.set()
            await anyio.sleep(4 * MINUTE)
            after = running.health()

    assert (early, cycles.failures) == ([], [])
    assert (found["verdict"], [each["reason"] for each in found["reasons"]]) == (
        "failing",
        ["stale"],
    )
    assert found["observations"]["over_bound"] == {"unexplained": 1}
    assert (stale, age > 300, ready[0]) == (1, True, 200)
    assert (after["verdict"], after["observations"]["over_bound"]) == ("ok", {})
    assert [each["event"] for each in logs if each["event"].startswith("watches.")] == [
        "watches.stale",
        "watches.fresh",
    ]


async def test_a_watch_that_memory_has_lost_is_found_out(tmp_path):
    class Forgetful(Mirror):
        """Never hears of what was written after its first look."""

        async def refresh(self):
            return

        def forget(self):
            return

    world = make_daemon_world()
    async with running_daemon(
        tmp_path, world, watches=('repository = "octo/hello"\nall = true',)
    ) as running:
        await anyio.sleep(MINUTE)
        running.runtime.mirror = Forgetful(running.runtime.database)
        await running.runtime.mirror.view(
            running.runtime.wired.accounts[0].workspaces[0]
        )
        world.open_pull_request("octo/hello", branch="other", number=13)
        await anyio.sleep(6 * MINUTE)
        reasons = running.health()["reasons"]

    assert [(each["reason"], each["count"]) for each in reasons] == [("stale", 1)]


@pytest.mark.parametrize(
    ("fault", "explained"),
    [
        pytest.param("bad_credentials;times=none", "circuit", id="token"),
        pytest.param("html502;times=none", "circuit", id="host"),
        pytest.param("rate_limited", "limit", id="limit"),
    ],
)
async def test_what_has_a_reason_is_no_alarm(tmp_path, fault, explained):
    world = make_daemon_world()
    async with running_daemon(tmp_path, world) as running:
        await anyio.sleep(MINUTE)
        world.faults.add(fault)
        await anyio.sleep(20 * MINUTE)
        stale = running.health()
        unexplained = running.metric("prwatch_stale_watches", reason="unexplained")

    assert "stale" not in [each["reason"] for each in stale["reasons"]]
    assert stale["observations"]["over_bound"] == {explained: 1}
    assert unexplained == 0


async def test_one_long_first_cycle_is_no_alarm(tmp_path):
    world = make_daemon_world()
    for number in range(100, 112):
        world.open_pull_request("octo/hello", branch=f"b{number}", number=number)
    # It goes on for long, and always gets on.
    world.faults.add("slow;seconds=15;times=none")
    alarms, looks = [], []
    async with running_daemon(
        tmp_path,
        world,
        poll='read_path = "rest"',
        watches=tuple(
            f'repository = "octo/hello"\npull_request = {n}' for n in range(100, 112)
        ),
    ) as running:
        while running.daemon.shift.loop.last_report is None:
            await anyio.sleep(MINUTE)
            looks.append(running.daemon.shift.canary.ages)
            alarms += [each for each in running.reasons() if each == "stale"]

    assert looks[-1].overdue
    assert alarms == []


async def test_a_store_that_cannot_be_read_fails_the_canary_and_not_the_daemon(
    tmp_path,
):
    async with running_daemon(tmp_path, make_daemon_world()) as running:
        await anyio.sleep(MINUTE)
        running.runtime.database = RefusingDatabase(running.runtime.database)
        await anyio.sleep(5 * MINUTE)
        loops = running.health()["loops"]

    assert loops["canary"] == {"count": 1, "failing": 1, "stalled": 0}


class RefusingDatabase:
    """A database that nobody can read or write any more."""

    def __init__(self, database):
        self._database = database
        self.rows_written = database.rows_written

    async def change_token(self):
        return await self._database.change_token()

    async def read(self, fn):
        raise StoreUnavailable("gone")

    async def transact(self, fn):
        raise StoreUnavailable("gone")
