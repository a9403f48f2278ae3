"""The services of the daemon, held to what every service keeps to."""

import datetime as dt
import socket

import anyio
import pytest

from prwatch.app.control.line_socket import connect_line_socket
from prwatch.app.control.server import ControlServer
from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.daemon.reload import Reloader
from prwatch.app.daemon.watchdog import Watchdog
from prwatch.app.meter.metrics_listener import open_metrics_listener
from prwatch.app.meter.metrics_server import MetricsServer, Page
from prwatch.app.retention import EventRetention, Retention
from prwatch.store.opening import open_database
from prwatch.telemetry.systemd import SystemdNotifier
from tests.contract.service import MOST_STEPS, ROUNDS, Readiness, ServiceContract
from tests.contract.store_backends import NOW
from tests.daemon_parts import LoopClock


class OnBothLoops(ServiceContract):
    @pytest.fixture(params=["asyncio", "trio"])
    def anyio_backend(self, request):
        return request.param


class TestControlServer(OnBothLoops):
    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "prwatch.sock"

    @pytest.fixture
    def service(self, path):
        async def wait(arguments):
            await anyio.sleep_forever()

        return ControlServer(path, {"wait": wait})

    @pytest.fixture
    def leftovers(self, path):
        return lambda: list(path.parent.iterdir())

    async def test_it_is_cancelled_anywhere_while_clients_come(
        self, service, path, leftovers
    ):
        for number in range(ROUNDS):
            clients = []
            readiness = Readiness()
            async with anyio.create_task_group() as group:

                async def run(readiness=readiness):
                    await service.run(lambda: None, task_status=readiness)

                group.start_soon(run)
                await readiness.started_event.wait()
                for _ in range(number % 4):
                    clients.append(connect_line_socket(path))
                    await clients[-1].send(b'{"command":"wait"}\n')
                for _ in range(number % MOST_STEPS):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            for client in clients:
                client.close()

        assert leftovers() == []


class TestMetricsServer(OnBothLoops):
    @pytest.fixture
    def listening(self):
        with open_metrics_listener("127.0.0.1:0") as listening:
            yield listening

    @pytest.fixture
    def service(self, listening):
        return MetricsServer(listening, {"/": lambda: Page(b"here\n")})

    async def test_it_is_cancelled_anywhere_while_clients_come(
        self, service, listening
    ):
        for number in range(ROUNDS):
            clients = []
            readiness = Readiness()
            async with anyio.create_task_group() as group:

                async def run(readiness=readiness):
                    await service.run(lambda: None, task_status=readiness)

                group.start_soon(run)
                await readiness.started_event.wait()
                for _ in range(number % 4):
                    clients.append(socket.create_connection(listening.getsockname()))
                    clients[-1].sendall(b"GET / HTTP/1.1\r\n\r\n")
                for _ in range(number % MOST_STEPS):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            for client in clients:
                client.close()


class TestReloader(OnBothLoops):
    @pytest.fixture
    def service(self):
        reloader = Reloader(
            anyio.lowlevel.checkpoint, notifier=SystemdNotifier(""), clock=LoopClock()
        )
        reloader.request()
        return reloader


class TestWatchdog(OnBothLoops):
    @pytest.fixture
    def service(self):
        clock = LoopClock()
        return Watchdog(
            notifier=SystemdNotifier(""),
            registry=LoopRegistry(clock),
            clock=clock,
            interval=dt.timedelta(milliseconds=3),
            describe=str,
        )


class TestRetention(ServiceContract):
    """On asyncio with the driver's threads, where cancellation is hardest."""

    @pytest.fixture
    async def database(self, tmp_path):
        async with open_database(tmp_path / "prwatch.db", now=NOW) as database:
            yield database

    @pytest.fixture
    def settle(self, database):
        """Stand in line behind the transaction that is still on its way."""

        async def nothing(tx):
            return None

        async def wait():
            await database.transact(nothing)

        return wait

    @pytest.fixture
    async def service(self, database):
        clock = LoopClock()
        registry = LoopRegistry(clock)
        registry.begin_run(Retention.name, Retention.deadline)
        return Retention(
            database, kept=EventRetention(), clock=clock, registry=registry
        )
