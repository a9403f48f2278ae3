"""Which watch was to be searched, and what a failure of that means for people."""

from dataclasses import dataclass
from typing import Final

from prwatch.app.review.logins import Unfit
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_watch import ReviewWatch
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProviderError,
    RateLimited,
)

SCOPE: Final = "review"
_GENERAL: Final = frozenset(
    {FailureClass.AUTH, FailureClass.TRANSIENT, FailureClass.LIMIT}
)


@dataclass(frozen=True, slots=True)
class Due:
    """A watch that is to be searched now."""

    workspace: Workspace
    watch: ReviewWatch

    @property
    def key(self) -> tuple[str, str]:
        """Return the names of its workspace and of itself."""
        return self.workspace.name, self.watch.name


def build_failure(each: Due, error: ProviderError) -> Failure:
    """Return how the failure of a watch is told."""
    return Failure(
        workspace=each.workspace.name,
        scope=SCOPE,
        reference=each.watch.name,
        failure_class=classify(error),
        code=error.code,
        message=str(error),
    )


def is_general(error: ProviderError) -> bool:
    """Return whether an error is no matter of what is searched, or of one place."""
    return error.scope != "organisation" and classify(error) in _GENERAL


def classify(error: ProviderError) -> FailureClass:
    """Return what helps against an error: a person, an edit, or time."""
    match error:
        case RateLimited():
            return FailureClass.LIMIT
        case AuthenticationFailed():
            return FailureClass.AUTH
        case PermissionDenied() | Unfit():
            return FailureClass.CONFIG
        case _:
            return FailureClass.TRANSIENT
