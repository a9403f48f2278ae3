"""
What the daemon remembers about each watch between cycles, and may forget.

Nothing here is the truth: a restart costs one more full reading of those pull
requests whose probe moved without a change, and no event.
"""

import datetime as dt
import functools
import itertools
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.staleness import StaleReadings

NO_TAGS: Final[Mapping[str, str]] = MappingProxyType({})
SHARES: Final = 1000
"""In how many parts the first full re-readings are spread."""


@dataclass(slots=True)
class WatchMemory:
    """The unstored facts of one watch. Times are our clock's, in UTC."""

    full_read_at: dt.datetime
    """When the last full reading was made, or is pretended to have been."""
    asked_at: dt.datetime | None = None
    read_in: str = ""
    """The cycle of the last full reading. A time would not tell: clocks are set."""
    good_at: dt.datetime | None = None
    """When the last good observation was made, changed or not."""
    fingerprint: str = ""
    """A fingerprint whose full reading showed no change."""
    due_at: dt.datetime | None = None
    """When a verdict settles or a flap may be told, or None."""
    held_fingerprint: str = ""
    """The last probe's, for a verdict that waits: the same needs no reading yet."""
    tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)
    """The entity tags of the last reading through REST, for this credential."""
    is_busy: bool = False
    awaited_until: dt.datetime | None = None
    """Until when somebody waits for it, as far as they said."""
    summary: ChecksSummary | None = None
    """The numbers of the last full reading, while checks run: the store keeps older."""
    mergeable_unknown_since: dt.datetime | None = None
    """Since when GitHub does not say whether it can be merged, None where it does."""
    stale: StaleReadings | None = None


class PollMemory:
    """The memory of all watches, bounded by the watches that exist."""

    def __init__(self, *, full_read: dt.timedelta) -> None:
        self.begun_at: dt.datetime | None = None
        """When the first watch was met."""
        self._full_read = full_read
        self._watches: dict[str, WatchMemory] = {}

    def get(self, watch_id: str, *, now: dt.datetime) -> WatchMemory:
        """
        Return the watch's memory, made on first sight.

        The first full re-read of watches that are met together is spread over
        one `full_read`, so that they never all fall due in one cycle.
        """
        memory = self._watches.get(watch_id)
        if memory is None:
            self.begun_at = self.begun_at or now
            share = zlib.crc32(watch_id.encode()) % SHARES
            memory = WatchMemory(full_read_at=_spread(now, self._full_read, share))
            self._watches[watch_id] = memory
        return memory

    def list_silent(self, before: dt.datetime, *, limit: int) -> dict[str, dt.datetime]:
        """List since when GitHub does not say of watches if they can be merged."""
        silent = (
            (watch_id, memory.mergeable_unknown_since)
            for watch_id, memory in self._watches.items()
        )
        found = ((name, since) for name, since in silent if since and since <= before)
        return dict(itertools.islice(found, limit))

    def forget_tags(self) -> None:
        """Forget the entity tags: they belong to a token that was replaced."""
        for memory in self._watches.values():
            memory.tags = NO_TAGS

    def keep_only(self, keys: Iterable[str]) -> None:
        """Forget every watch, and finished pull request, that is not among these."""
        known = self._watches
        # The keys are those of the rows that are held now: an id is kept once.
        self._watches = {key: known[key] for key in keys if key in known}

    def __len__(self) -> int:
        return len(self._watches)


@functools.lru_cache(maxsize=SHARES)
def _spread(now: dt.datetime, full_read: dt.timedelta, share: int) -> dt.datetime:
    """Return one time for all watches of a share that are met together."""
    return now - full_read * (share / SHARES) * 0.9
