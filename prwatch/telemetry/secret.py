"""A text that must never be printed."""

import hmac
from typing import Never, Self

_MASK = "***"


class Secret:
    """
    Hold a token, key or password so that it shows only when asked for.

    `str`, `repr` and every format give `***`. It cannot be pickled or written as
    JSON, a copy is the same object, and two secrets are compared in constant
    time. An empty secret is false.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself; call it only where it leaves the process."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_encode(self._value), _encode(other._value))

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return _MASK

    def __str__(self) -> str:
        return _MASK

    def __format__(self, format_spec: str) -> str:
        return format(_MASK, format_spec)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Never:
        raise TypeError("a secret cannot be pickled")


def _encode(value: str) -> bytes:
    # surrogatepass: a secret read from bytes with surrogateescape stays comparable
    return value.encode("utf-8", "surrogatepass")
