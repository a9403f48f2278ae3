"""
GitHub Apps and their installations: who may have a token, and which.

GitHub's rules:
<https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app>.
"""

import base64
import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, Final

from prwatch.simulator.answer import Answer, build_failure, build_json
from prwatch.simulator.limits import LimitVerbs

SUSPENDED: Final = "This installation has been suspended"
TOKEN_LENGTH: Final = 520
LIFETIME: Final = dt.timedelta(hours=1)
MOST_AHEAD: Final = 600
_PATH = re.compile(r"/app/installations/(\d+)/access_tokens")


@dataclass(slots=True, kw_only=True)
class Registration:
    """An app. `public_key` is the PEM text that its signatures are checked with."""

    number: int
    client_id: str
    public_key: str


@dataclass(slots=True, kw_only=True)
class Installation:
    """An app on an account. `repositories` are what its tokens see, None for all."""

    registration: Registration
    repositories: tuple[str, ...] | None
    is_suspended: bool = False


class InstallationVerbs(LimitVerbs):
    """What owners of apps and of accounts do with installations."""

    registrations: list[Registration]
    installations: dict[int, Installation]

    def register_app(
        self, number: int, *, public_key: str, client_id: str = ""
    ) -> Registration:
        """Make an app; tokens of its installations act as `app-NUMBER[bot]`."""
        registration = Registration(
            number=number, client_id=client_id, public_key=public_key
        )
        self.registrations.append(registration)
        return registration

    def install_app(
        self,
        number: int,
        registration: Registration,
        *,
        repositories: tuple[str, ...] | None = None,
    ) -> None:
        """Install an app; the installation gets that number."""
        self.installations[number] = Installation(
            registration=registration, repositories=repositories
        )

    def suspend_installation(self, number: int) -> None:
        """Refuse the installation's tokens, and give no new ones."""
        self.installations[number].is_suspended = True

    def remove_installation(self, number: int) -> None:
        """Uninstall the app; its tokens end with that."""
        del self.installations[number]
        for token in self.tokens.values():
            if token.installation == number:
                token.is_revoked = True

    def is_suspended(self, number: int | None) -> bool:
        """Return whether a token of that installation is refused for now."""
        installation = None if number is None else self.installations.get(number)
        return installation is not None and installation.is_suspended

    def issue_token(self, number: int) -> tuple[str, dt.datetime]:
        """Return a new token of the installation, and when it ends."""
        installation = self.installations[number]
        app = installation.registration.number
        login = f"app-{app}[bot]"
        if self.find_account(login) is None:
            self.put_account(login, kind="Bot")
        head = _encode(b'{"typ":"JWT","alg":"ES256"}')
        body = _encode(f'{{"sub":"{number}","jti":"{self.next_id()}"}}'.encode())
        value = f"ghs_{app}_{head}.{body}.".ljust(TOKEN_LENGTH, "s")
        expires_at = self.now() + LIFETIME
        token = self.set_token(
            value,
            login=login,
            scopes=None,
            repositories=installation.repositories,
            expires_at=expires_at,
        )
        token.installation = number
        return value, expires_at


def find_installation(method: str, path: str) -> int | None:
    """Return the installation that a token is asked for, None for another call."""
    found = _PATH.fullmatch(path)
    return int(found[1]) if found and method == "POST" else None


def answer_access_token(
    world: InstallationVerbs, number: int, credential: str
) -> Answer:
    """Return a token of the installation to the app that signed `credential`."""
    try:
        registration = _verify(world, credential)
    except ValueError as refused:
        return build_failure(401, str(refused))
    installation = world.installations.get(number)
    if installation is None or installation.registration is not registration:
        return build_failure(404, "Not Found")
    if installation.is_suspended:
        return build_failure(403, SUSPENDED)
    value, expires_at = world.issue_token(number)
    return build_json(
        201,
        {
            "token": value,
            "expires_at": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}",
            "permissions": {"checks": "read", "pull_requests": "read"},
            "repository_selection": "all",
        },
    )


def _verify(world: InstallationVerbs, credential: str) -> Registration:
    """Return the app that signed. Raises ValueError with what GitHub says."""
    import jwt  # noqa: PLC0415 - an extra, and slow to import

    # The library would compare times with the machine's clock.
    options: Any = {"verify_exp": False, "verify_iat": False}
    try:
        issuer = str(
            jwt.decode(credential, options={"verify_signature": False}).get("iss")
        )
        registration = next(
            (
                each
                for each in world.registrations
                if issuer in {str(each.number), each.client_id}
            ),
            None,
        )
        if registration is None:
            raise ValueError("Integration not found")
        claims = jwt.decode(
            credential,
            registration.public_key,
            algorithms=["RS256"],
            options=options,
        )
    except jwt.PyJWTError:
        raise ValueError("A JSON web token could not be decoded") from None
    _check_times(claims, int(world.now().timestamp()))
    return registration


def _check_times(claims: dict[str, Any], now: int) -> None:
    expires, issued = claims.get("exp"), claims.get("iat")
    text = "'Expiration time' claim ('exp') "
    if not isinstance(expires, int) or expires <= now:
        raise ValueError(
            f"{text}must be a numeric value representing the future time at which the"
            " assertion expires"
        )
    if expires > now + MOST_AHEAD:
        raise ValueError(f"{text}is too far in the future")
    if not isinstance(issued, int) or issued > now:
        raise ValueError(
            "'Issued at' claim ('iat') must be an Integer representing the time that"
            " the assertion was issued"
        )


def _encode(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")
