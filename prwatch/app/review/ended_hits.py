"""
Hits that need no task, remembered so that each search does not read them again.

What was decided of one holds until the search shows it changed. It is read again after
a while all the same: nothing that ended may come back unseen for long.
"""

import datetime as dt
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from prwatch.domain.review_hit import HitVerdict
from prwatch.domain.review_watch import ReviewWatch
from prwatch.github.search import Hit

MAX_REMEMBERED: Final = 20_000
SETTLED: Final = dt.timedelta(minutes=5)
"""How long a pull request must have rested: times are whole seconds, clocks differ."""
KEPT: Final = dt.timedelta(hours=1)
"""How long it is believed that nothing changed which the search does not show."""


@dataclass(frozen=True, slots=True)
class _Ended:
    revision: int
    login: str
    updated_at: dt.datetime
    read_at: dt.datetime
    verdict: HitVerdict


class EndedHits:
    """Remembers, by watch and pull request, what was decided; the oldest goes first."""

    def __init__(self) -> None:
        self._ended: OrderedDict[tuple[str, str], _Ended] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ended)

    def recall(
        self, watch: ReviewWatch, login: str, hit: Hit, now: dt.datetime
    ) -> HitVerdict | None:
        """Return what a hit came to that has not changed since; None: read it."""
        known = self._ended.get((watch.id, hit.node_id))
        if known is None:
            return None
        is_same = (known.revision, known.login, known.updated_at) == (
            watch.revision,
            login,
            hit.updated_at,
        )
        is_fresh = dt.timedelta() <= now - known.read_at < KEPT
        return known.verdict if is_same and is_fresh else None

    def note(
        self,
        watch: ReviewWatch,
        login: str,
        hit: Hit,
        verdict: HitVerdict,
        now: dt.datetime,
    ) -> None:
        """Remember what a hit came to that rested when it was read."""
        key = (watch.id, hit.node_id)
        self._ended.pop(key, None)
        if hit.updated_at is None or now - hit.updated_at < SETTLED:
            return
        self._ended[key] = _Ended(watch.revision, login, hit.updated_at, now, verdict)
        if len(self._ended) > MAX_REMEMBERED:
            self._ended.popitem(last=False)
