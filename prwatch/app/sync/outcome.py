"""What looking at a folder of watch files came to."""

import datetime as dt
import enum
from dataclasses import dataclass

from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.domain.timestamp import format_optional_time
from prwatch.errors import (
    AuthenticationFailed,
    ConfigError,
    PermissionDenied,
    ProtocolViolation,
    ProviderError,
    RateLimited,
    ResourceGone,
)
from prwatch.github.wording import find_scope


class SyncResult(enum.StrEnum):
    """What became of a folder's turn."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    """A file was added, edited or removed."""
    SKIPPED = "skipped"
    """Its circuit is open, a limit holds, or the workspace has no token."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOutcome:
    """
    One turn of one folder.

    `place` is how people know the folder. `reason` says why it was skipped: `circuit`,
    `limit` or `no_token`; `until` is when that ends. `failure_class`, `code`,
    `message` and `remedy` are of what keeps it from being read.
    """

    workspace: str
    place: str
    result: SyncResult
    reason: str = ""
    until: dt.datetime | None = None
    failure_class: FailureClass | None = None
    code: str = ""
    message: str = ""
    remedy: str = ""
    steps: int = 0
    """Steps of the plan that was applied."""
    warnings: tuple[str, ...] = ()

    @property
    def failure(self) -> Failure | None:
        """Return what a cycle reports of it, None where nothing failed."""
        if self.failure_class is None:
            return None
        return Failure(
            workspace=self.workspace,
            scope=find_scope(self.message) or "record",
            reference=self.place,
            failure_class=self.failure_class,
            code=self.code,
            message=self.message,
            advice=self.remedy,
        )

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints and the daemon answers."""
        return {
            "workspace": self.workspace,
            "folder": self.place,
            "result": self.result.value,
            "reason": self.reason or None,
            "until": format_optional_time(self.until),
            "class": self.failure_class,
            "code": self.code or None,
            "message": self.message or None,
            "remedy": self.remedy or None,
            "steps": self.steps,
            "warnings": list(self.warnings),
        }


def classify_sync_error(error: ProviderError | ConfigError) -> FailureClass:
    """
    Return what helps: time, a person's new right, or an edit of the configuration.

    A folder that is gone is a matter of the entry that names it, as is one that this
    token may not read.
    """
    match error:
        case RateLimited():
            return FailureClass.LIMIT
        case AuthenticationFailed() | ConfigError():
            return FailureClass.AUTH
        case PermissionDenied() | ResourceGone() | ProtocolViolation(status=0):
            return FailureClass.CONFIG
        case _:
            return FailureClass.TRANSIENT
