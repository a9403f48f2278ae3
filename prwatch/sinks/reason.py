"""The sentence that says why an event was not delivered."""

from collections.abc import Callable
from typing import Final

from prwatch.domain.outbox import Retry

MAX_LENGTH: Final = 300
CLOSED: Final = Retry("the sink is closed")


def build_reason(head: str, detail: str, redact: Callable[[str], str]) -> str:
    """
    Return `head: detail` on one line, without secrets, at most 300 characters.

    When it is too long the beginning of `detail` goes: programs say last what
    went wrong.
    """
    # Redact before cutting: half a token has no shape any more.
    clean = " ".join(_drop_controls(redact(detail)).split())
    if not clean:
        return head[:MAX_LENGTH]
    room = MAX_LENGTH - len(head) - len(": ")
    if len(clean) > room:
        clean = "…" + clean[len(clean) - max(room - 1, 0) :]
    return f"{head}: {clean}"[:MAX_LENGTH]


def describe_error(error: OSError) -> str:
    """Return what the system says about an error, without the file it names."""
    return error.strerror or type(error).__name__


def _drop_controls(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
