"""
The waits of one account: until when, whether GitHub named the end, and what proves it.

Blocks are kept by bucket, and the secondary limit by its own name.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.rate_limit import SECONDARY

FIRST_WAIT: Final = dt.timedelta(seconds=60)
LONGEST_WAIT: Final = dt.timedelta(minutes=16)
LONGEST: Final = dt.timedelta(minutes=65)
"""A window is an hour long: an end further away than that is a mistake."""
MOST_DOUBLINGS: Final = 8


@dataclass(slots=True)
class Blocks:
    """
    What forbids calls of one account, and what is not yet known to be over.

    `unproven` are buckets in which nothing was answered since they were blocked,
    `guessed` those of which GitHub named no end, and `passed` those of which it named
    an end that was over. `waits` counts the guesses in a row.
    """

    ends: dict[str, dt.datetime] = field(default_factory=dict)
    unproven: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    waits: dict[str, int] = field(default_factory=dict)

    def list_in_force(self, now: dt.datetime) -> dict[str, dt.datetime]:
        """Return until when each bucket is blocked, for those that are."""
        return {name: until for name, until in self.ends.items() if holds(until, now)}

    def list_standing(self, now: dt.datetime) -> dict[str, dt.datetime]:
        """
        Return the limits that are not known to be over, and until when they were.

        One whose end GitHub named is over then; one whose end we guessed, and the
        secondary limit, when a request was answered after it.
        """
        doubted = self.unproven & (self.guessed | {SECONDARY})
        return {
            name: until
            for name, until in self.ends.items()
            if name in doubted or holds(until, now)
        }

    def add(self, blocks: Iterable[tuple[str, dt.datetime]], now: dt.datetime) -> None:
        """Take over blocks. Of two that hold the later end counts."""
        for name, until in blocks:
            known = self.ends.get(name, until)
            self.ends[name] = max(known, until) if holds(known, now) else until
            self.unproven.add(name)

    def guess_wait(self, name: str) -> dt.timedelta:
        """Return how long to wait where GitHub says nothing: it doubles, to a bound."""
        count = self.waits.get(name, 0)
        self.waits[name] = count + 1
        self.guessed.add(name)
        return min(FIRST_WAIT * (1 << min(count, MOST_DOUBLINGS)), LONGEST_WAIT)

    def was_passed(self, name: str) -> bool:
        """Note that an end was named that is over; return whether it was before too."""
        was = name in self.passed
        self.passed.add(name)
        return was

    def prove(self, names: Iterable[str], now: dt.datetime) -> None:
        """Note that a request was answered: what does not hold any more is over."""
        for name in names:
            if not holds(self.ends.get(name, now), now):
                self.unproven.discard(name)
                self.guessed.discard(name)
                self.passed.discard(name)
                self.waits.pop(name, None)

    def absorb(self, other: "Blocks", now: dt.datetime) -> None:
        """Take over all that another one knows."""
        self.add(other.list_in_force(now).items(), now)
        self.unproven |= other.unproven
        self.guessed |= other.guessed
        self.passed |= other.passed
        for name, count in other.waits.items():
            self.waits[name] = max(count, self.waits.get(name, 0))


def holds(until: dt.datetime, now: dt.datetime) -> bool:
    """Return whether a wait that ends then holds now."""
    # No wait is set further ahead than that: then the clock was set back since.
    return now < until <= now + LONGEST
