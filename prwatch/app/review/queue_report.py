"""What a turn of the review queue did, and what turns have done since the start."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from prwatch.app.review.poll_outcome import PollOutcome
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.events import EventType
from prwatch.domain.review_watch import UnreadableReviewWatch
from prwatch.errors import StoreError
from prwatch.telemetry.labels import REVIEW_HITS


@dataclass(slots=True, kw_only=True)
class QueueReport:
    """
    What one turn of the queue did.

    `outcomes` are those of the watches that were searched, by workspace and name.
    `skipped` counts watches that were due and not searched, by why. `error` is what
    the store did to one account, or to several the last of it. `enabled` are the
    watches that there are to search, due or not.
    """

    outcomes: dict[tuple[str, str], PollOutcome] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: tuple[UnreadableReviewWatch, ...] = ()
    enabled: frozenset[tuple[str, str]] = frozenset()
    error: StoreError | None = None

    @property
    def created(self) -> int:
        """Return how many review tasks were made, each with its event."""
        return sum(each.created for each in self.outcomes.values())

    @property
    def events_by_type(self) -> Counter[str]:
        """Return the events that were written, by type."""
        created = self.created
        return Counter(
            {EventType.PR_REVIEW_REQUESTED.value: created} if created else {}
        )

    def absorb(self, other: "QueueReport") -> None:
        """Add what was done for another account."""
        self.outcomes |= other.outcomes
        self.failures += other.failures
        self.skipped += other.skipped
        self.error = other.error or self.error


@dataclass(slots=True, kw_only=True)
class QueueCounts:
    """
    What turns have done since the start, for metrics.

    `watches` are those of the last turn, by whether they are searched at all.
    """

    searches: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    watches: Counter[str] = field(default_factory=Counter)

    def add(self, report: QueueReport) -> None:
        """Count what one turn did."""
        self.skipped += report.skipped
        self._add_outcomes(report.outcomes.values())

    def _add_outcomes(self, outcomes: Iterable[PollOutcome]) -> None:
        for outcome in outcomes:
            self.searches[outcome.name] += 1
            for name in REVIEW_HITS:
                self.hits[name] += getattr(outcome, name)
