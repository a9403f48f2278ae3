"""The trackers of all accounts that pay, so that tokens of one account share theirs."""

import datetime as dt
from collections.abc import Iterable

from prwatch.clock import Clock
from prwatch.github.tracker import Tracker


class TrackerBook:
    """
    Every tracker by its host and by who pays: `user/ID` or `installation/ID`.

    `reserve` is the share of each bucket that polling leaves to people.
    """

    def __init__(self, clock: Clock, *, reserve: float = 0.0) -> None:
        self._clock = clock
        self._reserve = reserve
        self._trackers: dict[tuple[str, str], Tracker] = {}

    def build(self, blocks: Iterable[tuple[str, dt.datetime]] = ()) -> Tracker:
        """Return a new tracker, for a token of which nobody knows yet who pays."""
        return Tracker(self._clock, reserve=self._reserve, blocks=blocks)

    def get(self, host: str, payer: str) -> Tracker:
        """Return the tracker of an account; it is made on first mention."""
        tracker = self._trackers.get((host, payer))
        if tracker is None:
            tracker = self._trackers[host, payer] = self.build()
        return tracker

    def join(self, host: str, payer: str, own: Tracker) -> Tracker:
        """
        Return the tracker of the account that one token's own has turned out to be.

        Nothing that is known is lost: the later block counts, and the lower count of
        what remains.
        """
        known = self._trackers.setdefault((host, payer), own)
        if known is not own:
            known.absorb(own)
        return known
