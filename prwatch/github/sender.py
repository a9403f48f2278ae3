"""
Sends one request to GitHub within its bounds, and maps what the network does.

Two things are asked again, once each: a request that a broken connection swallowed,
and one whose token was refused, with the credential looked at anew. All else is the
caller's decision.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import anyio
import httpx
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    wait_none,
)

from prwatch.clock import Clock
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
)
from prwatch.github.credentials import Credential
from prwatch.github.network import is_untrusted, map_error
from prwatch.http.client import TOTAL_SECONDS
from prwatch.telemetry.secret import Secret

_SWALLOWED: Final = (httpx.NetworkError, httpx.RemoteProtocolError)


@dataclass(frozen=True, slots=True)
class Sending:
    """
    One request as it is to be sent; reading twice does no harm.

    `check` is called whenever it is about to be sent, after the token was fetched,
    which may take long; what it raises comes out.
    """

    method: str
    url: str
    operation: str
    headers: Mapping[str, str]
    content: bytes | None = None
    check: Callable[[], None] = lambda: None


class Sender:
    """Sends requests with one credential's token on one HTTP client."""

    def __init__(
        self, http: httpx.AsyncClient, credential: Credential, clock: Clock
    ) -> None:
        self._on_end: Callable[[], None] = lambda: None
        self._http = http
        self._credential = credential
        self._retrying = AsyncRetrying(
            stop=stop_after_attempt(2),
            wait=wait_none(),
            retry=retry_if_exception(_is_swallowed),
            sleep=clock.sleep,
            reraise=True,
        )

    @contextlib.contextmanager
    def followed_by(self, on_end: Callable[[], None]) -> Iterator[None]:
        """Call `on_end` inside whenever a request has ended, answered or not."""
        before, self._on_end = self._on_end, on_end
        try:
            yield
        finally:
            self._on_end = before

    async def send(self, sending: Sending) -> httpx.Response:
        """
        Return GitHub's answer, whatever its status, with its body read.

        Raises:
            AuthenticationFailed: the credential's source gives no token, or none
                that can be sent.
            ProviderUnavailable: no answer came within 30 s, it is longer than the
                client takes, or the way is broken.
            ProtocolViolation: the server's certificate is not trusted.
            RateLimited: `check` refuses it.
        """
        response = await self.send_as(sending, await self._credential.token())
        if response.status_code != 401:
            return response
        try:
            await self._credential.reload(was_refused=True)
        except (AuthenticationFailed, ConfigError):
            return response
        return await self.send_as(sending, await self._credential.token())

    async def send_as(self, sending: Sending, token: Secret) -> httpx.Response:
        """
        Return GitHub's answer to a request with this token, whatever its status.

        Raises:
            AuthenticationFailed: the token cannot be sent.
            ProviderError: as from `send`.
        """
        sending.check()
        try:
            request = self._build(sending, token)
            with anyio.fail_after(TOTAL_SECONDS):
                response: httpx.Response = await self._retrying(
                    self._http.send, request
                )
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            # One that was cancelled has not: its caller gave it up.
            self._on_end()
            raise map_error(error, sending.operation) from error
        self._on_end()
        return response

    def _build(self, sending: Sending, token: Secret) -> httpx.Request:
        value = token.reveal()
        if not (value.isascii() and value.isprintable()):
            raise AuthenticationFailed(
                f"{self._credential.source} holds characters that no token has",
                operation=sending.operation,
                hint="it must hold the token alone, on one line",
            )
        headers = {**sending.headers, "Authorization": f"Bearer {value}"}
        return self._http.build_request(
            sending.method, sending.url, headers=headers, content=sending.content
        )


def _is_swallowed(error: BaseException) -> bool:
    return isinstance(error, _SWALLOWED) and not is_untrusted(error)
