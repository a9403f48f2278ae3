"""Two that observe one pull request at once: every change is told once, by one."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest

from prwatch.app.command.check import check_and_deliver
from prwatch.app.polling import poll
from prwatch.clock import SystemClock
from prwatch.simulator import GitHubApp
from prwatch.simulator.loopback import serve
from prwatch.store import watches
from tests.contract.store_backends import open_schema
from tests.product import MovedClock, list_changes, open_product
from tests.simulation.scenarios import make_world

ROOT = Path(__file__).parent.parent.parent
EVENT_TYPES = ["GitHubPRFeedback", "GitHubTaskPRUpdated"]


class Meeting(httpx.ASGITransport):
    """Holds every answer to a reading of one until the other has one too."""

    def __init__(self, app):
        super().__init__(app)
        self.is_on = False
        self.count = 0
        self._waiting = anyio.Event()

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        if self.is_on and self._is_last_of_reading(request):
            self.count += 1
            if self.count == 2:
                self._waiting.set()
            with anyio.fail_after(20):
                await self._waiting.wait()
        return response

    def _is_last_of_reading(self, request):
        if request.url.path == "/graphql":
            return b"query Details" in request.content
        return request.url.path.endswith("/comments")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request):
    """Return the line of the configuration that chooses the engine."""
    if request.param == "sqlite":
        yield ""
    else:
        with open_schema() as url:
            yield f'database_url = "{url}"'


@contextlib.asynccontextmanager
async def open_two(folder, top):
    """Open two products over one database and one world, with their own memories."""
    world, pull_request = make_world(MovedClock())
    transport = Meeting(GitHubApp(world))
    options = {"transport": transport, "is_inline": False, "top": top}
    async with (
        open_product(folder, world, **options) as first,
        open_product(folder, world, seed=1, **options) as second,
    ):
        await first.cycle()
        await second.cycle()
        first.take_events()
        second.take_events()
        yield world, pull_request, transport, first, second


async def poll_once(product):
    return await poll(product.runtime, is_forced=True)


async def check_once(product):
    async def read(tx):
        (watch,) = await watches.list_watches(tx, workspace_id)
        return watch

    workspace_id = product.runtime.wired.workspaces["acme"].id
    watch = await product.runtime.database.read(read)
    await check_and_deliver(product.runtime, [watch.id])


@pytest.mark.parametrize(
    ("act", "other"),
    [
        pytest.param(poll_once, poll_once, id="two daemons"),
        pytest.param(poll_once, check_once, id="a check beside a daemon"),
        pytest.param(check_once, check_once, id="two checks"),
    ],
)
async def test_of_two_who_read_the_same_change_one_tells_it(
    tmp_path, engine, act, other
):
    async with open_two(tmp_path, engine) as (world, one, meeting, first, second):
        world.mark_draft(one)
        world.comment(one, "linus")
        first.clock.advance(60)
        meeting.is_on = True

        async with anyio.create_task_group() as group:
            group.start_soon(act, first)
            group.start_soon(other, second)
        met, meeting.is_on = meeting.count, False
        told = []
        for product in (first, second, first, second):
            told += await product.cycle()
        told += await first.cycles(3)

    assert met == 2
    assert [fields(one) for one in list_changes(told)] == [("is_draft", "comments")]
    # Either may have handed over either of the two: only each one's own are in order.
    assert sorted(event["type"] for event in told) == sorted(EVENT_TYPES)
    assert {event["data"]["revision"] for event in told} == {2}


def fields(changes):
    return tuple(field for field, _, _ in changes)


class PollingProcess:
    """A process of its own whose events are gathered as they come."""

    def __init__(self, folder, database_url, api_url):
        module = "tests.fault.polling_process"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(folder), database_url, api_url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    async def gather(self, events, on_event):
        while line := await anyio.to_thread.run_sync(self._process.stdout.readline):
            events.append(json.loads(line))
            on_event()

    def end(self):
        self._process.stdin.close()

    def wait(self):
        self._process.stdout.close()
        return self._process.wait(20)


class Toggling:
    """Turns a pull request into a draft and back, once for each event that came."""

    def __init__(self, world, pull_request, times):
        self._world = world
        self._one = pull_request
        self._left = times
        self._seen = 0
        self.is_done = anyio.Event()

    def on_update(self, revision):
        if revision <= self._seen:
            return
        self._seen = revision
        if not self._left:
            self.is_done.set()
            return
        self._left -= 1
        if self._one.is_draft:
            self._world.mark_ready(self._one)
        else:
            self._world.mark_draft(self._one)


@pytest.fixture
def postgres_url():
    with open_schema() as url:
        yield url


@pytest.mark.postgres
async def test_two_processes_on_one_server_never_double_or_lose_an_event(
    tmp_path, postgres_url
):
    times, events = 12, []
    world, pull_request = make_world(SystemClock())
    toggling = Toggling(world, pull_request, times)

    def on_event():
        if events[-1]["type"] == "GitHubTaskPRUpdated":
            toggling.on_update(events[-1]["data"]["revision"])

    async with serve(GitHubApp(world)) as api_url:
        processes = [
            PollingProcess(tmp_path / name, postgres_url, api_url)
            for name in ("a", "b")
        ]
        async with anyio.create_task_group() as group:
            for process in processes:
                group.start_soon(process.gather, events, on_event)
            with anyio.move_on_after(45):
                await toggling.is_done.wait()
            for process in processes:
                process.end()
    codes = [process.wait() for process in processes]

    updates = sorted(
        (e for e in events if e["type"] == "GitHubTaskPRUpdated"),
        key=lambda e: e["data"]["revision"],
    )
    assert codes == [0, 0]
    assert len({event["id"] for event in events}) == len(events)
    assert [e["data"]["revision"] for e in updates] == list(range(1, times + 2))
    assert list_changes(updates)[1:] == [
        (("is_draft", n % 2 == 1, n % 2 == 0),) for n in range(times)
    ]
