"""Listening for metrics on this machine, or a clear error at the start."""

import socket

import pytest

from prwatch.app.meter.metrics_listener import get_address, open_metrics_listener
from prwatch.errors import ConfigError


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("127.0.0.1:0", "127.0.0.1"),
        ("localhost:0", "127.0.0.1"),
        ("prwatch.localhost:0", "127.0.0.1"),
    ],
)
def test_it_listens_at_the_address_and_is_closed_at_the_end(address, host):
    with open_metrics_listener(address) as listening:
        found, port = get_address(listening).rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=5):
            pass

    assert found == host
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def test_ipv6_is_written_in_brackets():
    try:
        with open_metrics_listener("[::1]:0") as listening:
            address = get_address(listening)
    except ConfigError:
        pytest.skip("this machine has no IPv6")

    assert address.startswith("[::1]:")


def test_without_an_address_nobody_listens():
    with open_metrics_listener("") as listening:
        assert listening is None


def test_a_port_in_use_is_an_error_that_says_what_to_do():
    with open_metrics_listener("127.0.0.1:0") as listening:
        address = get_address(listening)
        with (
            pytest.raises(ConfigError) as refused,
            open_metrics_listener(address),
        ):
            pass

    assert str(refused.value) == (
        f"cannot listen for metrics at {address}: Address already in use"
    )
    assert "--metrics-listen" in refused.value.hint


def test_an_address_of_another_machine_is_an_error():
    with (
        pytest.raises(ConfigError, match="Cannot assign requested address"),
        open_metrics_listener("192.0.2.1:0"),
    ):
        pass


def test_the_port_can_be_used_again_at_once():
    with open_metrics_listener("127.0.0.1:0") as listening:
        address = get_address(listening)
        host, port = address.rsplit(":", 1)
        client = socket.create_connection((host, int(port)), timeout=5)
        accepted, _ = _accept(listening)
        accepted.close()
        client.recv(1)
        client.close()
    with open_metrics_listener(address) as again:
        assert get_address(again) == address


def _accept(listening):
    listening.setblocking(True)
    return listening.accept()
