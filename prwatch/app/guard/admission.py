"""
What a cycle leaves out because its circuit is open, and what opens and closes them.

The narrowest circuit that explains a failure opens: that of the organisation which
refuses, else that of the one pull request, branch or list. What ends a whole request
is `account_outcome`'s matter.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prwatch.app.guard.circuits import CircuitKey, Circuits
from prwatch.app.walk.cycle import Cycle
from prwatch.app.walk.cycle_report import Failure
from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.circuit import Cause, CircuitKind
from prwatch.domain.outcome import (
    FailureClass,
    Forbidden,
    Missing,
    NotFound,
    Retry,
    Unreadable,
)
from prwatch.domain.task import RepositoryWatch, Workspace
from prwatch.domain.watch import Watch

YOUNG: Final = dt.timedelta(minutes=2)
"""How long GitHub may not know yet what it was just told (a new pull request)."""
RATE_LIMITED: Final = "rate_limited"
"""The code of what a limit forbade: that is the limit's matter, and no circuit's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    One thing that was asked for one workspace.

    `reference` is how people are told of it (`octo/hello#12`), `record` what its
    circuit is kept by, `subject` a digest of what somebody may edit about it.
    """

    view: WorkspaceView
    reference: str
    record: str
    subject: int = 0
    is_young: bool = False
    scope: str = "record"

    @property
    def owner(self) -> str:
        """Return the login of the account that owns the repository."""
        return self.reference.partition("/")[0]


def host_key(host: str) -> CircuitKey:
    """Return the key of a host's circuit."""
    return CircuitKey(CircuitKind.HOST, "", host)


def workspace_key(workspace: Workspace) -> CircuitKey:
    """Return the key of the circuit of a workspace's polling."""
    return CircuitKey(CircuitKind.WORKSPACE, workspace.id)


def organisation_key(view: WorkspaceView, owner: str) -> CircuitKey:
    """Return the key of what an organisation refuses a workspace."""
    return CircuitKey(CircuitKind.ORGANISATION, view.workspace.id, owner.lower())


def record_key(view: WorkspaceView, record: str) -> CircuitKey:
    """Return the key of the circuit of one record."""
    return CircuitKey(CircuitKind.RECORD, view.workspace.id, record)


def ask_for(
    cycle: Cycle,
    view: WorkspaceView,
    watch: Watch,
    reference: str = "",
    *,
    record: str = "",
) -> Asked:
    """
    Return what a watch asks for. A row is young until GitHub must know of it.

    `record` is what is kept of a watch that is no row yet, '' of one that is.
    """
    # Its time is the row's and not this process's, so a restart keeps it.
    is_young = watch.watermark is None and cycle.now() - watch.created_at < YOUNG
    repository = view.repositories.get(watch.repository_id)
    name = repository.name_with_owner if repository else ""
    return Asked(
        view=view,
        reference=reference or name,
        record=record or watch.id,
        subject=0 if record else _digest(view, watch, name),
        is_young=is_young,
    )


def name_list(watch: RepositoryWatch) -> str:
    """Return what the circuit of a repository watch's list is kept by."""
    return f"list/{watch.repository_id}/{watch.author}"


def name_found(finder: str, node_id: str) -> str:
    """
    Return what the circuit of a pull request is kept by that is to be watched.

    It has no row yet, and an id of its own in each cycle: `finder` is the record of
    the list or branch that shows it, and it is forgotten with that.
    """
    return f"{finder}#{node_id}"


def name_repository(repository_id: str) -> str:
    """Return what the circuit of a question about a repository is kept by."""
    return f"repository/{repository_id}"


def admit_watch(cycle: Cycle, view: WorkspaceView, watch: Watch) -> bool:
    """Return whether a watch may be asked for now; count it as skipped if not."""
    if cycle.is_asked or len(cycle.circuits) == 0:
        return True
    repository = view.repositories.get(watch.repository_id)
    owner = repository.owner if repository else ""
    name = repository.name_with_owner if repository else ""
    return admit(cycle, view, watch.id, owner, subject=_digest(view, watch, name))


def admit(
    cycle: Cycle, view: WorkspaceView, record: str, owner: str, *, subject: int = 0
) -> bool:
    """Return whether a record of an owner may be asked for now; count it if not."""
    circuits = cycle.circuits
    if cycle.is_asked or len(circuits) == 0:
        return True
    # The record first: an organisation's probe must not be spent on one that waits.
    is_admitted = circuits.admit(record_key(view, record), subject=subject) and (
        circuits.admit(organisation_key(view, owner))
    )
    if not is_admitted:
        cycle.report.skipped["circuit"] += 1
    return is_admitted


def wait_until(
    circuits: Circuits, view: WorkspaceView, watch: Watch
) -> dt.datetime | None:
    """Return when the circuits of a watch let it be asked again, None without any."""
    if len(circuits) == 0:
        return None
    repository = view.repositories.get(watch.repository_id)
    keys = [record_key(view, watch.id)]
    if repository is not None:
        keys.append(organisation_key(view, repository.owner))
    found = [circuits.find(key) for key in keys]
    return max((each.open_until for each in found if each), default=None)


def note_found(cycle: Cycle, asked: Iterable[Asked]) -> None:
    """Close the circuits of what GitHub answered for."""
    if cycle.circuits.is_quiet:
        return
    for one in asked:
        cycle.circuits.succeed(record_key(one.view, one.record))
        cycle.circuits.succeed(organisation_key(one.view, one.owner))


def note_missing(
    cycle: Cycle, asked: Asked, missing: Missing, *, is_reported_only: bool = False
) -> None:
    """
    Report what one outcome means for a person, and open the circuit that explains it.

    With `is_reported_only` none opens: something else was found for the same record.
    """
    scope, failure_class, code = _classify(missing, asked)
    failure = Failure(
        workspace=asked.view.workspace.name,
        scope=scope,
        reference=asked.reference,
        failure_class=failure_class,
        code=code,
        message=missing.reason,
    )
    cycle.report.add_failure(failure)
    if code == RATE_LIMITED or (isinstance(missing, NotFound) and asked.is_young):
        return
    cause = Cause(failure_class=failure_class, code=code, message=missing.reason)
    key, subject = record_key(asked.view, asked.record), asked.subject
    if scope == "organisation":
        key, subject = organisation_key(asked.view, asked.owner), 0
    elif scope in {"token", "installation"}:
        key, subject = workspace_key(asked.view.workspace), 0
    elif is_reported_only:
        return
    cycle.circuits.trip(key, cause, failures=[failure], subject=subject)


def _classify(missing: Missing, asked: Asked) -> tuple[str, FailureClass, str]:
    """Return the scope, the class and the code of what one outcome says."""
    match missing:
        case NotFound():
            young = asked.is_young
            return (
                asked.scope,
                FailureClass.TRANSIENT if young else FailureClass.CONFIG,
                "not_found",
            )
        case Forbidden(scope="record", code=code):
            return asked.scope, FailureClass.CONFIG, code
        case Forbidden(scope="repository", code=code):
            return "repository", FailureClass.CONFIG, code
        case Forbidden(scope=scope, code=code):
            return scope, FailureClass.AUTH, code
        case Unreadable(code=code) | Retry(code=code):
            return asked.scope, FailureClass.TRANSIENT, code


def _digest(view: WorkspaceView, watch: Watch, name: str) -> int:
    """Digest what an edit of the task changes, or somebody's sign that it matters."""
    task = view.tasks.get(watch.task_id)
    return hash((task, name, watch.head_repository, watch.last_sign_at))
