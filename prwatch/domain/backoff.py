"""How long to wait before something that failed is tried again."""

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """
    A wait that grows by `factor` with each attempt, from `base` up to `cap`.

    `jitter` is the share of the wait that chance may add, so that what failed
    together does not come back together: 0.25 adds up to a quarter. It is added
    after the cap, because waits at the cap need to spread as well.
    """

    base: dt.timedelta
    factor: float
    cap: dt.timedelta
    jitter: float

    def __post_init__(self) -> None:
        if not dt.timedelta() < self.base <= self.cap:
            raise ValueError("base must be above zero and not above cap")
        if self.factor < 1 or not 0 <= self.jitter <= 1:
            raise ValueError("factor must be at least 1, jitter between 0 and 1")

    def delay(self, attempt: int, chance_value: float) -> dt.timedelta:
        """
        Return the wait after that failed attempt, which counts from 1.

        `chance_value` lies between 0 and 1. With the same chance a later attempt
        never waits less.
        """
        return self._grown(attempt) * (1 + self.jitter * chance_value)

    @property
    def longest(self) -> dt.timedelta:
        """Return the longest wait that can come out."""
        return self.cap * (1 + self.jitter)

    def _grown(self, attempt: int) -> dt.timedelta:
        ratio = self.cap / self.base
        try:
            growth: float = self.factor ** max(0, attempt - 1)
        except OverflowError:
            return self.cap
        return self.cap if growth >= ratio else self.base * growth
