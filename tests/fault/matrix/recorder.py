"""A transport that writes down what was sent when, and what it was answered."""

import datetime as dt
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

LIMITED = ("RATE_LIMIT", "rate limit", "abuse detection")
UNTOLD = 60.0
"""Seconds to wait where a limit names no time."""


@dataclass(frozen=True)
class Sent:
    """One request. `forbidden_until` is what its answer says of the next one."""

    at: dt.datetime
    token: str
    url: str
    status: int
    forbidden_until: dt.datetime | None = None


class Recorder(httpx.AsyncBaseTransport):
    """
    Passes requests on and keeps a line of each; `sent` is all of them.

    `patience` are bounds in real seconds in place of the product's; a wait that
    they end counts as `waited` seconds of the run's time. `refused` are tokens for
    whose requests no host is found, `hung` those that wait in vain; for what the
    network does to one of ten no time of the others passes.
    """

    def __init__(self, inner, clock, *, waited=0.0):
        self.sent = []
        self.refused = set()
        self.hung = set()
        self._inner = inner
        self._clock = clock
        self.patience = None
        self._waited = waited

    async def handle_async_request(self, request):
        token = request.headers.get("authorization", "").rpartition(" ")[2]
        at = self._clock.now()
        if token in self.refused | self.hung:
            self.sent.append(Sent(at, token, str(request.url), 0))
            if token in self.hung:
                raise httpx.ReadTimeout("no answer", request=request)
            raise httpx.ConnectError("no such host", request=request)
        if self.patience:
            request.extensions["timeout"] = self.patience
        try:
            response = await self._inner.handle_async_request(request)
            # Equal bytes however they came: a packed body is unpacked by the client.
            body = b"".join([part async for part in response.aiter_raw()])
        except (httpx.HTTPError, OSError) as error:
            self.sent.append(Sent(at, token, str(request.url), 0))
            if isinstance(error, httpx.TimeoutException):
                self._clock.advance(self._waited)
            raise
        finally_at = self._clock.now()
        until = self._find_end(response, body, finally_at)
        sent = Sent(at, token, str(request.url), response.status_code, until)
        self.sent.append(sent)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            content=None,
            stream=_Body(body),
        )

    def list_of(self, token):
        """List what was sent with a token, and when."""
        return [(s.at, s.url, s.status) for s in self.sent if s.token == token]

    async def aclose(self):
        await self._inner.aclose()

    def list_early(self, *, slack=0.0):
        """List the requests that came while an earlier answer forbade them."""
        until, early = {}, []
        for sent in self.sent:
            end = until.get(sent.token)
            if end is not None and sent.at < end - dt.timedelta(seconds=slack):
                early.append((sent, end))
            if sent.forbidden_until is not None:
                until[sent.token] = sent.forbidden_until
        return early

    def count(self, start, end):
        """Count the requests between two times."""
        return sum(start <= sent.at < end for sent in self.sent)

    def _find_end(self, response, body, now):
        headers = response.headers
        if response.status_code not in {200, 403, 429}:
            return None
        if "retry-after" in headers:
            return now + dt.timedelta(seconds=int(headers["retry-after"]))
        text = body[:4000].decode(errors="replace")
        if response.status_code == 200 and '"data":{' in text.replace(" ", ""):
            return None
        if not any(word in text for word in LIMITED):
            return None
        if headers.get("x-ratelimit-remaining") == "0":
            # Its clock is not ours: real time passes for it too.
            reset = int(headers["x-ratelimit-reset"])
            left = reset - parsedate_to_datetime(headers["date"]).timestamp()
            return now + dt.timedelta(seconds=left)
        return now + dt.timedelta(seconds=UNTOLD)


class _Body(httpx.AsyncByteStream):
    def __init__(self, body):
        self._body = body

    async def __aiter__(self):
        yield self._body
