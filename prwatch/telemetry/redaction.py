"""
Take secrets out of whatever is about to be printed.

Two nets: the shapes that secrets have, and the values of the secrets that this
process holds. Finds that overlap are masked as one, so that no end sticks out.
"""

import base64
import datetime as dt
import json
import math
import os
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Final

from prwatch.telemetry.secret import Secret
from prwatch.telemetry.secret_shape import is_secret_name, iter_shapes

MASK: Final = "***"
_SHORTEST: Final = 4
"""A shorter registered value would mask every other word."""
_DEEPEST: Final = 12


def redact(text: str) -> str:
    """
    Return the text with everything masked that has the shape of a secret.

    It knows no values: where a secret without a shape may be, use a `Redactor`.
    """
    return _mask(text, iter_shapes(text))


class Redactor:
    """
    Masks secrets by their shape and by the values that were registered.

    As a structlog processor it goes last before the renderer, after exceptions
    have become text; what it returns holds plain JSON values alone.
    """

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._spellings: frozenset[str] = frozenset()
        for secret in secrets:
            self.register(secret)

    def register(self, secret: Secret) -> None:
        """
        Mask this value from now on, in each of its usual spellings.

        Values below four characters are left out: they are in every text.
        """
        value = secret.reveal()
        if len(value.strip()) >= _SHORTEST:
            self._spellings |= frozenset(_spell(value))

    def redact(self, text: str) -> str:
        """Return the text with every known secret masked."""
        return _mask(text, [*iter_shapes(text), *self._find_values(text)])

    def redact_value(self, value: object, *, depth: int = 0) -> object:
        """
        Return a copy made of plain JSON values, with every known secret masked.

        What is no JSON value is taken as its `repr`, exceptions as their type and
        message. The value under a name such as `password` is masked whole.
        """
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._redact_number(value)
        if depth < _DEEPEST:
            if isinstance(value, Mapping):
                return self._redact_pairs(value.items(), depth)
            if isinstance(value, list | tuple | set | frozenset):
                return self._redact_items(list(value), depth)
        return self.redact(_to_text(value))

    def __call__(
        self, _logger: object, _method: str, event_dict: MutableMapping[str, object]
    ) -> MutableMapping[str, object]:
        """Redact one log entry."""
        return self._redact_pairs(event_dict.items(), 0)

    def _redact_number(self, value: float) -> object:
        text = str(value)
        if self.redact(text) != text:  # a secret may be all digits
            return MASK
        return value if math.isfinite(value) else text

    def _redact_pairs(
        self, pairs: Iterable[tuple[object, object]], depth: int
    ) -> dict[str, object]:
        return {
            self.redact(_to_text(key)): (
                MASK
                if is_secret_name(key)
                else self.redact_value(value, depth=depth + 1)
            )
            for key, value in pairs
        }

    def _redact_items(self, items: list[object], depth: int) -> list[object]:
        redacted = [self.redact_value(item, depth=depth + 1) for item in items]
        if len(items) == 2 and is_secret_name(items[0]):
            # A header as a pair: the name tells what the value is.
            redacted[1] = MASK
        return redacted

    def _find_values(self, text: str) -> Iterator[tuple[int, int]]:
        for spelling in self._spellings:
            start = text.find(spelling)
            while start >= 0:
                yield start, start + len(spelling)
                start = text.find(spelling, start + 1)


def _to_text(value: object) -> str:
    match value:
        case str():
            return str(value)
        case bytes() | bytearray() | memoryview():
            return bytes(value).decode("utf-8", "backslashreplace")
        case BaseException():
            return f"{type(value).__name__}: {value}"
        case dt.date() | dt.timedelta() | os.PathLike():
            return str(value)
        case _:
            return repr(value)


def _spell(value: str) -> Iterator[str]:
    """Yield the forms that a value takes inside other texts."""
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    yield value.strip()
    yield repr(value)[1:-1]
    yield repr(raw)[2:-1]
    yield raw.decode("utf-8", "backslashreplace")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield urllib.parse.quote(raw, safe="")
    yield urllib.parse.quote_plus(raw)
    yield base64.b64encode(raw).decode().rstrip("=")


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start >= end:
            parts += (text[end:start], MASK)
        end = max(end, stop)
    return "".join((*parts, text[end:]))
