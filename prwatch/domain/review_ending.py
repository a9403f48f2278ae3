"""What stays of a review task that goes: an event, and entries of its record."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from prwatch.domain.events import Event, EventType
from prwatch.domain.review_cleanup import SweptTask
from prwatch.domain.review_event import describe_repository
from prwatch.domain.review_watch import AuditAction, AuditActor, ReviewAudit
from prwatch.domain.task import Workspace
from prwatch.domain.timestamp import format_optional_time

RECORD_KEPT: Final = dt.timedelta(days=90)
"""How long an entry of the record is kept at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """
    That a review task goes, or only what is known of it.

    `proofs` has each row's own where the task is deleted: without one none is.
    `undo_until` is None where nothing is to be undone.
    """

    workspace: Workspace
    swept: SweptTask
    action: AuditAction
    reason: str
    proofs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    acted_at: dt.datetime
    acted_by: AuditActor
    undo_until: dt.datetime | None = None

    @property
    def external_id(self) -> str:
        """Return the task's name, also when it is gone already."""
        task = self.swept.task
        if task is not None:
            return task.external_id
        return self.swept.rows[0].row.pull_request.external_id


def build_audit(
    ending: Ending, ids: Sequence[str], snapshot: Mapping[str, object]
) -> tuple[ReviewAudit, ...]:
    """
    Return an entry for each row; the first holds what restores the task.

    Raises:
        KeyError: A task is deleted though a row of it has no proof.
    """
    is_deleted = ending.action is AuditAction.DELETED
    return tuple(
        ReviewAudit(
            id=entry_id,
            workspace_id=ending.workspace.id,
            review_watch_id=each.row.review_watch_id,
            pull_request=each.row.pull_request,
            external_id=ending.external_id,
            action=ending.action,
            reason=ending.reason,
            evidence=ending.proofs[each.row.id] if is_deleted else {},
            acted_at=ending.acted_at,
            acted_by=ending.acted_by,
            snapshot=snapshot if place == 0 else {},
            undo_until=ending.undo_until if place == 0 and snapshot else None,
        )
        for place, (each, entry_id) in enumerate(
            zip(ending.swept.rows, ids, strict=True)
        )
    )


def build_review_deleted(ending: Ending, *, event_id: str, source: str) -> Event:
    """
    Return the event that a review task went, and why. It belongs to no watch.

    It waits for what was told before of the same pull request.
    """
    workspace, rows = ending.workspace, ending.swept.rows
    pull_request = rows[0].row.pull_request
    watches = [each.watch for each in rows if each.watch is not None]
    return Event(
        id=event_id,
        type=EventType.PR_REVIEW_TASK_DELETED,
        source=source,
        subject=f"{workspace.name}/{ending.external_id}",
        time=ending.acted_at,
        workspace_id=workspace.id,
        task_id=ending.swept.task_id,
        repository_id=pull_request.node_id,
        pr_number=pull_request.number,
        watch_id="",
        revision=0,
        head_ref_oid="",
        is_terminal=True,
        data={
            "workspace": workspace.name,
            "task_id": ending.external_id,
            "review_watches": [
                {"id": watch.id, "name": watch.name} for watch in watches
            ],
            "repository": describe_repository(pull_request),
            "pull_request": {
                "number": pull_request.number,
                "node_id": pull_request.node_id,
            },
            "reason": ending.reason,
            "evidence": dict(ending.proofs[rows[0].row.id]),
            "by": ending.acted_by.value,
            "undo_until": format_optional_time(ending.undo_until),
        },
    )
