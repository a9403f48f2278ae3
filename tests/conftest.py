"""What every test gets: a clean environment, one event loop, a closed network."""

import os
import socket

import pytest

pytest.register_assert_rewrite("tests.contract")

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PRWATCH_") and not name.startswith(
            ("PRWATCH_TEST_", "PRWATCH_STANDIN_")
        ):
            monkeypatch.delenv(name)
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "NOTIFY_SOCKET", "WATCHDOG_USEC"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def closed_network(monkeypatch):
    """Refuse every connection that leaves this machine."""
    real = socket.socket.connect

    def connect(self, address):
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            pytest.fail(f"a test tried to reach {address[0]}")
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
