"""What `prwatch review` says of when a watch is searched, and of what holds it back."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from prwatch.cli.review_words import tell_time

if TYPE_CHECKING:
    from prwatch.app.command.review.turns import SearchTurn

_HELD: Final[Mapping[str, str]] = {
    "limit": "a rate limit",
    "auth": "the token is refused",
    "host": "the host does not answer",
    "transient": "GitHub does not answer",
    "config": "GitHub refuses the account",
}


def tell_next(turn: "SearchTurn") -> str:
    """Return when a watch is searched next, '' where no daemon says so."""
    if not turn.held_by:
        return tell_time(turn.due_at)
    why = _HELD.get(turn.held_by, turn.held_by)
    # It may be due only after what holds it back has ended.
    return f"not before {tell_time(turn.due_at)}: {why}"


def describe_turn(turn: "SearchTurn") -> Iterator[str]:
    """Yield when a watch was searched and is next; nothing without a daemon."""
    if not turn.due_at:
        return
    told = "not searched since the daemon began"
    if turn.searched_at:
        told = f"searched last {tell_time(turn.searched_at)}"
    if turn.held_by:
        yield f"  {told}; {tell_next(turn)} ({turn.held_message})"
    else:
        yield f"  {told}; next {tell_next(turn)}"
