"""
How long one sweeper itself has known that the work of review tasks was seen done.

Several may sweep one database, and their clocks need not agree: what one noted as seen
may be long ago by the clock of another that comes a second later. So who sweeps again
and again lets a cycle pass by its own clock, which no correction moves.
"""

import datetime as dt
from collections.abc import Collection, Mapping

from prwatch.clock import Clock
from prwatch.domain.review_cleanup import CYCLE, SweptTask


class Sights:
    """
    What was seen done, by the id of its row, and since when it has been known here.

    One that is not `is_lasting` sweeps once, knows nothing of before, and has to
    believe the times that it finds.
    """

    def __init__(self, clock: Clock, *, is_lasting: bool) -> None:
        self._clock = clock
        self._is_lasting = is_lasting
        self._since: dict[str, dict[str, tuple[dt.datetime, float]]] = {}

    def keep_rows(self, workspace_id: str, row_ids: Collection[str]) -> None:
        """Forget what was known of rows of a workspace that are gone."""
        known = self._since.get(workspace_id, {})
        for row_id in known.keys() - set(row_ids):
            del known[row_id]

    def note(self, workspace_id: str, seen: Mapping[str, dt.datetime]) -> None:
        """Note what is seen done, and when first; what is known stays known."""
        if not (self._is_lasting and seen):
            return
        known, now = self._since.setdefault(workspace_id, {}), self._clock.monotonic()
        for row_id, seen_at in seen.items():
            if row_id not in known or known[row_id][0] != seen_at:
                known[row_id] = (seen_at, now)

    def find_rest(self, swept: SweptTask, grace: dt.timedelta) -> dt.timedelta:
        """
        Return how long a task whose work was seen done must be waited for still.

        A cycle is enough, also where the time of grace is longer: a restart forgets.
        """
        if not self._is_lasting:
            return dt.timedelta(0)
        known, now = self._since.get(swept.workspace_id, {}), self._clock.monotonic()
        least = min(grace, CYCLE)
        rests = [dt.timedelta(0)]
        for each in swept.rows:
            seen_at, since = known.get(each.row.id, (None, now))
            is_same = seen_at == each.row.terminal_seen_at
            passed = now - since if is_same else 0.0
            # One that is new here was read once by this sweeper, however short that is.
            first = dt.timedelta(0) if is_same else dt.timedelta(microseconds=1)
            rests.append(max(least - dt.timedelta(seconds=passed), first))
        return max(rests)
