"""What one search of a review watch came to."""

from dataclasses import dataclass, field
from typing import Final

from prwatch.app.review.search_failure import classify
from prwatch.domain.outcome import FailureClass, Missing, Retry
from prwatch.domain.review_hit import HitVerdict
from prwatch.domain.review_watch import IncompleteReason
from prwatch.errors import ProviderError, ProviderUnavailable, StoreError
from prwatch.github.search import Hit

MAX_FAILED_RUNNING: Final = 3
"""So many searches running that get no answer are no matter of their filters."""
MAX_PROBLEMS: Final = 3
"""Of so many hits it is told why they could not be read."""


@dataclass(slots=True)
class Strikes:
    """
    How many searches of an account got no answer, one after the other.

    `error` is why the last of them got none.
    """

    count: int = 0
    error: ProviderUnavailable | None = None

    def note(self, error: ProviderError | None) -> None:
        """Note how a search ended; any answer, a refusal too, begins anew."""
        if isinstance(error, ProviderUnavailable):
            self.count, self.error = self.count + 1, error
        else:
            self.count, self.error = 0, None

    @property
    def is_out(self) -> bool:
        """Return whether it is no matter of what is searched for: `error` is why."""
        return self.count >= MAX_FAILED_RUNNING


@dataclass(slots=True, kw_only=True)
class PollOutcome:
    """
    What one search came to.

    `hits` are all that it found, `unread` those that could not be read directly and
    `refused` those of which the store took no task, with why in `problems`, and `left`
    those that went to somebody else or to an edit. What
    makes the result incomplete is told by `reason` and, of several filters' errors, the
    first `error`. `is_answered` says that GitHub answered for a part of it at least.
    """

    hits: int = 0
    created: int = 0
    joined: int = 0
    ended: int = 0
    unasked: int = 0
    cleaned: int = 0
    left: int = 0
    unread: int = 0
    refused: int = 0
    reason: IncompleteReason | None = None
    error: ProviderError | None = None
    found: dict[str, Hit] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_answered: bool = False
    is_transient: bool = False
    """Whether a part is missing that is to be asked for again soon."""

    @property
    def told(self) -> str:
        """Return what people are told of it: the error, and what became of no task."""
        parts = (str(self.error or ""), self.told_problems)
        return "; ".join(part for part in parts if part)

    @property
    def told_problems(self) -> str:
        """Return which hits became no task, and why; the first and how many more."""
        shown = "; ".join(sorted(self.problems)[:MAX_PROBLEMS])
        more = len(self.problems) - MAX_PROBLEMS
        return f"{shown}; and {more} more" if more > 0 else shown

    @property
    def is_complete(self) -> bool:
        """Return whether all was shown and read: only then a lack proves anything."""
        return self.reason is None

    @property
    def name(self) -> str:
        """Return how it ended: `complete`, `incomplete`, or `failed` with an error."""
        if self.error is not None:
            return "failed"
        return "complete" if self.is_complete else "incomplete"

    def lose(self, reason: IncompleteReason) -> None:
        """Note that a part of the result is missing."""
        order = list(IncompleteReason)
        self.reason = min(reason, self.reason or reason, key=order.index)

    def fail(self, error: ProviderError) -> None:
        """Note that a part of the result is missing because of an error."""
        self.lose(IncompleteReason.FAILED)
        self.error = self.error or error
        is_passing = classify(error) is FailureClass.TRANSIENT
        self.is_transient = self.is_transient or is_passing

    def count(self, verdict: HitVerdict) -> None:
        """Count a hit that needs no task."""
        self.ended += verdict is HitVerdict.ENDED
        self.unasked += verdict is HitVerdict.UNASKED
        self.cleaned += verdict is HitVerdict.CLEANED

    def note_unread(self, node_id: str, missing: Missing) -> None:
        """Note that a hit could not be read, and why."""
        self.lose(IncompleteReason.UNREAD)
        self.unread += 1
        self.is_transient = self.is_transient or isinstance(missing, Retry)
        self._tell(node_id, f"could not be read: {missing.reason}")

    def note_refused(self, node_id: str, error: StoreError) -> None:
        """Note that the store took no task of a hit, and why."""
        self.lose(IncompleteReason.UNREAD)
        self.refused += 1
        self._tell(node_id, f"got no task: {error}")

    def _tell(self, node_id: str, problem: str) -> None:
        name = self.found[node_id].reference or "a pull request"
        self.problems.append(f"{name} {problem}")
