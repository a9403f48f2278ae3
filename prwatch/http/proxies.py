"""Looks at the proxies that the environment names, before they are used."""

from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from prwatch.errors import ConfigError

_VARIABLES: Final = {
    "http": "HTTP_PROXY",
    "https": "HTTPS_PROXY",
    "all": "ALL_PROXY",
}
_SCHEMES: Final = frozenset({"http", "https"})


def check_proxies() -> None:
    """
    See that each proxy is one that the client can use.

    httpx reads the same variables. It would fail at the first request, or for a
    reason that does not say where the address stands.

    Raises:
        ConfigError: one cannot be used. Its address, which may hold a password, is
            not shown.
    """
    named = getproxies()
    for scheme, variable in _VARIABLES.items():
        address = named.get(scheme, "")
        if address and not _is_usable(address):
            raise ConfigError(
                f"environment: {variable}: is no proxy that can be used",
                hint="allowed is http://HOST:PORT or https://HOST:PORT",
            )


def _is_usable(address: str) -> bool:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        # `port` refuses, by ValueError, what is no number up to 65535.
        is_usable = parts.scheme in _SCHEMES and parts.port != 0
        httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        return False
    return is_usable and bool(parts.hostname)
