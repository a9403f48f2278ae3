"""
The labels of metrics, and all the values that each may take.

None of them names a workspace, a task, a watch, a pull request, a repository, a user, a
sink or a host: whoever may read the metrics learns nothing of anybody's work.
"""

import enum
from typing import Final

from prwatch.domain.circuit import BACKOFFS, CircuitKind
from prwatch.domain.events import ChangeField, EventType
from prwatch.domain.freshness import StaleReason
from prwatch.domain.outcome import FailureClass

OTHER: Final = "other"
"""Stands for a value that the set does not know; only some sets have it."""


class Label(enum.StrEnum):
    """The names of labels."""

    BUCKET = "bucket"
    CHANGE_FIELD = "field"
    CIRCUIT = "circuit"
    CLASS = "class"
    EVENT_TYPE = "type"
    HIT = "hit"
    LOOP = "loop"
    OUTCOME = "outcome"
    REASON = "reason"
    SINK_KIND = "sink_kind"
    STATE = "state"
    TABLE = "table"
    VERDICT = "verdict"


PAID: Final = ("core", "graphql")
"""The buckets that requests are charged to, as far as GitHub lets it be told."""
BUCKETS: Final = ("core", "graphql", "search", "secondary", OTHER)
CLASSES: Final = tuple(each.value for each in FailureClass)
CIRCUITS: Final = tuple(each.value for each in CircuitKind)
CIRCUIT_CLASSES: Final = tuple(each.value for each in BACKOFFS)
"""A limit opens no circuit."""
CLEANUP_CIRCUITS: Final = ("shared", "record")
CYCLE_OUTCOMES: Final = ("ok", "partial", "failed")
DELIVERY_OUTCOMES: Final = ("delivered", "failed", "dropped", "dead")
HITS: Final = ("equal_bytes", "not_modified")
LOOPS: Final = (
    "watch_cycle",
    "relay",
    "retention",
    "review_queue",
    "review_cleanup",
    "sync",
    "gauges",
    "canary",
    "control",
    "metrics",
    "reload",
    "watchdog",
    OTHER,
)
REVIEW_SEARCHES: Final = ("complete", "incomplete", "failed")
REVIEW_HITS: Final = (
    "created",
    "joined",
    "ended",
    "unasked",
    "cleaned",
    "left",
    "unread",
    "refused",
)
REVIEW_SKIPS: Final = ("limit", "account")
REVIEW_STATES: Final = ("enabled", "disabled", "unreadable")
SINK_KINDS: Final = ("stdout", "jsonl", "webhook", "command")
SKIP_REASONS: Final = ("circuit", "limit", "not_due", "resting", "archived")
STALE_REASONS: Final = tuple(each.value for each in StaleReason)
SYNC_OUTCOMES: Final = ("unchanged", "changed", "skipped", "failed")
TABLES: Final = (
    "workspaces",
    "connections",
    "repositories",
    "tasks",
    "task_repositories",
    "pull_request_links",
    "sessions",
    "checkouts",
    "repository_watches",
    "pr_watches",
    "task_pull_requests",
    "events",
    "deliveries",
    "rate_limit_blocks",
    "refused_fields",
    "watch_folders",
    "watch_files",
    "watch_folder_circuits",
    "review_watches",
    "review_tasks",
    "review_audit",
)
VERDICTS: Final = ("ok", "degraded", "failing")
WATCH_FILE_STATES: Final = ("good", "frozen")
WATCH_STATES: Final = ("searching", "discovered")
CHANGE_FIELDS: Final = tuple(each.value for each in ChangeField)
EVENT_TYPES: Final = tuple(each.value for each in EventType)
RELOAD_OUTCOMES: Final = ("applied", "refused")
