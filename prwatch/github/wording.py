"""
The refusals that GitHub tells apart by their words alone.

A type, a code or a header is asked first; these words decide what those leave
open. Sources: GitHub's "Troubleshooting the REST API", "Rate limits for the REST
API", and answers that were reported in public.
"""

import re
from dataclasses import dataclass
from typing import Final

SECONDARY_LIMIT: Final = re.compile(
    r"secondary rate limit|abuse detection|submitted too quickly|too many requests",
    re.IGNORECASE,
)
PRIMARY_LIMIT: Final = re.compile(r"API rate limit\b.*\bexceeded", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal that is not about one resource: its stable code, scope and remedy."""

    code: str
    scope: str
    said: str
    hint: str


SSO: Final = Refusal(
    "sso",
    "organisation",
    "the organisation asks for single sign-on with this token",
    "authorise the token for the organisation: github.com/settings/tokens",
)

_REFUSALS: Final = (
    (re.compile(r"SAML|single sign.?on|\bSSO\b", re.IGNORECASE), SSO),
    (
        re.compile(r"IP allow list|IP address.*not permitted", re.IGNORECASE),
        Refusal(
            "ip_allow_list",
            "organisation",
            "the organisation's IP allow list refuses this machine",
            "ask an owner of the organisation to add this machine's address",
        ),
    ),
    (
        re.compile(
            r"forbids access via a|forbids access via (fine|personal)", re.IGNORECASE
        ),
        Refusal(
            "token_kind_banned",
            "organisation",
            "the organisation forbids this kind of token",
            "use a token of a kind that the organisation allows",
        ),
    ),
    (
        re.compile(r"OAuth App access restrictions", re.IGNORECASE),
        Refusal(
            "oauth_restricted",
            "organisation",
            "the organisation restricts OAuth apps",
            "ask an owner of the organisation to approve the app",
        ),
    ),
    (
        re.compile(r"installation has been suspended", re.IGNORECASE),
        Refusal(
            "installation_suspended",
            "installation",
            "the app's installation is suspended",
            "ask the owner of the account to unsuspend the installation",
        ),
    ),
    (
        re.compile(r"account (was|has been|is) suspended", re.IGNORECASE),
        Refusal(
            "account_suspended",
            "token",
            "the account is suspended",
            "see github.com/support",
        ),
    ),
    (
        re.compile(r"maximum number of login attempts", re.IGNORECASE),
        Refusal(
            "too_many_bad_logins",
            "token",
            "too many requests with a bad token were made",
            "replace the token and wait some minutes",
        ),
    ),
)
# Told to an app that signs in as itself; looked for in the given order.
_UNKNOWN_APP: Final = Refusal(
    "app_unknown",
    "installation",
    "GitHub does not know the app",
    "check the app's id: its number or client id, as its settings page says",
)
_APP_REFUSALS: Final = (
    (re.compile(r"Integration not found|'iss'|\bIssuer\b"), _UNKNOWN_APP),
    (
        re.compile(r"'(exp|iat)'|Expiration time|Issued at"),
        Refusal(
            "app_clock",
            "installation",
            "GitHub refuses the times in the app's signed token",
            "set this machine's clock",
        ),
    ),
    (
        re.compile(r"could not be decoded"),
        Refusal(
            "app_key",
            "installation",
            "GitHub does not accept the signature of the app",
            "check that the private key is one of this app and was not deleted",
        ),
    ),
)
_APP_REFUSED: Final = Refusal(
    "app_refused",
    "installation",
    "GitHub refuses the app",
    "check the app's id and its private key",
)
_NO_INSTALLATION: Final = Refusal(
    "installation_gone",
    "installation",
    "the app has no such installation, or not any more",
    "install the app again, or correct the number of the installation: it is the"
    " last part of the address of its settings page",
)
_UNREACHABLE: Final = "GitHub cannot be reached"
UNKNOWN_NAME: Final = f"{_UNREACHABLE}: its name does not resolve"
NOBODY_LISTENS: Final = f"{_UNREACHABLE}: nobody listens at its address"
NO_ENCRYPTION: Final = f"{_UNREACHABLE}: no encrypted connection comes about"
UNREACHABLE: Final = f"{_UNREACHABLE}: the connection fails"
UNTRUSTED: Final = "the server's certificate is not trusted"
_ADDRESS: Final = "check the host's api_url and graphql_url"
_BETWEEN: Final = "check proxy and firewall, and the host's api_url"
_WAYS: Final = {
    UNKNOWN_NAME: "check the host's api_url, network and name servers",
    NOBODY_LISTENS: "check the host's api_url, and whether the server runs",
    NO_ENCRYPTION: "check the host's api_url, and that proxy and server speak TLS",
    UNTRUSTED: "set ca_file to the authority that signed it",
    "GitHub answered 30": _ADDRESS,
    "GitHub answered 404 to": _ADDRESS,
    "GitHub answered 407 to": "give the proxy a login that it accepts",
    # GitHub refuses in JSON, with a meaning: somebody in between has answered.
    "GitHub answered 403 to": _BETWEEN,
    "GitHub answered 410 to": _BETWEEN,
    "GitHub answered 451 to": _BETWEEN,
}
_CODES: Final = {each.said: each.code for _, each in _REFUSALS}
_HINTS: Final = {
    **{each.said: each.hint for _, each in (*_REFUSALS, *_APP_REFUSALS)},
    _APP_REFUSED.said: _APP_REFUSED.hint,
    _NO_INSTALLATION.said: _NO_INSTALLATION.hint,
    **_WAYS,
}
REPOSITORY_BLOCKED: Final = re.compile(r"repository access blocked", re.IGNORECASE)
NOT_ACCESSIBLE: Final = re.compile(r"resource not accessible by", re.IGNORECASE)


def find_refusal(message: str) -> Refusal | None:
    """Return the refusal that the message speaks of, or None."""
    for pattern, refusal in _REFUSALS:
        if pattern.search(message):
            return refusal
    return None


def find_app_refusal(status: int, message: str) -> Refusal:
    """Return why an app gets no token: the status is 401 or 404."""
    for pattern, refusal in _APP_REFUSALS:
        if pattern.search(message):
            return refusal
    return _NO_INSTALLATION if status == 404 else _APP_REFUSED


def find_hint(said: str) -> str:
    """Return what a person can do about a refusal that we worded so, '' for others."""
    return next((hint for words, hint in _HINTS.items() if said.startswith(words)), "")


def find_scope(said: str) -> str:
    """Return how far a refusal reaches that we worded so, '' for any other."""
    found = (each.scope for _, each in _REFUSALS if said.startswith(each.said))
    return next(found, "")


def find_code(said: str) -> str:
    """Return the code of the refusal that we worded so, `refused` for any other."""
    return _CODES.get(said, "refused")
