"""Delivers events by HTTP POST, as CloudEvents with Standard Webhooks headers."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, cast

import anyio
import httpx

from prwatch.clock import Clock
from prwatch.domain.outbox import Dead, Delivered, Delivery, DeliveryOutcome, Retry
from prwatch.errors import ConfigError
from prwatch.http.retry_after import parse_retry_after
from prwatch.sinks.payload import encode_event
from prwatch.sinks.reason import CLOSED, build_reason
from prwatch.sinks.sink import SinkSettings
from prwatch.sinks.webhook_signature import build_webhook_headers, parse_signing_key
from prwatch.telemetry.secret import Secret

_CONTENT_TYPE: Final = "application/cloudevents+json"
_EXCERPT_BYTES: Final = 1024


class WebhookSink:
    """
    Posts each event to one address.

    2xx is delivered, 410 is dead at once, and everything else is tried again:
    redirects, which are never followed, and 4xx too, because receivers answer them
    while they are being set up. `Retry-After` counts on 429 and 503. At most 1 KiB
    of the answer is read, for the reason. The client stays the caller's to close.
    """

    kind = "webhook"

    def __init__(
        self,
        settings: SinkSettings,
        url: str,
        *,
        client: httpx.AsyncClient,
        clock: Clock,
        secret: Secret | None = None,
    ) -> None:
        """
        Prepare the sink; nothing is sent.

        Raises:
            ConfigError: the address or the signing secret cannot be used.
        """
        self.name = settings.name
        self.limit = settings.limit
        self._settings = settings
        self._url = _parse_url(url)
        self._client = client
        self._clock = clock
        self._key = None if secret is None else parse_signing_key(secret)
        self._is_closed = False

    async def deliver(self, delivery: Delivery) -> DeliveryOutcome:
        """Post the event once; see `Sink.deliver`."""
        if self._is_closed:
            return CLOSED
        exchange = _Exchange()
        try:
            with anyio.move_on_after(self._settings.timeout.total_seconds()):
                await self._post(delivery, exchange)
        except httpx.HTTPError as error:
            exchange.error = f"{type(error).__name__} {error}"
        return self._judge(exchange)

    async def close(self) -> None:
        """Take no more events. The client stays open."""
        self._is_closed = True

    async def _post(self, delivery: Delivery, exchange: "_Exchange") -> None:
        body = encode_event(delivery)
        headers = build_webhook_headers(
            delivery.event.id, self._clock.now(), body, self._key
        )
        # identity: what is read is bounded, so it must not unfold.
        headers |= {"content-type": _CONTENT_TYPE, "accept-encoding": "identity"}
        async with self._client.stream(
            "POST", self._url, content=body, headers=headers, follow_redirects=False
        ) as response:
            exchange.response = response
            # It is a generator, and one that is left early must be closed.
            chunks = cast(
                "AsyncGenerator[bytes, None]", response.aiter_raw(_EXCERPT_BYTES)
            )
            async with aclosing(chunks):
                exchange.excerpt = await anext(chunks, b"")

    def _judge(self, exchange: "_Exchange") -> DeliveryOutcome:
        # The status decides, also when the rest of the answer was late or torn.
        response = exchange.response
        if response is None:
            seconds = self._settings.timeout.total_seconds()
            error = exchange.error or f"no answer within {seconds:g} s"
            return Retry(self._reason("request failed", error))
        if response.is_success:
            return Delivered()
        text = exchange.excerpt.decode("utf-8", "replace")
        reason = self._reason(f"answered {response.status_code}", text)
        if response.status_code == httpx.codes.GONE:
            return Dead(reason)
        after = None
        if response.status_code in {
            httpx.codes.TOO_MANY_REQUESTS,
            httpx.codes.SERVICE_UNAVAILABLE,
        }:
            value = response.headers.get("retry-after", "")
            after = parse_retry_after(value, self._clock.now())
        return Retry(reason, after)

    def _reason(self, head: str, detail: str) -> str:
        # The host alone: the rest of the address may be its secret.
        return build_reason(f"{self._url.host} {head}", detail, self._settings.redact)


class _Exchange:
    """What one attempt has brought so far, kept when it is cut off."""

    def __init__(self) -> None:
        self.response: httpx.Response | None = None
        self.excerpt = b""
        self.error = ""


def _parse_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ConfigError("the webhook's address is not a valid URL") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError("the webhook's address must begin with https:// or http://")
    return url
