"""What is known of a pull request when a person asks, and words for one part of it."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from prwatch.domain.announce import has_head_moved
from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.merge_progress import NO_PROGRESS, MergeProgress, follow_merge
from prwatch.domain.merging import merge_observations
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, Observation
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.timestamp import format_age


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    A pull request's last reading, with the times that no single reading tells.

    `is_live` says that the reading was made just now; a stored one is as old as its
    last change, but for the numbers of its checks if they were `counted_at` a later
    time. `bare_since` is the earliest time from which the head is known to have
    stood without any checks. `mergeable_unknown_since` is since when GitHub does not
    say whether it can be merged, None where it does or nobody looked. `unreadable`
    tells of fields why they cannot be read now, whatever was known before.
    """

    observation: Observation
    now: dt.datetime
    is_live: bool = False
    counted_at: dt.datetime | None = None
    bare_since: dt.datetime | None = None
    progress: MergeProgress = NO_PROGRESS
    mergeable_unknown_since: dt.datetime | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def tell_age(self, moment: dt.datetime) -> str:
        """Return how long ago it was; GitHub's clock may be ahead of ours."""
        return format_age(self.now - moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A stable `word` for programs, and a `text` with its reasons for people."""

    word: enum.StrEnum
    text: str

    @property
    def short(self) -> str:
        """Return the word as people read it."""
        return str(self.word.value).replace("_", " ")

    def as_json(self) -> dict[str, str]:
        """Return both as plain values."""
        return {"word": self.word.value, "text": self.text}


def recall(
    stored: TaskPullRequest,
    *,
    now: dt.datetime,
    since: dt.datetime | None = None,
    unreadable: Mapping[str, str] | None = None,
) -> Known:
    """
    Return what the store knows; `since` is how long its checks state has stood.

    `unreadable` is what cannot be read of it now, and why.
    """
    seen = stored.observation
    is_bare = seen.checks is ChecksState.NONE
    return Known(
        observation=seen,
        now=now,
        # Whatever moved its update time, the head was not pushed after it.
        bare_since=min(since or seen.observed_at, seen.updated_at) if is_bare else None,
        progress=stored.progress,
        unreadable=unreadable or {},
    )


def catch_up(
    known: Known,
    *,
    summary: ChecksSummary | None,
    counted_at: dt.datetime | None,
    mergeable_unknown_since: dt.datetime | None,
) -> Known:
    """Return what is known with what a daemon remembers beside what it stored."""
    seen = known.observation
    if summary is not None and seen.checks is ChecksState.PENDING:
        known = replace(
            known,
            observation=replace(seen, checks_summary=summary),
            counted_at=counted_at,
        )
    return replace(known, mergeable_unknown_since=mergeable_unknown_since)


def refresh(
    observation: Observation, *, now: dt.datetime, stored: Known | None
) -> Known:
    """
    Return what is known with a reading that was made just now.

    What only the sequence of readings tells goes on from what is stored, if anything.
    What was read now is readable.
    """
    before = stored.observation if stored else None
    since = min(observation.observed_at, observation.updated_at)
    if (
        stored
        and before
        and not has_head_moved(before.head_ref_oid, observation.head_ref_oid)
    ):
        since = min(since, stored.bare_since or since)
    is_bare = observation.checks is ChecksState.NONE
    whole = merge_observations(before, observation) if before else observation
    return Known(
        observation=observation,
        now=now,
        is_live=True,
        bare_since=since if is_bare else None,
        progress=follow_merge(
            stored.progress if stored else NO_PROGRESS, before, whole
        ),
        unreadable={
            name: why
            for name, why in (stored.unreadable if stored else {}).items()
            if getattr(observation, name) is UNOBSERVED
        },
    )
