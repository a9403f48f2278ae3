"""URLs of the configuration: what is safe to send to, and what follows from what."""

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

_SECRET_PARAMETER = re.compile(
    r"(?i)(^|[_-])(token|secret|password|passwd|pwd|api_?key|access_?key|sig|signature)$"
)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
GITHUB_API_URL: Final = "https://api.github.com"


def build_graphql_url(api_url: str) -> str:
    """
    Return the GraphQL address that belongs to a REST address.

    https://docs.github.com/en/enterprise-server/graphql/guides/forming-calls-with-graphql
    """
    if api_url.endswith("/api/v3"):
        return api_url.removesuffix("/v3") + "/graphql"
    return f"{api_url}/graphql"


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine by its name or number."""
    name = host.lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_https_url(value: object) -> str:
    """
    Return the URL without a slash at its end.

    Raises:
        ValueError: It is no URL, is not encrypted on its way to another machine,
            or carries a secret. The text never shows the URL.
    """
    parts = _split(value)
    if not parts.hostname:
        raise ValueError
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("an https:// URL; http:// is for this machine alone")
    if parts.scheme not in {"http", "https"}:
        raise ValueError
    return parts.geturl().rstrip("/")


def read_postgres_url(value: object) -> str:
    """
    Return the URL of a PostgreSQL database; no host is a socket of this machine.

    Raises:
        ValueError: It is no such URL, or it carries a password.
    """
    parts = _split(value)
    if parts.scheme not in {"postgresql", "postgres"}:
        raise ValueError
    return str(value)  # put together again, an empty host would be lost


def read_loopback_listen(value: object) -> str:
    """
    Return a `HOST:PORT` of this machine that may be listened at; port 0 is any.

    Raises:
        ValueError: It is no such address, or one that others could reach.
    """
    host, port = split_listen(value) if isinstance(value, str) else ("", -1)
    if not host or port < 0:
        raise ValueError
    if not is_loopback(host):
        raise ValueError(
            "an address of this machine alone, such as 127.0.0.1:9464: whoever asks"
            " is answered without authentication"
        )
    return str(value)


def split_listen(address: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT` or `[HOST]:PORT`; port -1 for none."""
    host, colon, port = address.rpartition(":")
    is_port = bool(colon) and port.isascii() and port.isdigit() and len(port) <= 5
    number = int(port) if is_port else -1
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        return "", -1
    return host, number if number <= 65535 else -1


def mask_url(url: str) -> str:
    """Return the URL without user, path and query, which may hold a secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    hidden = "/***" if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{host}{hidden}"


def _split(value: object) -> SplitResult:
    if not isinstance(value, str) or _CONTROL.search(value):
        raise ValueError
    try:
        parts = urlsplit(value)
        is_addressed = parts.port != 0
    except ValueError:
        raise ValueError from None  # the parser's text may quote the URL
    if not is_addressed or parts.fragment:
        raise ValueError
    is_web = parts.scheme in {"http", "https"}
    if parts.password is not None or (parts.username is not None and is_web):
        raise ValueError(
            "a URL without user and password: secrets never stand in the"
            " configuration, only references to them"
        )
    if any(_SECRET_PARAMETER.search(name) for name, _ in parse_qsl(parts.query)):
        raise ValueError(
            "a URL without secret parameters: secrets never stand in the"
            " configuration, only references to them"
        )
    return parts
