"""Tries whether a server can be reached and trusted, without asking it anything."""

import enum
import socket
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
from anyio.streams.tls import TLSStream

from prwatch.http.client import CONNECT_SECONDS, build_tls_context

_PORTS: Final = {"http": 80, "https": 443}


class Reach(enum.StrEnum):
    """How far the way to a server went."""

    REACHED = "reached"
    """It took the connection, and its certificate is trusted if it has one."""
    UNKNOWN_NAME = "unknown_name"
    REFUSED = "refused"
    SILENT = "silent"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    One try. `server` is what was connected to, without anything secret.

    `is_proxy` says that this is a proxy; what is behind it was not tried.
    """

    reach: Reach
    server: str
    is_proxy: bool = False
    detail: str = ""


async def try_server(
    url: str, *, ca_file: str = "", seconds: float = CONNECT_SECONDS
) -> Attempt:
    """
    Connect to the server of an address and shake hands, then hang up.

    No request is sent. The proxies of the environment count, as they do for requests.

    Raises:
        ConfigError: `ca_file` cannot be used.
    """
    proxy = _find_proxy(url)
    parts = urlsplit(proxy or url)
    host, scheme = parts.hostname or "", parts.scheme or "http"
    port = parts.port or _PORTS.get(scheme, 80)
    context = build_tls_context(ca_file) if scheme == "https" else None
    reach, detail = Reach.REACHED, ""
    try:
        with anyio.fail_after(seconds):
            await _shake_hands(host, port, context)
    except TimeoutError:
        reach, detail = Reach.SILENT, f"no answer within {seconds:g} s"
    except ssl.SSLError as error:
        reach, detail = Reach.UNTRUSTED, _name_fault(error)
    except (anyio.BrokenResourceError, anyio.EndOfStream):
        reach, detail = Reach.UNTRUSTED, "it hung up while shaking hands"
    except (socket.gaierror, UnicodeError):  # the latter: no name at all
        reach = Reach.UNKNOWN_NAME
    except OSError:
        reach = Reach.REFUSED
    return Attempt(reach, f"{host}:{port}", is_proxy=bool(proxy), detail=detail)


async def _shake_hands(host: str, port: int, context: ssl.SSLContext | None) -> None:
    async with await anyio.connect_tcp(host, port) as stream:
        if context is not None:
            tls = await TLSStream.wrap(
                stream, hostname=host, ssl_context=context, standard_compatible=False
            )
            await tls.aclose()


def _name_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or "no TLS").replace("_", " ").lower()


def _find_proxy(url: str) -> str:
    """Return the proxy that requests to the address go through, '' for none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in {"localhost", "127.0.0.1", "::1"} or proxy_bypass(host):
        return ""
    named = getproxies()
    proxy = named.get(parts.scheme) or named.get("all") or ""
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy
