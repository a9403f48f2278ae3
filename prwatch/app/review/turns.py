"""When review watches are due: kept in memory alone, so a restart searches all."""

import datetime as dt
from collections.abc import Iterable

from prwatch.domain.review_watch import (
    LONGEST_INTERVAL,
    SHORTEST_INTERVAL,
    ReviewWatch,
)


class SearchTurns:
    """Remembers when each watch was searched last, and which accounts have to wait."""

    def __init__(self) -> None:
        self._polled_at: dict[str, tuple[int, dt.datetime]] = {}
        """By watch, under which revision of it."""
        self._held_until: dict[str, dt.datetime] = {}
        """By account, after a limit was met."""

    def find_due(self, watch: ReviewWatch, now: dt.datetime) -> dt.datetime:
        """Return when a watch is due: at `now` when it is new or was edited."""
        revision, polled_at = self._polled_at.get(watch.id, (0, now))
        if revision != watch.revision or polled_at > now:  # the clock was set back
            return now
        interval = max(watch.settings.interval, SHORTEST_INTERVAL)
        return polled_at + min(interval, LONGEST_INTERVAL)

    def note(self, watch: ReviewWatch, now: dt.datetime) -> None:
        """Note that a watch had its turn."""
        self._polled_at[watch.id] = (watch.revision, now)

    def hold(self, account_key: str, until: dt.datetime | None) -> None:
        """Note until when a limit lets an account wait; None when it does not."""
        if until is None:
            self._held_until.pop(account_key, None)
        else:
            self._held_until[account_key] = until

    def find_hold(self, account_key: str, now: dt.datetime) -> dt.datetime:
        """Return when an account may be asked again, `now` when it may."""
        return max(now, self._held_until.get(account_key, now))

    def keep_only(self, watches: Iterable[ReviewWatch]) -> None:
        """Forget the watches that are gone."""
        present = {watch.id for watch in watches}
        for watch_id in self._polled_at.keys() - present:
            del self._polled_at[watch_id]
