"""
What secrets look like: the shapes of their texts and the names they go by.

Each shape takes time in proportion to the text, whatever the text is: texts from
outside pass through here.
"""

import re
from collections.abc import Iterator
from typing import Final

_NAME: Final = (
    r"(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|private[_-]?key|"
    r"(?:device|user)[_-]?code|signature(?:-256)?|authorization|cookie|ticket)"
)
# In an address more names are telling: there they stand before values alone.
_PARAMETER: Final = rf"(?:{_NAME}|sig|key|code|auth|pwd|credentials?)"
_WORD: Final = r"[^\s\"',;)\]}]+"
_SCHEME_AND_VALUE: Final = rf"{_WORD}(?:[ \t]+{_WORD})?"
_TELLING: Final = rf"(?<![\w-])[\w-]*{_NAME}\\*[\"']?\s*[:=]\s*b?\\*"

_SHAPES: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
        # The newer installation tokens (ghs_) are longer and hold dots and dashes.
        r"(?P<secret>gh[opusr]_[a-z0-9._-]{10,})",
        r"(?P<secret>github_pat_[a-z0-9_]{10,})",
        r"(?P<secret>whsec_[a-z0-9+/=_-]{4,})",
        r"\b(?:bearer|basic)[ \t]+(?P<secret>[a-z0-9._~+/=-]+)",
        # A header in text, in a dictionary or in a pair: scheme and value, or value.
        rf"\bauthorization[\"']?\s*[:=,]\s*b?[\"']?(?P<secret>{_SCHEME_AND_VALUE})",
        # Up to the last @ before the path: passwords are not always escaped.
        r"://(?P<secret>[^\s/?#\"'<>]+)@",
        rf"[?&;](?:[\w.-]|%[0-9a-f]{{2}})*{_PARAMETER}=(?P<secret>[^&\s#\"'<>]+)",
        # The first parameter of a form, as in answers of the OAuth endpoints.
        rf"(?<![\w-])[\w-]*{_NAME}=(?P<secret>[^&\s#\"'<>,;)]+)",
        # A JSON Web Token, by which an App signs in.
        r"(?<![\w-])(?P<secret>eyJ[\w-]{8,}\.[\w-]+\.[\w-]+)",
        # A quoted value under a telling name, as in JSON and in reprs.
        rf"{_TELLING}\"(?P<secret>(?:[^\"\\]|\\.)+)",
        rf"{_TELLING}'(?P<secret>(?:[^'\\]|\\.)+)",
        r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END|\Z))",
    )
)
_SECRET_NAME: Final = re.compile(rf".*{_NAME}", re.IGNORECASE)


def iter_shapes(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part that has the shape of a secret."""
    for shape in _SHAPES:
        for found in shape.finditer(text):
            yield found.span("secret")


def is_secret_name(name: object) -> bool:
    """Return whether what stands under this key or header is a secret."""
    if isinstance(name, bytes):
        name = name.decode("latin-1")
    return isinstance(name, str) and _SECRET_NAME.fullmatch(name) is not None
