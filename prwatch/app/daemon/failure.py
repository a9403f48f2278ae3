"""What a failure of a loop says to people: a code and one clean line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from prwatch.errors import PrwatchError

LONGEST_MESSAGE: Final = 300


@dataclass(frozen=True, slots=True)
class LoopFailure:
    """A failure without its traceback. `code` is `internal` for a fault of ours."""

    code: str
    message: str

    def as_json(self) -> dict[str, str]:
        """Return the failure as plain JSON values."""
        return {"code": self.code, "message": self.message}


def describe_failure(error: BaseException, redact: Callable[[str], str]) -> LoopFailure:
    """Return what to show of an error, without secrets and at most 300 characters."""
    cause = find_cause(error)
    if isinstance(cause, PrwatchError):
        code, text = cause.code, str(cause)
    else:
        code, text = "internal", f"{type(cause).__name__}: {cause}"
    # Redacted before it is cut, because half a secret has no shape.
    line = " ".join(redact(text).split())
    return LoopFailure(code, line[:LONGEST_MESSAGE])


def find_cause(error: BaseException) -> BaseException:
    """
    Return the one error that says most of a group of errors.

    A task group wraps what its tasks raise. Our own errors come first, because they
    carry a code and an exit status.
    """
    leaves = _list_leaves(error)
    ours = [leaf for leaf in leaves if isinstance(leaf, PrwatchError)]
    return (ours or leaves)[0]


def _list_leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions for leaf in _list_leaves(part)]
