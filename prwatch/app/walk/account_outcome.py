"""
What walking an account came to as a whole, and which circuit that opens or closes.

A token that is refused is its workspaces' matter. A host that answers nobody is the
host's: whoever else has an account there need not find out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prwatch.app.guard.admission import host_key, workspace_key
from prwatch.app.guard.circuits import CircuitKey
from prwatch.app.walk.cycle import Account, Cycle
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.circuit import Cause
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProtocolViolation,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOutcome:
    """
    What became of one account's walk.

    `is_answered` says that GitHub answered at least one request, however badly;
    an account of which nothing was due has neither an answer nor an error.
    """

    account: Account
    workspaces: tuple[Workspace, ...]
    is_answered: bool
    error: ProviderError | None = None

    @property
    def has_spoken(self) -> bool:
        """Return whether the host said anything in this walk."""
        return self.is_answered or (self.error is not None and self.error.status != 0)

    @property
    def is_silence(self) -> bool:
        """Return whether nothing came back at all: no name, no connection, no byte."""
        return self.is_host_failure and not self.has_spoken

    @property
    def is_host_failure(self) -> bool:
        """Return whether it may be the host that fails: nothing good came of it."""
        error = self.error
        if self.is_answered or not isinstance(error, ProviderUnavailable):
            return False
        return error.scope == "host" and (error.status == 0 or error.status >= 500)

    @property
    def is_untrusted(self) -> bool:
        """Return whether the host's certificate was refused, before any request."""
        return isinstance(self.error, ProtocolViolation) and self.error.status == 0


def classify_error(error: ProviderError) -> FailureClass:
    """Return what helps against an error of a whole request."""
    match error:
        case RateLimited():
            return FailureClass.LIMIT
        case AuthenticationFailed() | PermissionDenied():
            return FailureClass.AUTH
        case ProtocolViolation(status=0):
            return FailureClass.CONFIG
        case _:
            return FailureClass.TRANSIENT


def report_outcome(cycle: Cycle, outcome: AccountOutcome) -> None:
    """Report the failure of a whole request for every workspace that it ended."""
    if outcome.error is None:
        return
    if isinstance(outcome.error, RateLimited):
        cycle.report.skipped["limit"] += 1
    for failure in list_failures(outcome):
        cycle.report.add_failure(failure)


def list_failures(outcome: AccountOutcome) -> list[Failure]:
    """List a failure for each workspace of the account."""
    error = outcome.error
    if error is None:
        return []
    return [
        Failure(
            workspace=workspace.name,
            scope=error.scope,
            reference="",
            failure_class=classify_error(error),
            code=error.code,
            message=str(error),
        )
        for workspace in outcome.workspaces
    ]


def record_outcomes(
    cycle: Cycle,
    host: str,
    outcomes: Sequence[AccountOutcome],
    *,
    is_probe: bool = False,
    is_alone: bool = False,
) -> None:
    """
    Open and close the circuits of one host and of the workspaces on it.

    The host's opens when it is the host that fails: two accounts, or the one that was
    its probe, got nothing out of it since it last spoke to anybody. One that
    `is_alone` on its host cannot be compared; for it no answer at all is enough.
    Otherwise each workspace has its own.
    """
    blamed = _find_blamed(
        cycle.circuits.failed_accounts[host],
        outcomes,
        is_probe=is_probe,
        is_alone=is_alone,
    )
    if blamed:
        _trip(cycle, host_key(host), blamed)
    elif any(one.has_spoken for one in outcomes):
        cycle.circuits.succeed(host_key(host))
    for one in outcomes:
        if one not in blamed:
            record_outcome(cycle, one)


def _find_blamed(
    failed_accounts: set[str],
    outcomes: Sequence[AccountOutcome],
    *,
    is_probe: bool,
    is_alone: bool,
) -> list[AccountOutcome]:
    """Return whose failures show that it is the host; none where it is not."""
    untrusted = [one for one in outcomes if one.is_untrusted]
    if untrusted:
        return untrusted
    failed = [one for one in outcomes if one.is_host_failure]
    if any(one.has_spoken for one in outcomes if one not in failed):
        failed_accounts.clear()
        return []
    failed_accounts.update(one.account.key for one in failed)
    is_silent = is_alone and any(one.is_silence for one in failed)
    return failed if is_probe or is_silent or len(failed_accounts) > 1 else []


def record_outcome(cycle: Cycle, outcome: AccountOutcome) -> None:
    """
    Open or close the circuits of an account's workspaces; a limit does neither.

    A walk that came through closes nothing where GitHub said beside single things
    that it refuses the token: that has opened the circuit.
    """
    error = outcome.error
    if isinstance(error, RateLimited):
        return
    refused = cycle.report.failed_workspaces if error is None else frozenset()
    for workspace in outcome.workspaces:
        key = workspace_key(workspace)
        if error is not None:
            _trip(cycle, key, [outcome], only=workspace.name)
        elif outcome.is_answered and workspace.name not in refused:
            cycle.circuits.succeed(key)


def _trip(
    cycle: Cycle, key: CircuitKey, blamed: Sequence[AccountOutcome], *, only: str = ""
) -> None:
    error = blamed[0].error
    assert error is not None  # noqa: S101 - only what failed is blamed
    cause = Cause(
        failure_class=classify_error(error), code=error.code, message=str(error)
    )
    failures = [
        failure
        for outcome in blamed
        for failure in list_failures(outcome)
        if not only or failure.workspace == only
    ]
    cycle.circuits.trip(key, cause, failures=failures)
