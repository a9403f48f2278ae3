"""Parts of a daemon for tests: time of the event loop, services, systemd's end."""

import contextlib
import datetime as dt
import random
import select
import socket

import anyio

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.supervisor import Supervisor
from prwatch.telemetry.systemd import SystemdNotifier

EPOCH = dt.datetime(2026, 11, 30, 1, 2, 3, tzinfo=dt.UTC)


class LoopClock:
    """The event loop's own time, which jumps on trio's MockClock."""

    def now(self):
        return EPOCH + dt.timedelta(seconds=self.monotonic())

    def monotonic(self):
        return anyio.current_time()

    async def sleep(self, seconds):
        await anyio.sleep(max(0.0, seconds))


class HandClock:
    """A clock that stands still until a test moves it."""

    def __init__(self):
        self.seconds = 1000.0

    def now(self):
        return EPOCH + dt.timedelta(seconds=self.seconds - 1000)

    def monotonic(self):
        return self.seconds

    async def sleep(self, seconds):
        self.seconds += seconds
        await anyio.lowlevel.checkpoint()


class FakeService:
    """
    A service that beats each second, until its `scenes` say otherwise.

    Each run takes one scene, the last one for ever: a coroutine function that is
    called with `beat` and `task_status`. `story` gets what happens, in order.
    """

    def __init__(self, name, *scenes, is_critical=False, deadline=None, story=None):
        self.name = name
        self.is_critical = is_critical
        self.deadline = deadline
        self.scenes = list(scenes) or [beat_for_ever]
        self.story = [] if story is None else story
        self.runs = []

    async def run(self, beat, *, task_status):
        self.runs.append(anyio.current_time())
        self.story.append(f"{self.name} runs")
        scene = self.scenes.pop(0) if len(self.scenes) > 1 else self.scenes[0]
        try:
            await scene(beat, task_status)
        finally:
            self.story.append(f"{self.name} ends")


class FinishingService(FakeService):
    """One that finishes its work when it is stopped, which takes `seconds`."""

    def __init__(self, name, seconds, *, story=None):
        super().__init__(name, self.work, story=story)
        self.seconds = seconds
        self.is_stopped = anyio.Event()

    def stop(self):
        self.story.append(f"{self.name} is stopped")
        self.is_stopped.set()

    async def work(self, beat, task_status):
        task_status.started()
        await self.is_stopped.wait()
        await anyio.sleep(self.seconds)
        self.story.append(f"{self.name} has finished")


async def beat_for_ever(beat, task_status):
    task_status.started()
    while True:
        beat()
        await anyio.sleep(1)


async def hang(beat, task_status):
    task_status.started()
    await anyio.sleep_forever()


def crash(error, *, after=0.0, is_started=True):
    """Return a scene that ends with an error."""

    async def scene(beat, task_status):
        if is_started:
            task_status.started()
        await anyio.sleep(after)
        raise error

    return scene


class SystemdEnd:
    """Where systemd listens, on a real socket."""

    def __init__(self, path):
        self.address = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.setblocking(False)

    def receive(self):
        """Return the messages that have come since the last time."""
        messages = []
        with contextlib.suppress(BlockingIOError):
            while True:
                messages.append(self._socket.recv(10_000).decode())
        return messages

    def wait_for_message(self, seconds):
        """Return whether a message is there, or comes within that time."""
        return bool(select.select([self._socket], [], [], seconds)[0])

    def close(self):
        self._socket.close()


def make_supervisor(*services, registry=None, notifier=None, grace=20.0):
    clock = LoopClock()
    return Supervisor(
        services,
        registry=registry or LoopRegistry(clock),
        clock=clock,
        chance=random.Random(7),
        notifier=notifier or SystemdNotifier(""),
        grace=dt.timedelta(seconds=grace),
    )
