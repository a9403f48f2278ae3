"""Finds secrets that stand in the configuration itself, where they must not be."""

import re
from typing import Final

# https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
_SECRET = re.compile(
    r"gh[pousr]_[A-Za-z0-9._-]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|whsec_[A-Za-z0-9+/=_-]{8,}"
    # With a digit in it, since the words of a sentence have none.
    r"|[Bb]earer[ \t]+(?=[^\s\"']*[0-9])[A-Za-z0-9._~+/=-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    # A scheme of any length would be looked for from each of its letters.
    r"|[A-Za-z][A-Za-z0-9+.-]{0,40}://[^\s/@:\"']*:[^\s/@\"']+@"
    r"|[?&](?:[A-Za-z]+[_-])?(?:token|secret|password|passwd|key|sig|signature)"
    r"=[^\s&\"']+"
)
SECRET_KEYS: Final = frozenset(
    {
        "access_token",
        "api_key",
        "client_secret",
        "database_password",
        "github_token",
        "password",
        "private_key",
        "secret",
        "signing_secret",
        "token",
        "webhook_secret",
    }
)
REASON: Final = (
    "secrets never stand in the configuration, which is copied, shared and shown;"
    " name where it is instead"
)


def holds_secret(text: str) -> bool:
    """Return whether a part looks like a token, a key or a URL with a password."""
    return _SECRET.search(text) is not None


def list_secret_lines(text: str) -> tuple[int, ...]:
    """Return the lines, counted from 1, that hold a secret, comments included."""
    lines = enumerate(text.split("\n"), start=1)
    return tuple(number for number, line in lines if holds_secret(line))
