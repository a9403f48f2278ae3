"""What a token says about itself: its kind by its prefix, its end by a header."""

import datetime as dt
from typing import Final

from prwatch.telemetry.secret import Secret

EXPIRATION_HEADER: Final = "github-authentication-token-expiration"
UNKNOWN_KIND: Final = "unknown"
# https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
_KINDS: Final = (
    ("github_pat_", "fine-grained personal access token"),
    ("ghp_", "classic personal access token"),
    ("gho_", "OAuth access token"),
    ("ghu_", "user token of a GitHub App"),
    ("ghs_", "installation token of a GitHub App"),
    ("ghr_", "refresh token"),
)
# Both forms occur: a zone by name and one by its offset.
_FORMS: Final = ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S %z")


def name_kind(token: Secret) -> str:
    """Return what kind of token it is, as its prefix tells, else `unknown`."""
    text = token.reveal()
    found = (kind for prefix, kind in _KINDS if text.startswith(prefix))
    return next(found, UNKNOWN_KIND)


def parse_expiration(text: str) -> dt.datetime | None:
    """Return the time in UTC that the header names; None for anything else."""
    for form in _FORMS:
        try:
            moment = dt.datetime.strptime(text.strip(), form)  # noqa: DTZ007 - below
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=dt.UTC)
            return moment.astimezone(dt.UTC)
        except (ValueError, OverflowError):  # the latter: before or after all time
            continue
    return None
