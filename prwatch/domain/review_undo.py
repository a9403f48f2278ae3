"""Which entry of the record restores a review task, and the task as it comes back."""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import replace

from prwatch.domain.review_watch import AuditAction, ReviewAudit, ReviewTask
from prwatch.domain.task import Origin, Task


def find_undo(entries: Sequence[ReviewAudit], now: dt.datetime) -> ReviewAudit | None:
    """Return the newest of a task's deletions that can be undone still, or None."""
    return next(
        (
            each
            for each in entries
            if each.action is AuditAction.DELETED
            and each.snapshot
            and each.undo_until is not None
            and now <= each.undo_until
        ),
        None,
    )


def build_restored(task: Task, now: dt.datetime) -> Task:
    """
    Return a task that a person took back: it is theirs now, and stays.

    Were it a review task still, `always` would remove it again.
    """
    return replace(task, origin=Origin.COMMAND, person_wrote_at=now)


def build_restored_row(row: ReviewTask, watch_ids: Collection[str]) -> ReviewTask:
    """Return a row of it as if its work had never been seen done."""
    return replace(
        row,
        review_watch_id=row.review_watch_id if row.review_watch_id in watch_ids else "",
        terminal_seen_at=None,
        terminal_evidence={},
    )
