"""What one sweep over the review tasks did, or would do."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.events import EventType
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Workspace
from prwatch.domain.timestamp import format_optional_time
from prwatch.errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    What a sweep found of one review task.

    `verdict` is `deleted`, `gone`, or a word of `Keep` or `Stand`, or `skipped` or
    `failed`, or `changed` where it was not as it was decided on; `reason` is why in
    words, `until` when that may be over.
    """

    workspace: str
    task: str
    reference: str
    verdict: str
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)
    until: dt.datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "workspace": self.workspace,
            "task": self.task,
            "reference": self.reference,
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "until": format_optional_time(self.until),
        }


@dataclass(slots=True, kw_only=True)
class CleanupReport:
    """The running account of one sweep. In a dry run nothing of it was done."""

    findings: list[Finding] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    swept: set[str] = field(default_factory=set)
    """The workspaces that had a turn."""
    deleted: int = 0
    dropped: int = 0
    """Rows of tasks that were gone."""
    error: StoreError | None = None
    """What the store could not do last; the rest was swept all the same."""

    def fail_store(self, workspace: Workspace, error: StoreError) -> None:
        """Add that the store could not do something for a workspace."""
        self._fail_store(workspace.name, error)

    def fail_record(self, error: StoreError) -> None:
        """Add that what is old in the record could not be forgotten."""
        self._fail_store("", error)

    def _fail_store(self, workspace: str, error: StoreError) -> None:
        self.error = error
        self.failures.append(
            Failure(
                workspace=workspace,
                scope="review",
                reference="",
                failure_class=FailureClass.TRANSIENT,
                code=error.code,
                message=str(error),
            )
        )

    def absorb(self, other: "CleanupReport") -> None:
        """Add what a part of the sweep did."""
        self.findings += other.findings
        self.swept |= other.swept
        self.failures += other.failures
        self.deleted += other.deleted
        self.dropped += other.dropped
        self.error = other.error or self.error

    @property
    def verdicts(self) -> Counter[str]:
        """Return how many tasks were found how."""
        return Counter(each.verdict for each in self.findings)

    @property
    def events_by_type(self) -> Counter[str]:
        """Return the events that were written, by type."""
        deleted = EventType.PR_REVIEW_TASK_DELETED.value
        return Counter({deleted: self.deleted} if self.deleted else {})
