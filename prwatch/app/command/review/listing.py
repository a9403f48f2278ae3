"""What a person is shown of review watches: settings, tasks, and how searching went."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prwatch.app.command.review.kept import Kept, list_kept, read_skips
from prwatch.app.command.review.turns import UNKNOWN, SearchTurn, read_turns
from prwatch.app.command.review.unreadable import refuse_unreadable
from prwatch.app.command.workbench import Workbench
from prwatch.config.durations import format_duration
from prwatch.domain.review_watch import (
    IncompleteReason,
    ReviewAudit,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Task, Workspace
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.errors import ConfigError, NotFound
from prwatch.store import (
    connections,
    review_audit,
    review_tasks,
    review_watches,
    tasks,
)
from prwatch.store.database import Transaction
from prwatch.store.review_sweep import list_swept

AUDIT_LIMIT = 20
"""The newest entries of the record that are shown of one watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReview:
    """A review watch with its workspace, what it knows, and the tasks of that."""

    workspace: Workspace
    watch: ReviewWatch
    rows: tuple[ReviewTask, ...]
    tasks: Mapping[str, Task]
    audit: tuple[ReviewAudit, ...]
    kept: Mapping[str, Kept]
    """What keeps tasks from being cleaned away, by row id."""
    turn: SearchTurn
    unreadable: int = 0
    """Rows of it that cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTaskRow:
    """
    A review task in words.

    `state` is `open`, `done` (seen so once), `archived`, `gone` or `reserved`.
    """

    id: str
    reference: str
    title: str
    state: str
    created_at: dt.datetime
    terminal_seen_at: dt.datetime | None
    evidence: Mapping[str, object]
    person_wrote_at: dt.datetime | None
    waits_for: str
    kept: str = ""
    """What keeps it from being cleaned away, '' for nothing."""
    kept_until: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "id": self.id,
            "reference": self.reference,
            "title": self.title,
            "state": self.state,
            "created_at": format_time(self.created_at),
            "terminal_seen_at": format_optional_time(self.terminal_seen_at),
            "evidence": dict(self.evidence),
            "person_wrote_at": format_optional_time(self.person_wrote_at),
            "waits_for": self.waits_for,
            "kept": self.kept,
            "kept_until": self.kept_until or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """A review watch as people see it, with its tasks and its newest record."""

    workspace: str
    watch: ReviewWatch
    tasks: tuple[ReviewTaskRow, ...]
    audit: tuple[ReviewAudit, ...]
    turn: SearchTurn = UNKNOWN
    unreadable: int = 0
    """Rows of its tasks that cannot be understood."""

    @property
    def state(self) -> str:
        """Return `disabled`, `failing`, `incomplete`, `new` or `good`."""
        watch = self.watch
        if not watch.settings.is_enabled:
            return "disabled"
        is_unread = watch.incomplete_reason is IncompleteReason.UNREAD
        if watch.last_error and not is_unread:
            return "failing"
        if watch.incomplete_since is not None:
            return "incomplete"
        return "good" if watch.backlog_done_at else "new"

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        watch, settings = self.watch, self.watch.settings
        return {
            "id": watch.id,
            "name": watch.name,
            "workspace": self.workspace,
            "state": self.state,
            "origin": watch.origin.value,
            "written_as": watch.written_as,
            "revision": watch.revision,
            "scope": settings.scope.value,
            "repositories": list(settings.repositories),
            "organisations": list(settings.organisations),
            "query": settings.query,
            "target_login": settings.target_login,
            "interval": format_duration(settings.interval),
            "policy": settings.policy.value,
            "is_enabled": settings.is_enabled,
            "last_error": watch.last_error,
            "incomplete_since": format_optional_time(watch.incomplete_since),
            "incomplete_reason": watch.incomplete_reason or "",
            "backlog_done_at": format_optional_time(watch.backlog_done_at),
            **self.turn.as_json(),
            "tasks": [each.as_json() for each in self.tasks],
            "unreadable_tasks": self.unreadable,
            "audit": [render_audit(each) for each in self.audit],
        }


async def list_reviews(bench: Workbench, *, workspace: str = "") -> list[ReviewRow]:
    """
    List the review watches that can be read, by workspace and name.

    Raises:
        NotFound: There is no such workspace.
    """
    return [_build_row(found) for found in await find_reviews(bench, workspace)]


async def show_review(bench: Workbench, name: str, *, workspace: str = "") -> ReviewRow:
    """
    Return one review watch.

    Raises:
        NotFound: There is none of that name.
        ConfigError: Several workspaces have one.
        PrwatchError: Its row cannot be read.
    """
    rows = await list_reviews(bench, workspace=workspace)
    found = [row for row in rows if row.watch.name == name]
    if not found:
        await refuse_unreadable(bench, name, workspace)
        raise NotFound(
            f"there is no review watch {name}", hint="`prwatch review list` names them"
        )
    if len(found) > 1:
        names = ", ".join(row.workspace for row in found)
        raise ConfigError(f"choose one with --workspace: {names}")
    return found[0]


async def find_reviews(bench: Workbench, workspace: str) -> list[FoundReview]:
    """Read the review watches of the workspaces that are meant, with their tasks."""
    found: list[FoundReview] = []
    skips, turns = await read_skips(bench), await read_turns(bench)
    for one in await bench.list_workspaces(workspace):

        async def read(tx: Transaction, one: Workspace = one) -> list[FoundReview]:
            key = one.id
            rows, broken = await review_tasks.read_review_tasks(tx, key)
            listed = await tasks.list_tasks(tx, key, include_archived=True)
            connection = await connections.find_connection(tx, key)
            kept = list_kept(await list_swept(tx, key), connection, skips)
            return [
                FoundReview(
                    workspace=one,
                    watch=watch,
                    rows=tuple(r for r in rows if r.review_watch_id == watch.id),
                    tasks={task.id: task for task in listed},
                    audit=tuple(
                        await review_audit.list_audit_of_watch(
                            tx, key, watch.id, limit=AUDIT_LIMIT
                        )
                    ),
                    kept=kept,
                    turn=turns.get(watch.id, UNKNOWN),
                    unreadable=sum(each == watch.id for each in broken.values()),
                )
                for watch in await review_watches.list_review_watches(tx, key)
            ]

        found += await bench.database.read(read)
    return found


def _build_row(found: FoundReview) -> ReviewRow:
    return ReviewRow(
        workspace=found.workspace.name,
        watch=found.watch,
        tasks=tuple(
            build_task_row(row, found.tasks.get(row.task_id), found.kept.get(row.id))
            for row in found.rows
        ),
        audit=found.audit,
        turn=found.turn,
        unreadable=found.unreadable,
    )


def build_task_row(
    row: ReviewTask, task: Task | None, kept: Kept | None
) -> ReviewTaskRow:
    """Return a row with its task, None once that is gone, and what keeps it."""
    pull_request = row.pull_request
    return ReviewTaskRow(
        id=task.external_id if task else pull_request.external_id,
        reference=f"{pull_request.owner}/{pull_request.name}#{pull_request.number}",
        title=task.title if task else "",
        state=_name_state(row, task),
        created_at=row.created_at,
        terminal_seen_at=row.terminal_seen_at,
        evidence=row.terminal_evidence,
        person_wrote_at=task.person_wrote_at if task else None,
        waits_for=task.waits_for if task else "",
        kept=kept.reason if kept else "",
        kept_until=kept.until if kept else "",
    )


def _name_state(row: ReviewTask, task: Task | None) -> str:
    if not row.task_id:
        return "reserved"
    if task is None or task.archived_at is not None:
        return "gone" if task is None else "archived"
    return "done" if row.terminal_seen_at is not None else "open"


def render_audit(entry: ReviewAudit) -> dict[str, object]:
    """Return an entry of the record as `--json` prints it."""
    return {
        "id": entry.id,
        "task": entry.external_id,
        "action": entry.action.value,
        "reason": entry.reason,
        "evidence": dict(entry.evidence),
        "at": format_time(entry.acted_at),
        "by": entry.acted_by.value,
        "undo_until": format_optional_time(entry.undo_until),
    }
