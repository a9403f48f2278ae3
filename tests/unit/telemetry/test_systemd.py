import datetime as dt
import os
import socket

import pytest

from prwatch.telemetry.systemd import (
    NotifySettings,
    SystemdNotifier,
    read_notify_settings,
)


@pytest.fixture(params=["path", "abstract"])
def address(request, tmp_path):
    if request.param == "path":
        return str(tmp_path / "notify")
    return f"@prwatch-test-{os.getpid()}"


@pytest.fixture
def systemd(address):
    """Stand where systemd listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + address[1:] if address[0] == "@" else address)
        listening.setblocking(False)
        yield listening


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        pytest.param(lambda n: n.send_ready(), b"READY=1", id="ready"),
        pytest.param(lambda n: n.send_watchdog(), b"WATCHDOG=1", id="watchdog"),
        pytest.param(lambda n: n.send_stopping(), b"STOPPING=1", id="stopping"),
        pytest.param(
            lambda n: n.send_status("2 watches\nREADY=1 \udc80"),
            b"STATUS=2 watches READY=1 ?",
            id="status in one line",
        ),
        pytest.param(
            lambda n: n.send_reloading(12.3456789),
            b"RELOADING=1\nMONOTONIC_USEC=12345678",
            id="reloading",
        ),
    ],
)
def test_each_state_is_one_message(systemd, address, send, expected):
    with SystemdNotifier(address) as notifier:
        send(notifier)

    assert systemd.recv(1000) == expected


def test_without_an_address_nothing_happens():
    with SystemdNotifier("") as notifier:
        notifier.send_ready()
        notifier.send_status("x")


def test_a_listener_that_is_not_there_is_no_error(address):
    with SystemdNotifier(address) as notifier:
        notifier.send_watchdog()


def test_a_full_queue_does_not_block(systemd, address):
    with SystemdNotifier(address) as notifier:
        for _ in range(10_000):
            notifier.send_watchdog()

    assert systemd.recv(1000) == b"WATCHDOG=1"


def test_after_closing_nothing_is_sent(systemd, address):
    notifier = SystemdNotifier(address)
    notifier.close()
    notifier.close()

    notifier.send_ready()

    with pytest.raises(BlockingIOError):
        systemd.recv(1000)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, NotifySettings(), id="no systemd"),
        pytest.param(
            {"NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000"},
            NotifySettings("/run/systemd/notify", dt.timedelta(seconds=30)),
            id="socket and watchdog",
        ),
        pytest.param({"NOTIFY_SOCKET": "@x"}, NotifySettings("@x"), id="abstract"),
        pytest.param(
            {"NOTIFY_SOCKET": "vsock:2:1"}, NotifySettings(), id="another kind"
        ),
        pytest.param(
            {"WATCHDOG_USEC": "5", "WATCHDOG_PID": "42"},
            NotifySettings("", dt.timedelta(microseconds=5)),
            id="our watchdog",
        ),
        pytest.param(
            {"WATCHDOG_USEC": "5", "WATCHDOG_PID": "43"},
            NotifySettings(),
            id="another process's watchdog",
        ),
        pytest.param({"WATCHDOG_USEC": "soon"}, NotifySettings(), id="no number"),
        pytest.param({"WATCHDOG_USEC": "0"}, NotifySettings(), id="zero"),
    ],
)
def test_the_settings_are_read_from_the_given_environment(environ, expected):
    assert read_notify_settings(environ, pid=42) == expected
