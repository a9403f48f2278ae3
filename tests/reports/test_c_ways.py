"""Reports about the way to GitHub: names, connections, certificates."""

import socket
import ssl

import httpx
import pytest

from prwatch.domain.circuit import CircuitKind
from prwatch.domain.outcome import FailureClass
from prwatch.simulator import GitHubApp
from tests.product import list_changes, open_product
from tests.reports.acts import draft
from tests.reports.stage import PATHS, configure, make_stage

DRAFT = (("is_draft", False, True),)
HOUR = 3_600


def open_circuits(product):
    return {
        (key.kind, circuit.cause.failure_class)
        for key, circuit in product.runtime.circuits.items()
    }


# vellum-ai/vellum-assistant#26924


def raise_name_error():
    raise httpx.ConnectError("no name") from socket.gaierror(-3, "try again")


def raise_refused():
    raise httpx.ConnectError("refused") from ConnectionRefusedError(111, "refused")


def raise_reset():
    raise httpx.ReadError("reset") from ConnectionResetError(104, "reset")


def raise_tls():
    raise httpx.ConnectError("tls") from ssl.SSLError(1, "handshake failure")


def raise_timeout():
    raise httpx.ConnectTimeout("too slow")


def raise_silence():
    raise httpx.ReadTimeout("no byte came")


def raise_cut():
    raise httpx.RemoteProtocolError("the peer closed the connection")


def raise_proxy():
    raise httpx.ProxyError("502 of the proxy")


BLIPS = [
    *(raise_name_error, raise_refused, raise_reset, raise_tls, raise_timeout),
    *(raise_silence, raise_cut, raise_proxy),
]


class BrokenWay(httpx.ASGITransport):
    """A way to GitHub that breaks while `how` is set."""

    def __init__(self, world):
        super().__init__(GitHubApp(world))
        self.how = None
        self.count = 0

    async def handle_async_request(self, request):
        self.count += 1
        if self.how is not None:
            self.how()
        return await super().handle_async_request(request)


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("how", BLIPS)
async def test_c14_a_broken_way_is_nothing_about_the_token(tmp_path, how, read_path):
    world, one = make_stage()
    way = BrokenWay(world)
    options = {"transport": way, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        before = product.watermarks()
        way.how = how
        for _ in range(3):
            await product.cycle()
        circuits, kept = open_circuits(product), product.watermarks()
        way.how = None
        draft(world, one)
        told = await product.cycles(3, gap=150)

    assert {each for _, each in circuits} == {FailureClass.TRANSIENT}
    assert kept == before
    assert list_changes(told) == [DRAFT]


# cli/cli#1735, EnricoMi/publish-unit-test-result-action#637


def raise_untrusted():
    cause = ssl.SSLCertVerificationError(1, "unable to get local issuer certificate")
    raise httpx.ConnectError("untrusted") from cause


@pytest.mark.parametrize("read_path", PATHS)
async def test_c19_a_private_authority_is_a_matter_of_configuration(
    tmp_path, read_path
):
    world, one = make_stage()
    way = BrokenWay(world)
    options = {"transport": way, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        way.how, before = raise_untrusted, way.count
        await product.cycle()
        (failure,) = product.report.failures
        circuits = open_circuits(product)
        await product.cycles(60)
        asked = way.count - before
        way.how = None
        draft(world, one)
        told = await product.cycles(2, gap=HOUR * 7.6)

    assert (failure.scope, str(failure.failure_class)) == ("host", "config")
    assert "certificate" in failure.message
    assert circuits == {(CircuitKind.HOST, FailureClass.CONFIG)}
    assert asked <= 4  # ten minutes, twenty, forty: not each minute
    assert list_changes(told) == [DRAFT]
