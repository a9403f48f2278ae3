"""Which review tasks a sweep is asked to look at, and by whom."""

from dataclasses import dataclass
from typing import Final

from prwatch.domain.review_cleanup import SweptTask
from prwatch.domain.review_watch import AuditActor


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOrder:
    """
    Which sweep is asked for; `workspace` and `name` are '' for any.

    One `by` a person is outside the admission of circuits and uses what polling
    leaves of a budget; what proves that a task is done is the same. `is_dry` changes
    nothing.
    """

    workspace: str = ""
    name: str = ""
    by: AuditActor = AuditActor.SCHEDULE
    is_dry: bool = False

    @property
    def is_asked(self) -> bool:
        """Return whether a person asks for it."""
        return self.by is AuditActor.PERSON

    def takes(self, swept: SweptTask) -> bool:
        """Return whether a task is meant: a row of it is of the watch of that name."""
        return not self.name or any(
            each.watch is not None and each.watch.name == self.name
            for each in swept.rows
        )


SCHEDULED: Final = SweepOrder()
