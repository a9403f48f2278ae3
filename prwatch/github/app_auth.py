"""
The credential of a GitHub App's installation: a token that lasts an hour.

It is fetched with a signed token of the app when it is first needed, and again five
minutes before it ends or after GitHub refused it. However many ask, one request goes
out. Times of GitHub are compared on GitHub's clock, which its `Date` headers tell.
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import anyio
import httpx

from prwatch.clock import Clock
from prwatch.errors import ProviderError, ProviderUnavailable, RateLimited
from prwatch.github.app_answer import OPERATION, InstallationToken, read_answer
from prwatch.github.app_jwt import build_app_jwt
from prwatch.github.blocks import FIRST_WAIT
from prwatch.github.credentials import Credential
from prwatch.github.exchange import parse_http_date
from prwatch.github.rest_client import API_VERSION
from prwatch.github.sender import Sender, Sending
from prwatch.telemetry.secret import Secret

MARGIN: Final = dt.timedelta(minutes=5)
SHORTEST: Final = dt.timedelta(seconds=60)
LONGEST: Final = dt.timedelta(hours=1)
PAUSE: Final = dt.timedelta(seconds=30)
"""How long a token that still holds is used after it could not be renewed."""
YOUNG_SECONDS: Final = 10.0
"""A token of this age that is refused is not fetched again: that would not help."""
NOTABLE_SKEW: Final = dt.timedelta(seconds=5)
_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": API_VERSION,
}


@dataclass(frozen=True, slots=True)
class Installation:
    """
    Which installation of which app, on which host.

    `app_id` is the app's number or its client id. `api_url` ends in no slash.
    """

    app_id: str
    installation_id: int
    api_url: str

    def __str__(self) -> str:
        return f"app {self.app_id}, installation {self.installation_id}"


@dataclass(frozen=True, slots=True)
class _Deadline:
    """A moment on both clocks: one stands still in sleep, the other may jump back."""

    at: dt.datetime
    monotonic: float

    def is_over(self, clock: Clock) -> bool:
        return clock.now() >= self.at or clock.monotonic() >= self.monotonic


@dataclass(frozen=True, slots=True)
class _Held:
    secret: Secret
    since: float
    renewal: _Deadline
    end: _Deadline


class InstallationCredential:
    """
    The token of an installation. `generation` grows when the app's key changed.

    A token that was fetched anew is no change: it stands for the same account.
    """

    def __init__(
        self,
        installation: Installation,
        *,
        key: Credential,
        http: httpx.AsyncClient,
        clock: Clock,
    ) -> None:
        self.source = str(installation)
        self._installation = installation
        self._key = key
        self._clock = clock
        self._sender = Sender(http, key, clock)
        self._lock = anyio.Lock()
        self._held: _Held | None = None
        self._skew = dt.timedelta(0)
        self._attempts = 0
        self._failure: ProviderError | None = None

    @property
    def generation(self) -> int:
        """Return how often the app's key has changed, beginning at 1."""
        return self._key.generation

    async def token(self) -> Secret:
        """
        Return the token, which is fetched when there is none that holds.

        Raises:
            AuthenticationFailed: GitHub refuses the app, or its installation is
                suspended or gone; `scope` is `installation`.
            ProviderError: no token came for another reason.
            ConfigError: the key may not be used as it is.
        """
        seen = self._attempts
        if (secret := self._find()) is not None:
            return secret
        async with self._lock:
            if (secret := self._find()) is not None:
                return secret
            if self._failure is not None and self._attempts != seen:
                raise self._failure  # of the request that we waited for
            return await self._renew()

    async def reload(self, *, was_refused: bool = False) -> bool:
        """
        Look at the app's key again; after a refusal forget the token as well.

        A token that is only some seconds old is kept: another caller has fetched it
        after the same refusal, or a new one would be refused too.
        """
        held = self._held
        if was_refused and held and not self._is_young(held):
            self._held = None
        return await self._key.reload(was_refused=was_refused)

    def _is_young(self, held: _Held) -> bool:
        return self._clock.monotonic() - held.since < YOUNG_SECONDS

    def _check_limit(self) -> None:
        """Give way, or refuse to ask while a rate limit forbids it."""
        limit = self._failure
        until = limit.retry_at if isinstance(limit, RateLimited) else None
        if limit is not None and until is not None and self._clock.now() < until:
            raise limit

    def _find(self) -> Secret | None:
        held = self._held
        if held is None or held.renewal.is_over(self._clock):
            return None
        return held.secret

    async def _renew(self) -> Secret:
        """Fetch a token; while GitHub is away, stay with the one that still holds."""
        try:
            token = await self._fetch()
        except ProviderError as error:
            self._attempts += 1
            self._failure = error
            held = self._held
            is_passing = isinstance(error, ProviderUnavailable | RateLimited)
            if held is None or held.end.is_over(self._clock) or not is_passing:
                raise
            renewal = self._build_deadline(PAUSE)
            self._held = _Held(held.secret, held.since, renewal, held.end)
            return held.secret
        self._attempts += 1
        self._failure = None
        self._keep(token)
        return token.secret

    def _keep(self, token: InstallationToken) -> None:
        left = token.expires_at - (self._clock.now() + self._skew)
        left = min(max(left, SHORTEST), LONGEST)
        self._held = _Held(
            secret=token.secret,
            since=self._clock.monotonic(),
            renewal=self._build_deadline(left - min(MARGIN, left / 2)),
            end=self._build_deadline(left),
        )

    def _build_deadline(self, left: dt.timedelta) -> _Deadline:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        return _Deadline(now + left, monotonic + left.total_seconds())

    async def _fetch(self) -> InstallationToken:
        """Ask for a token, once more if the refusal taught us what was wrong."""
        self._check_limit()
        skew = self._skew
        response = await self._post()
        if response.status_code == 401:
            was_key_changed = await self._key.reload(was_refused=True)
            if was_key_changed or abs(self._skew - skew) > NOTABLE_SKEW:
                response = await self._post()
        try:
            return read_answer(response, self._clock.now())
        except RateLimited as limit:
            now = self._clock.now()
            until = limit.retry_at
            limit.retry_at = now + FIRST_WAIT if until is None else until - self._skew
            raise

    async def _post(self) -> httpx.Response:
        place, key = self._installation, await self._key.token()
        signed = build_app_jwt(
            issuer=place.app_id, key=key, now=self._clock.now() + self._skew
        )
        url = f"{place.api_url}/app/installations/{place.installation_id}/access_tokens"
        sending = Sending("POST", url, OPERATION, _HEADERS)
        response = await self._sender.send_as(sending, signed)
        date = parse_http_date(response.headers.get("date", ""))
        if date is not None:
            self._skew = date - self._clock.now()
        return response
