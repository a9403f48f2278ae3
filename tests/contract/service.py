"""What every service of the daemon keeps to, whatever it does."""

import random
from pathlib import Path

import anyio
import pytest

ROUNDS = 100
MOST_STEPS = 40


class Readiness:
    """Counts how often a service says that it has started."""

    def __init__(self):
        self.count = 0
        self.started_event = anyio.Event()

    def started(self, value=None):
        self.count += 1
        self.started_event.set()


def list_open_files():
    """Return what this process has open, as far as a service could have opened it."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(entry.readlink()))
        except FileNotFoundError:  # the listing itself
            continue
    return sorted(found)


class ServiceContract:
    """
    Runs over a `service`; `leftovers` returns what must be empty afterwards.

    `settle` waits for threads that finish what a cancelled service has begun.
    """

    @pytest.fixture
    def service(self):
        raise NotImplementedError("a subclass provides the service")

    @pytest.fixture
    def leftovers(self):
        return list

    @pytest.fixture
    def settle(self):
        return anyio.lowlevel.checkpoint

    async def test_it_says_once_that_it_has_started(self, service, leftovers):
        readiness = Readiness()

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:

                async def run():
                    await service.run(lambda: None, task_status=readiness)

                group.start_soon(run)
                await readiness.started_event.wait()
                for _ in range(MOST_STEPS):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()

        assert (readiness.count, leftovers()) == (1, [])

    async def test_it_ends_within_a_second_of_its_cancellation(self, service):
        readiness = Readiness()
        async with anyio.create_task_group() as group:

            async def run():
                await service.run(lambda: None, task_status=readiness)

            group.start_soon(run)
            await readiness.started_event.wait()
            await anyio.wait_all_tasks_blocked()
            cancelled_at = anyio.current_time()
            group.cancel_scope.cancel()

        assert anyio.current_time() - cancelled_at < 1

    async def test_it_starts_and_is_cancelled_anywhere_a_hundred_times(
        self, service, leftovers, settle
    ):
        chance = random.Random(11)
        open_before = []

        for number in range(ROUNDS):
            if number == 1:  # the first round opens what its surroundings keep open
                await settle()
                open_before = list_open_files()
            async with anyio.create_task_group() as group:

                async def run():
                    await service.run(lambda: None, task_status=Readiness())

                group.start_soon(run)
                for _ in range(chance.randrange(MOST_STEPS) if number else MOST_STEPS):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()

        await settle()
        assert (list_open_files(), leftovers()) == (open_before, [])

    async def test_it_works_after_all_that(self, service):
        """A service that was cancelled can be run again."""
        for _ in range(2):
            readiness = Readiness()
            with anyio.fail_after(10):
                async with anyio.create_task_group() as group:

                    async def run(readiness=readiness):
                        await service.run(lambda: None, task_status=readiness)

                    group.start_soon(run)
                    await readiness.started_event.wait()
                    group.cancel_scope.cancel()

            assert readiness.count == 1
