"""One workspace's turn in a sweep, and how its failures are told to circuits."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prwatch.app.cleanup.circuits import Blow, CleanupCircuits
from prwatch.app.cleanup.report import CleanupReport, Finding
from prwatch.app.cleanup.sights import Sights
from prwatch.app.review.logins import Logins
from prwatch.app.runtime import Runtime
from prwatch.app.walk.cycle import Account
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass, Missing, Retry, Unreadable
from prwatch.domain.review_cleanup import SweptTask
from prwatch.domain.review_ending import Ending
from prwatch.domain.review_watch import AuditAction, AuditActor
from prwatch.domain.task import Workspace
from prwatch.errors import AuthenticationFailed, ProviderError, RateLimited, StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep that runs, and what it shares with all workspaces' turns."""

    runtime: Runtime
    circuits: CleanupCircuits
    report: CleanupReport
    logins: Logins
    sights: Sights
    by: AuditActor
    is_dry: bool
    beat: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A workspace's turn. `is_asked` is that a person asks: no circuit counts."""

    sweep: Sweep
    account: Account
    workspace: Workspace
    connection_id: str
    is_asked: bool

    def now(self) -> dt.datetime:
        """Return the time."""
        return self.sweep.runtime.clock.now()

    def tell(
        self,
        swept: SweptTask,
        verdict: str,
        *,
        reason: str = "",
        evidence: Mapping[str, object] | None = None,
        until: dt.datetime | None = None,
    ) -> None:
        """Add what was found of a task to the report."""
        name, reference = "", ""
        if swept.rows:
            one = swept.rows[0].row.pull_request
            name, reference = one.external_id, f"{one.owner}/{one.name}#{one.number}"
        self.sweep.report.findings.append(
            Finding(
                workspace=self.workspace.name,
                task=swept.task.external_id if swept.task else name,
                reference=reference,
                verdict=verdict,
                reason=reason,
                evidence=evidence or {},
                until=until,
            )
        )

    def skip(
        self,
        tasks: Sequence[SweptTask],
        reason: str,
        until: dt.datetime | None = None,
    ) -> None:
        """Tell that tasks were left out."""
        for swept in tasks:
            self.tell(swept, "skipped", reason=reason, until=until)

    def fail(self, reference: str, blow: Blow) -> None:
        """Add a failure to the report; without a reference it is of all of them."""
        self.sweep.report.failures.append(
            Failure(
                workspace=self.workspace.name,
                scope="review",
                reference=reference,
                failure_class=blow.failure_class,
                code=blow.code,
                message=blow.message,
                is_whole=not reference,
            )
        )

    def fail_store(self, swept: SweptTask, error: StoreError) -> None:
        """Tell that the store could not remove a task; the next sweep tries again."""
        self.sweep.report.error = error
        blow = Blow(
            failure_class=FailureClass.TRANSIENT, code=error.code, message=str(error)
        )
        self.fail(swept.task.external_id if swept.task else "", blow)
        self.tell(swept, "failed", reason=str(error))

    def build_ending(
        self,
        swept: SweptTask,
        action: AuditAction,
        reason: str,
        proofs: Mapping[str, Mapping[str, object]],
    ) -> Ending:
        """Return that a task goes now, by whoever sweeps."""
        now = self.now()
        undo = self.sweep.runtime.config.review.undo
        is_deleted = action is AuditAction.DELETED
        return Ending(
            workspace=self.workspace,
            swept=swept,
            action=action,
            reason=reason,
            proofs=proofs,
            acted_at=now,
            acted_by=self.sweep.by,
            undo_until=now + undo if is_deleted else None,
        )


def classify(error: ProviderError) -> Blow:
    """Return what a request that failed as a whole tells the shared circuit."""
    failure_class, until = FailureClass.TRANSIENT, None
    if isinstance(error, RateLimited):
        failure_class, until = FailureClass.LIMIT, error.retry_at
    elif isinstance(error, AuthenticationFailed):
        failure_class = FailureClass.AUTH
    return Blow(
        failure_class=failure_class, code=error.code, message=str(error), until=until
    )


def classify_missing(outcome: Missing) -> Blow:
    """
    Return what a pull request that could not be read tells the circuits of its rows.

    What may pass by itself is transient; what a person must help with is not.
    """
    is_passing = isinstance(outcome, Retry | Unreadable)
    failure_class = FailureClass.TRANSIENT if is_passing else FailureClass.CONFIG
    code = getattr(outcome, "code", "not_found")
    return Blow(failure_class=failure_class, code=code, message=outcome.reason)
