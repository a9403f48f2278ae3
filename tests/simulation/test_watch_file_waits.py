"""When a folder, or one of its files, is asked for again after it failed."""

import contextlib
import datetime as dt

import anyio
import pytest

from prwatch.app.polling import start
from prwatch.app.sync.file_fetching import MAX_FAILED_RUNNING
from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due, sync_now
from prwatch.errors import StoreError
from prwatch.simulator import DEFAULT_TOKEN, Fault
from tests.followed import (
    FIX,
    HELLO,
    SYNC,
    TASK,
    follow,
    list_active,
    make_team,
    turn,
    write,
)

DAILY = SYNC.replace("5m", "24h")
DAY = 86400.0
TURN = dt.timedelta(seconds=15)


@pytest.fixture
def world():
    return make_team()


async def wait_for_look(product, *, longest=DAY):
    """Let turns of the loop pass until one looks; return its time and outcome."""
    since = product.clock.now()
    while product.clock.now() - since < dt.timedelta(seconds=longest):
        product.clock.advance(TURN.total_seconds())
        for each in await sync_due(product.runtime):
            if each.result is not SyncResult.SKIPPED:
                return product.clock.now(), each
    raise AssertionError("nobody looked")


def count_asked(product):
    """Return how many requests about folders and files were made."""
    return product.runtime.wired.accounts[0].github.usage.rest


@pytest.mark.parametrize("kind", ["json500", "reset", "secondary", "gone410"])
async def test_a_failed_look_is_taken_again_when_its_wait_is_over(
    tmp_path, world, kind
):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:
        fault = world.faults.add(Fault(kind=kind, match="contents", times=None))
        failed = await turn(product)
        world.faults.remove(fault)
        looked_at, back = await wait_for_look(product)

        assert failed.result is SyncResult.FAILED
        assert dt.timedelta() <= looked_at - failed.until < TURN
        assert back.result is SyncResult.CHANGED
        assert list_active(product) == ["octo/hello#12"]


async def test_a_primary_limit_is_waited_for_and_not_longer(tmp_path, world):
    async with follow(tmp_path, world, sync=DAILY) as product:
        await turn(product)
        write(world, HELLO)
        product.clock.advance(DAY)
        world.exhaust_rate_limit("core")
        limited = await turn(product, gap=0)
        looked_at, back = await wait_for_look(product)

        assert limited.code == "rate_limited"
        assert looked_at - limited.until < TURN
        assert back.result is SyncResult.CHANGED


@pytest.mark.parametrize("reason", ["circuit", "limit", "no_token"])
async def test_a_folder_that_is_held_back_is_thought_of_once_an_interval(
    tmp_path, world, reason
):
    corp = f'[[workspace]]\nname = "corp"\ntoken_env = "GONE"\n{SYNC}'
    sync = corp if reason == "no_token" else SYNC
    async with follow(tmp_path, world, sync=sync) as product:
        if reason == "circuit":
            world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
        if reason == "limit":
            world.exhaust_rate_limit("core")
        outcomes = []
        for _ in range(120):
            product.clock.advance(TURN.total_seconds())
            outcomes += await sync_due(product.runtime)
        skipped = [each for each in outcomes if each.result is SyncResult.SKIPPED]

        # Half an hour: the wait of a circuit or a limit is seen at its end, and no
        # store is read each turn before it.
        assert {each.reason for each in skipped} == {reason}
        assert len(skipped) <= (30 if reason == "no_token" else 6)


async def test_another_connection_ends_the_hold_within_an_interval(tmp_path, world):
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    async with follow(tmp_path, world) as product:
        for _ in range(5):
            await turn(product, gap=3600.0)
        await turn(product)
        world.set_token(DEFAULT_TOKEN)
        with contextlib.closing(product.connect()) as rows:
            rows.execute("UPDATE connections SET generation = generation + 1")
        _, back = await wait_for_look(product, longest=315.0)

        assert back.result is SyncResult.UNCHANGED


async def test_a_hold_of_before_the_clock_was_set_back_holds_nothing(tmp_path, world):
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    async with follow(tmp_path, world) as product:
        await turn(product)
        await turn(product)
        product.clock.advance(-DAY)
        _, back = await wait_for_look(product, longest=30.0)

        assert back.result is SyncResult.FAILED


async def test_a_look_that_another_connection_refused_is_taken_again_soon(
    tmp_path, world
):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:

        def renew():
            with contextlib.closing(product.connect()) as rows:
                rows.execute("UPDATE connections SET generation = generation + 1")

        (refused,) = await sync_due(product.runtime, progress=renew)
        _, back = await wait_for_look(product, longest=90.0)

        assert refused.code == "access_changed"
        assert back.result is SyncResult.CHANGED


@pytest.mark.parametrize("table", ["watch_files", "tasks"])
async def test_a_look_that_the_store_failed_is_taken_again_soon(tmp_path, world, table):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:
        with contextlib.closing(product.connect()) as rows:
            rows.execute(
                f"CREATE TRIGGER full BEFORE INSERT ON {table}"
                " BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
            with pytest.raises(StoreError):
                await sync_due(product.runtime)
            rows.execute("DROP TRIGGER full")
        await wait_for_look(product, longest=90.0)

        assert list_active(product) == ["octo/hello#12"]


async def test_a_look_that_was_cut_off_is_taken_again_soon(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:
        with anyio.CancelScope() as scope:
            await sync_due(product.runtime, progress=scope.cancel)
        await wait_for_look(product, longest=90.0)

        assert list_active(product) == ["octo/hello#12"]


async def test_a_folder_that_is_well_waits_for_its_interval(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:
        first, _ = await wait_for_look(product)
        second, _ = await wait_for_look(product, longest=2 * DAY)

        assert second - first == dt.timedelta(days=1)


async def test_a_crash_loop_asks_once_a_start_and_waits_for_longer(tmp_path, world):
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    waits = []
    for _ in range(3):
        async with follow(tmp_path, world) as product:
            await start(product.runtime)
            for _ in range(4):
                product.clock.advance(TURN.total_seconds())
                await sync_due(product.runtime)
            # The folder, and the one above it, which would prove that it is gone.
            assert count_asked(product) == 2
            (row,) = product.ask(
                "SELECT failures, open_until - opened_at AS wait"
                " FROM watch_folder_circuits"
            )
            waits.append((row["failures"], row["wait"]))

    assert [failures for failures, _ in waits] == [1, 2, 3]
    assert waits == sorted(waits)


@pytest.mark.parametrize("kind", ["json500", "html502", "reset", "gone410", "not_json"])
async def test_a_file_that_fails_holds_no_other_one_back(tmp_path, world, kind):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=DAILY) as product:
        await turn(product)
        write(world, FIX)
        write(world, TASK, "b.toml")
        fault = world.faults.add(Fault(kind=kind, match=r"a\.toml", times=None))
        outcome = await turn(product, gap=DAY)
        kept = list_active(product)
        world.faults.remove(fault)
        _, back = await wait_for_look(product, longest=120.0)

        assert outcome.result is SyncResult.CHANGED
        (warning,) = outcome.warnings
        assert warning.startswith("a.toml: could not be fetched: ")
        assert kept == ["T-1", "octo/hello#12"]
        assert back.warnings == ()
        assert list_active(product) == ["T-1", "octo/hello@fix"]


async def test_an_entry_that_may_stand_in_a_file_that_fails_does_not_end(
    tmp_path, world
):
    write(world, HELLO)
    write(world, "", "b.toml")
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, "")
        write(world, HELLO, "b.toml")
        fault = world.faults.add(Fault(kind="json500", match=r"b\.toml", times=None))
        outcome = await turn(product)
        kept = list_active(product)
        world.faults.remove(fault)
        back = await turn(product)

        assert kept == list_active(product) == ["octo/hello#12"]
        assert (
            "task octo/hello#12 is declared no more, and kept until octo/team:.prwatch"
            " is read as a whole"
        ) in outcome.warnings
        assert (back.steps, back.warnings) == (0, ())


async def test_many_files_of_a_host_that_is_down_are_few_requests(tmp_path, world):
    for number in range(20):
        write(world, "", f"{number:02}.toml")
    async with follow(tmp_path, world) as product:
        fault = world.faults.add(Fault(kind="json500", match=r"\.toml", times=None))
        failed = await turn(product)
        asked = count_asked(product)
        world.faults.remove(fault)
        back = await turn(product, gap=600.0)

        assert failed.result is SyncResult.FAILED
        assert asked == 1 + MAX_FAILED_RUNNING
        assert (back.result, back.warnings) == (SyncResult.CHANGED, ())


async def test_files_behind_those_that_fail_are_read_first_the_next_time(
    tmp_path, world
):
    write(world, FIX, "0.toml")
    for name in ("a.toml", "b.toml", "c.toml"):
        write(world, "", name)
    write(world, HELLO, "z.toml")
    async with follow(tmp_path, world, sync=DAILY) as product:
        world.faults.add(Fault(kind="json500", match=r"[abc]\.toml", times=None))
        await turn(product)
        before = list_active(product)
        await wait_for_look(product)

        assert before == ["octo/hello@fix"]
        assert list_active(product) == ["octo/hello#12", "octo/hello@fix"]


async def test_a_file_that_stays_unreadable_costs_ever_less(tmp_path, world):
    write(world, HELLO)
    write(world, FIX, "b.toml")
    async with follow(tmp_path, world) as product:
        world.faults.add(Fault(kind="gone410", match=r"b\.toml", times=None))
        await turn(product)
        github = product.runtime.wired.accounts[0].github
        before = github.usage
        end = product.clock.now() + dt.timedelta(days=1)
        while product.clock.now() < end:
            product.clock.advance(TURN.total_seconds())
            for each in await sync_due(product.runtime):
                assert each.result is SyncResult.UNCHANGED
        counted = (github.usage.rest - github.usage.not_modified) - (
            before.rest - before.not_modified
        )

        assert 5 <= counted <= 15
        assert list_active(product) == ["octo/hello#12"]


async def test_an_edit_or_a_person_ends_the_wait_of_a_file(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        fault = world.faults.add(Fault(kind="gone410", match=r"a\.toml", times=None))
        for _ in range(8):
            await turn(product)
        world.faults.remove(fault)
        waiting = await turn(product)
        (forced,) = await sync_now(product.runtime)

        assert waiting.result is SyncResult.UNCHANGED
        assert (forced.result, forced.warnings) == (SyncResult.CHANGED, ())

        fault = world.faults.add(Fault(kind="gone410", match=r"a\.toml", times=None))
        write(world, FIX)
        for _ in range(8):
            await turn(product)
        world.faults.remove(fault)
        write(world, TASK)
        await turn(product)

        assert list_active(product) == ["T-1"]
