"""What is said when the network keeps a request from being answered."""

import socket
import ssl

import httpx
import pytest

from prwatch.errors import ProtocolViolation, ProviderUnavailable
from prwatch.github.network import is_untrusted, map_error
from prwatch.http.client import create_http_client


def fail(*causes):
    """Return an error of the client, and what led to it, the latest first."""
    first = last = httpx.ConnectError("All connection attempts failed")
    for cause in causes:
        last.__cause__ = last = cause
    return first


@pytest.mark.parametrize(
    ("error", "said", "advice"),
    [
        pytest.param(
            fail(OSError("x"), socket.gaierror(-2, "x")),
            "its name does not resolve",
            "name servers",
            id="no such name",
        ),
        pytest.param(
            fail(OSError(), ExceptionGroup("x", [OSError(), ConnectionRefusedError()])),
            "nobody listens",
            "whether the server runs",
            id="refused at each address",
        ),
        pytest.param(
            fail(ssl.SSLError("wrong version number")),
            "no encrypted connection",
            "speak TLS",
            id="no TLS",
        ),
        pytest.param(fail(), "the connection fails", "", id="nothing more is known"),
        pytest.param(
            fail(*(OSError() for _ in range(99)), socket.gaierror()),
            "the connection fails",
            "",
            id="endless causes",
        ),
    ],
)
def test_a_host_that_is_not_reached_is_told_with_the_reason(error, said, advice):
    mapped = map_error(error, "Probe")

    assert type(mapped) is ProviderUnavailable
    assert str(mapped).startswith("GitHub cannot be reached: ")
    assert said in str(mapped)
    assert advice in mapped.hint
    assert (mapped.scope, mapped.operation) == ("host", "Probe")


def test_a_certificate_is_found_behind_whatever_came_of_it():
    error = fail(OSError(), ssl.SSLCertVerificationError("self-signed"))

    assert is_untrusted(error)
    assert not is_untrusted(fail(ssl.SSLError()))
    assert type(map_error(error, "Probe")) is ProtocolViolation


async def test_a_closed_port_is_told_from_a_way_that_fails():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with create_http_client() as client:
        with pytest.raises(httpx.ConnectError) as caught:
            await client.get(f"http://127.0.0.1:{port}/")

    assert "nobody listens" in str(map_error(caught.value, "Probe"))
