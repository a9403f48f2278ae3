"""What is known of a pull request when a person asks, and words for one part of it."""

import datetime as dt
import enum
from dataclasses import dataclass

from prwatch.domain.merge_progress import NO_PROGRESS, MergeProgress
from prwatch.domain.pull_request import Observation
from prwatch.domain.timestamp import format_age


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    A pull request's last reading, with the times that no single reading tells.

    `is_live` says that the reading was made just now; a stored one is as old as its
    last change. `bare_since` is the earliest time from which the head is known to have
    stood without any checks. `mergeable_unknown_since` is since when GitHub does not
    say whether it can be merged, None where it does or nobody looked. `refusal` is why
    this token may not read the checks now, or ''.
    """

    observation: Observation
    now: dt.datetime
    is_live: bool = False
    bare_since: dt.datetime | None = None
    progress: MergeProgress = NO_PROGRESS
    mergeable_unknown_since: dt.datetime | None = None
    refusal: str = ""

    def tell_age(self, moment: dt.datetime) -> str:
        """Return how long ago it was; GitHub's clock may be ahead of ours."""
        return format_age(self.now - moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A stable `word` for programs, and a `text` with its reasons for people."""

    word: enum.StrEnum
    text: str

    def as_json(self) -> dict[str, str]:
        """Return both as plain values."""
        return {"word": self.word.value, "text": self.text}
