"""The daemon's own faults while it runs: nothing is lost, nothing doubled, no rush."""

import io
import json
import socket

import anyio
import httpx
import pytest
import structlog.testing
import trio.testing

from prwatch.app.daemon.service_keeper import RESTART
from prwatch.app.store_place import DATABASE_NAME
from prwatch.simulator import GitHubApp
from prwatch.store.query import Query
from tests.daemons import make_daemon_world, running_daemon
from tests.product import list_changes

# What a failing commit leaves of a walk is closed when it is collected.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

MINUTE = 60.0
HOUR = 3_600.0
FULL = "PRAGMA max_page_count = 1"
ROOMY = "PRAGMA max_page_count = 1000000"
READ_ONLY = "PRAGMA query_only = ON"
WRITABLE = "PRAGMA query_only = OFF"
DRAFT = (("is_draft", False, True),)


@pytest.fixture
def anyio_backend():
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


class Told(io.BytesIO):
    """A stream of events that a test can look through."""

    @property
    def events(self):
        found = [json.loads(line) for line in self.getvalue().splitlines()]
        return [each for each in found if "watch_id" in each["data"]]


async def set_store(running, text):
    """Tell the writing connection something about itself, outside a transaction."""
    await running.runtime.database._writer.run(lambda c: c.execute(text).fetchall())


def count_restarts(running, name="watch_cycle"):
    return running.daemon.registry.as_json()[name]["restarts"]


def most_restarts(seconds):
    """Return how often the backoff lets a service start again in that time."""
    waited, count = 0.0, 0
    while waited <= seconds:
        count += 1
        waited += RESTART.delay(count, 0.0).total_seconds()
    return count


@pytest.mark.parametrize(
    ("harm", "heal", "word"),
    [
        pytest.param(FULL, ROOMY, "full", id="full disk"),
        pytest.param(READ_ONLY, WRITABLE, "cannot be written", id="read-only"),
    ],
)
@pytest.mark.parametrize("hours", [0.2, 3])
async def test_a_store_that_takes_nothing_loses_and_doubles_no_event(
    tmp_path, hours, harm, heal, word
):
    world, out = make_daemon_world(), Told()
    (one,) = world.pull_requests.values()
    with structlog.testing.capture_logs() as logs:
        async with running_daemon(tmp_path, world, out=out) as running:
            await anyio.sleep(2 * MINUTE)
            await set_store(running, harm)
            for text in range(40):  # more than the free room of a page
                world.retitle(one, f"{text} " * 200)
            world.mark_draft(one)
            await anyio.sleep(hours * HOUR)
            ill, told_ill = running.health(), list_changes(out.events)
            restarts = count_restarts(running)
            await set_store(running, heal)
            # The longest wait for a restart, and the time that shows it recovered;
            # what is removed once an hour shows it an hour later.
            await anyio.sleep(20 * MINUTE)
            better = running.health()
            await anyio.sleep(HOUR)
            well = running.health()

    crashes = [e for e in logs if e["event"] == "service.crashed"]
    assert told_ill == [(("associated", None, 12),)]
    assert ill["verdict"] == "failing"
    assert "store_unwritable" in [each["reason"] for each in ill["reasons"]]
    assert 1 <= restarts <= most_restarts(hours * HOUR)
    assert word in crashes[0]["message"]
    assert sum("exc_info" in each for each in crashes) == 1
    changes = [
        tuple(c for c in each if c[0] != "activity")
        for each in list_changes(out.events)
    ]
    assert [each for each in changes if each] == [(("associated", None, 12),), DRAFT]
    assert len({e["id"] for e in out.events}) == len(out.events)
    assert (better["verdict"] != "failing", well["verdict"]) == (True, "ok")


@pytest.mark.parametrize("where", ["middle", "header", "everything"])
async def test_a_database_that_is_damaged_while_it_runs_is_no_crash_loop(
    tmp_path, where
):
    world, out = make_daemon_world(), Told()
    (one,) = world.pull_requests.values()
    path = tmp_path / DATABASE_NAME
    with structlog.testing.capture_logs() as logs:
        async with running_daemon(tmp_path, world, out=out) as running:
            await anyio.sleep(2 * MINUTE)
            query = Query("checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)")
            await running.runtime.database.read(lambda tx: tx.fetch(query))
            spoil(path, where)
            world.mark_draft(one)
            await anyio.sleep(2 * HOUR)
            restarts, alive = count_restarts(running), running.page("/healthz")
            loops = running.daemon.registry.as_json()

    crashes = [each for each in logs if each["event"] == "service.crashed"]
    assert alive[0] == 200
    assert restarts <= most_restarts(2 * HOUR)
    assert {each["code"] for each in crashes} <= {"store_corrupt", "store_unavailable"}
    assert all(loop["state"] in {"running", "waiting"} for loop in loops.values())
    assert set(list_changes(out.events)) <= {(("associated", None, 12),), DRAFT}
    assert len({e["id"] for e in out.events}) == len(out.events)


def spoil(path, where):
    """Overwrite pages in the place of the file that is open."""
    size = path.stat().st_size
    at, length = {
        "middle": (size // 2 // 4096 * 4096, 4 * 4096),
        "header": (0, 100),
        "everything": (0, size),
    }[where]
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xff" * length)


def fail_to_resolve():
    raise httpx.ConnectError("no name") from socket.gaierror(-2, "Name not known")


class Way(httpx.ASGITransport):
    """A way to GitHub on which `obstacle` stands while it is set."""

    def __init__(self, world, obstacle=None):
        super().__init__(GitHubApp(world))
        self.obstacle = obstacle
        self.asked_at = []

    async def handle_async_request(self, request):
        self.asked_at.append(anyio.current_time())
        if self.obstacle is not None:
            found = self.obstacle()
            if found is not None:
                return await found
        return await super().handle_async_request(request)


async def stay_silent():
    await anyio.sleep_forever()


class Drops(httpx.AsyncByteStream):
    """A body of which one byte comes every ten seconds."""

    async def __aiter__(self):
        while True:
            yield b" "
            await anyio.sleep(10)


async def drip():
    return httpx.Response(200, stream=Drops())


OBSTACLES = [
    pytest.param(fail_to_resolve, id="a name that does not resolve"),
    pytest.param(stay_silent, id="a socket that never answers"),
    pytest.param(drip, id="a byte every ten seconds"),
]


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("is_at_boot", [True, False], ids=["at boot", "later"])
async def test_a_github_that_cannot_be_reached_degrades_and_comes_back(
    tmp_path, is_at_boot, obstacle
):
    world, out = make_daemon_world(), Told()
    (one,) = world.pull_requests.values()
    way = Way(world, obstacle if is_at_boot else None)
    async with running_daemon(tmp_path, world, out=out, transport=way) as running:
        await anyio.sleep(2 * MINUTE)
        way.obstacle = obstacle
        world.mark_draft(one)
        way.asked_at.clear()
        await anyio.sleep(HOUR)
        ill, ready, asked = running.health(), running.ready(), list(way.asked_at)
        way.obstacle = None
        # The longest backoff, and the interval after it.
        await anyio.sleep(14 * MINUTE)
        well = running.health()

    first = (("associated", None, 12),)
    assert (ready[0], ill["ready"], ill["verdict"]) == (200, True, "degraded")
    assert [each["reason"] for each in ill["reasons"]] == ["github_unreachable"]
    assert len(asked) <= 40  # 30 s doubling to ten minutes, each asked twice
    assert list_changes(out.events) == ([first] if is_at_boot else [first, DRAFT])
    assert well["verdict"] == "ok"
    assert {
        loop["restarts"] for loop in running.daemon.registry.as_json().values()
    } == {0}


def break_down():
    raise RuntimeError("a fault of ours")


async def test_a_loop_that_raises_each_time_harms_no_other_and_is_logged_once(tmp_path):
    world, out = make_daemon_world(), Told()
    (one,) = world.pull_requests.values()
    way = Way(world)
    with structlog.testing.capture_logs() as logs:
        async with running_daemon(tmp_path, world, out=out, transport=way) as running:
            await anyio.sleep(2 * MINUTE)
            way.obstacle = break_down
            world.mark_draft(one)
            await anyio.sleep(2 * HOUR)
            ill, restarts = running.health(), count_restarts(running)
            others = {
                name: loop["restarts"]
                for name, loop in running.daemon.registry.as_json().items()
                if name != "watch_cycle"
            }
            way.obstacle = None
            await anyio.sleep(20 * MINUTE)
            well = running.health()

    crashes = [each for each in logs if each["event"] == "service.crashed"]
    assert {each["service"] for each in crashes} == {"watch_cycle"}
    assert sum("exc_info" in each for each in crashes) == 1
    assert 5 <= restarts <= most_restarts(2 * HOUR)
    assert set(others.values()) == {0}
    assert ill["verdict"] == "failing"
    assert well["verdict"] == "ok"
    assert list_changes(out.events) == [(("associated", None, 12),), DRAFT]


class Deaf(Way):
    """Never answers, and takes no notice of a cancellation while `is_deaf`."""

    is_deaf = False

    async def handle_async_request(self, request):
        if self.is_deaf:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(20 * MINUTE)
        return await super().handle_async_request(request)


async def test_a_loop_that_never_returns_is_cancelled_counted_and_not_fed_for(tmp_path):
    world, out = make_daemon_world(), Told()
    (one,) = world.pull_requests.values()
    way = Deaf(world)
    async with running_daemon(tmp_path, world, out=out, transport=way) as running:
        await anyio.sleep(2 * MINUTE)
        way.is_deaf = True
        world.mark_draft(one)
        stalled = []
        for _ in range(30):
            await anyio.sleep(MINUTE)
            stalled.append(running.daemon.registry.list_stalled())
        way.is_deaf = False
        await anyio.sleep(40 * MINUTE)
        well = running.health()
        stuck = running.daemon.registry.as_json()["watch_cycle"]["stuck"]

    # Within its deadline nobody suspects it; then the watchdog is not fed.
    assert stalled[0] == ()
    assert ("watch_cycle",) in stalled
    assert all(each in {(), ("watch_cycle",)} for each in stalled)
    assert stuck >= 1
    assert well["verdict"] == "ok"
    assert list_changes(out.events) == [(("associated", None, 12),), DRAFT]
