import pytest

from prwatch.errors import ConfigError
from prwatch.http.client import build_tls_context, create_http_client
from prwatch.http.proxies import check_proxies

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "address",
    [
        pytest.param("http://[", id="no address"),
        pytest.param("http://", id="no host"),
        pytest.param("socks5://127.0.0.1:1080", id="a scheme that needs a package"),
        pytest.param("ftp://proxy.example", id="a strange scheme"),
        pytest.param("http://me:hidden@proxy.example:99999", id="no port"),
        pytest.param("http://proxy.example:x", id="a port that is no number"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_address(
    monkeypatch, name, address
):
    monkeypatch.setenv(name, address)

    with pytest.raises(ConfigError) as caught:
        create_http_client()

    assert str(caught.value) == f"environment: {name}: is no proxy that can be used"


@pytest.mark.parametrize(
    "address",
    ["", "proxy.example:3128", "http://me:hidden@[::1]:3128", "https://proxy.example"],
)
def test_a_proxy_that_can_be_used_is_let_through(monkeypatch, address):
    monkeypatch.setenv("HTTPS_PROXY", address)

    assert check_proxies() is None


def test_missing_authorities_of_the_environment_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    build_tls_context.cache_clear()

    with pytest.raises(ConfigError, match="SSL_CERT_FILE"):
        create_http_client()
