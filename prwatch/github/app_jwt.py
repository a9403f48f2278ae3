"""
The token by which a GitHub App signs in as itself, made anew for each use.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

import datetime as dt
import importlib.util
from typing import Final

from prwatch.errors import AuthenticationFailed, ConfigError
from prwatch.telemetry.secret import Secret

BACKDATED: Final = dt.timedelta(seconds=60)
LIFETIME: Final = dt.timedelta(minutes=9)
"""GitHub takes at most ten minutes, counted from its own clock."""


def require_extra() -> None:
    """
    Make sure that tokens can be signed, without importing what signs them.

    Raises:
        ConfigError: the libraries of the extra `app` are not installed.
    """
    if all(importlib.util.find_spec(name) for name in ("jwt", "cryptography")):
        return
    raise ConfigError(
        "signing in as a GitHub App needs the extra `app`",
        hint="pip install 'prwatch[app]'",
    )


def build_app_jwt(*, issuer: str, key: Secret, now: dt.datetime) -> Secret:
    """
    Return a JSON Web Token (RFC 7519) of the app, signed with RS256.

    `issuer` is the app's number or its client id; `now` is the time on GitHub's
    clock. The token is good from a minute before `now` to nine minutes after it.

    Raises:
        AuthenticationFailed: the key is no RSA private key that can be used.
        ConfigError: the libraries of the extra `app` are not installed.
    """
    require_extra()
    import jwt  # noqa: PLC0415 - an extra, and slow to import

    claims = {
        "iat": int((now - BACKDATED).timestamp()),
        "exp": int((now + LIFETIME).timestamp()),
        "iss": issuer,
    }
    try:
        return Secret(jwt.encode(claims, key.reveal(), algorithm="RS256"))
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
        # A public key has no attribute to sign with. The cause may quote the key.
        raise AuthenticationFailed(
            "the private key of the app is no RSA key that can be used",
            scope="installation",
            hint="make a new one on the app's settings page, and take the whole file",
        ) from None
