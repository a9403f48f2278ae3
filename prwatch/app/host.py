"""The host that people know a workspace by."""

from urllib.parse import urlsplit


def find_host(api_url: str) -> str:
    """Return the host that people know: github.com for api.github.com."""
    host = urlsplit(api_url).hostname or ""
    return host.removeprefix("api.") if host.startswith("api.") else host
