"""
Readings that are older than what is known, and when they are believed after all.

GitHub's replicas lag, so a reading whose update time went back is dropped whole.
When the same old reading keeps coming, the replica is right and we were wrong.
"""

import datetime as dt
from dataclasses import dataclass, replace
from typing import Final

from prwatch.domain.pull_request import Observation, PullRequestState
from prwatch.domain.watch import Watermark

BELIEVED_READINGS: Final = 3
BELIEVED_SPAN: Final = dt.timedelta(minutes=10)


def denies_merge(watermark: Watermark, observation: Observation) -> bool:
    """Return whether it shows as open or closed what was merged: merged is final."""
    return (
        watermark.state is PullRequestState.MERGED
        and observation.state is not PullRequestState.MERGED
    )


def is_stale(watermark: Watermark, observation: Observation) -> bool:
    """Return whether its update time is earlier than what is known, or it denies it."""
    return observation.updated_at < watermark.updated_at or denies_merge(
        watermark, observation
    )


@dataclass(frozen=True, slots=True)
class StaleReadings:
    """
    The stale readings of one watch in a row: equal ones count, another restarts.

    Its owner drops it when a reading arrives that is not stale.
    """

    reading: Observation | None = None
    count: int = 0
    first_at: dt.datetime | None = None
    last_at: dt.datetime | None = None

    def add(self, observation: Observation, *, now: dt.datetime) -> "StaleReadings":
        """Return the memory after one more stale reading, made at `now`."""
        reading = _without_times(observation)
        if reading != self.reading:
            return StaleReadings(reading, 1, now, now)
        return replace(self, count=self.count + 1, last_at=now)

    @property
    def is_believed(self) -> bool:
        """Return whether three equal readings span ten minutes."""
        if self.first_at is None or self.last_at is None:
            return False
        return (
            self.count >= BELIEVED_READINGS
            and self.last_at - self.first_at >= BELIEVED_SPAN
        )


def _without_times(observation: Observation) -> Observation:
    """Return what two readings of one unchanged pull request have in common."""
    return replace(
        observation,
        observed_at=observation.updated_at,
        settles_at=None,
        checks_notes=(),
    )
