"""What an account's load costs now, and what is asked less often for that."""

import datetime as dt
from dataclasses import dataclass

from prwatch.domain.budget import get_promise
from prwatch.domain.load import Load
from prwatch.domain.schedule import Intervals
from prwatch.domain.stretch import (
    Bucket,
    Stretch,
    StretchLevel,
    StretchRules,
)
from prwatch.domain.stretch_words import count_stretched, describe_stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchReport:
    """
    The last plan of an account that pays: all its tokens have the same.

    `usual` are the intervals of the configuration. `bucket` is None where there is no
    budget to plan.
    """

    stretch: Stretch
    load: Load
    bucket: Bucket | None
    usual: Intervals
    rules: StretchRules

    @property
    def level(self) -> StretchLevel:
        """Return how far intervals have given way."""
        return self.stretch.level

    @property
    def stretched(self) -> int:
        """Return how many pull requests are asked less often than usual."""
        return count_stretched(self.stretch, self.load, self.usual)

    @property
    def words(self) -> str:
        """Return what is asked less often and why, or ''."""
        return describe_stretch(
            self.stretch,
            self.load,
            usual=self.usual,
            bucket=self.bucket,
            rules=self.rules,
        )

    def promise(self, tick: dt.timedelta) -> dt.timedelta:
        """Return how old a change of the least asked pull request may become."""
        return get_promise(self.load, self.stretch, tick)
