"""Gets REST resources: conditionally, within the limits, following one move."""

import datetime as dt
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

import httpx

from prwatch.clock import Clock
from prwatch.domain.reference import Usage
from prwatch.errors import ProviderUnavailable
from prwatch.github.classify import judge
from prwatch.github.exchange import Exchange
from prwatch.github.limits import Limits
from prwatch.github.rest_wire import MESSAGE
from prwatch.github.sender import Sender, Sending
from prwatch.github.text import clean_text
from prwatch.github.wire import decode

CORE: Final = "core"
SEARCH: Final = "search"
_SEARCHES: Final = "/search/"
MAX_TAG: Final = 1000
API_VERSION: Final = "2022-11-28"
_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": API_VERSION,
}
_MOVED: Final = frozenset({301, 302, 307, 308})


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """
    One answer. `body` is None when nothing changed since the tag that was sent.

    `next_path` is the address of the next page, '' on the last.
    """

    body: bytes | None
    tag: str
    next_path: str
    observed_at: dt.datetime
    path: str = field(default="")


class RestClient:
    """One credential's way to the REST interface."""

    def __init__(
        self,
        sender: Sender,
        api_url: str,
        *,
        clock: Clock,
        limits: Limits,
        see: Callable[[Exchange], None] = lambda _: None,
    ) -> None:
        """Prepare the way. Every answer is shown to `see` before it is judged."""
        self._see = see
        self.usage = Usage()
        self._sender = sender
        self._api_url = api_url
        self._clock = clock
        self.limits = limits

    async def get(self, path: str, *, operation: str, tag: str = "") -> RestAnswer:
        """
        Get the resource at `path`, which begins with a slash.

        A repository that moved is followed once, on this host only.

        Raises:
            RateLimited: a limit forbids the call, or the answer says so.
            ProviderError: whatever else the answer means.
        """
        exchange, response = await self._fetch(path, operation, tag)
        if exchange.status in _MOVED:
            moved = self._localise(exchange.headers.get("location", ""))
            if moved:
                path = moved
                exchange, response = await self._fetch(path, operation, tag)
        error = judge(exchange)
        if error is not None:
            raise error
        is_same = exchange.status == 304
        if is_same and not tag:
            raise ProviderUnavailable(
                "GitHub answered that nothing changed, which was not asked",
                operation=operation,
                request_id=exchange.request_id,
                status=exchange.status,
            )
        if is_same:
            not_modified = self.usage.not_modified + 1
            self.usage = replace(self.usage, not_modified=not_modified)
        next_url = str(response.links.get("next", {}).get("url", ""))
        return RestAnswer(
            body=None if is_same else response.content,
            tag=_read_tag(exchange),
            next_path=self._localise(next_url),
            observed_at=exchange.date or self._clock.now(),
            path=path,
        )

    async def _fetch(
        self, path: str, operation: str, tag: str
    ) -> tuple[Exchange, httpx.Response]:
        bucket = SEARCH if path.startswith(_SEARCHES) else CORE
        headers: Mapping[str, str] = _HEADERS
        if tag:
            headers = {**_HEADERS, "If-None-Match": tag}
        check = functools.partial(self.limits.check, bucket, operation)
        url = self._api_url + path
        sending = Sending("GET", url, operation, headers, check=check)
        async with self.limits.passage(bucket, operation):
            response = await self._sender.send(sending)
            self.usage = replace(
                self.usage,
                rest=self.usage.rest + 1,
                body_bytes=self.usage.body_bytes + len(response.content),
            )
            exchange = self._read(response, operation, bucket)
            self._see(exchange)
            limit = self.limits.observe(exchange)
        if limit is not None:
            raise limit
        return exchange, response

    def _read(self, response: httpx.Response, operation: str, bucket: str) -> Exchange:
        body = response.content
        is_json = body.lstrip()[:1] in {b"{", b"["}
        said = None
        if is_json and response.status_code >= 300:
            said = decode(MESSAGE, body)
        return Exchange(
            status=response.status_code,
            headers=response.headers,
            operation=operation,
            is_json=is_json,
            message=clean_text(said.message) if said else "",
            received_at=self._clock.now(),
            asked_bucket=bucket,
        )

    def _localise(self, url: str) -> str:
        """Return the path under the API's address; '' for any other place."""
        if url.startswith(self._api_url + "/"):
            return url.removeprefix(self._api_url)
        try:
            parts, ours = urlsplit(url), urlsplit(self._api_url)
        except ValueError:
            return ""
        if url.startswith("/") and not parts.netloc:
            return url.removeprefix(ours.path)
        return ""


def _read_tag(exchange: Exchange) -> str:
    """Return the tag to send back next time; '' for one that no header can carry."""
    tag = exchange.headers.get("etag", "").removeprefix("W/")
    is_usable = tag.isascii() and tag.isprintable() and len(tag) <= MAX_TAG
    return tag if is_usable else ""
