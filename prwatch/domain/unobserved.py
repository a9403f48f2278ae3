"""What was not read of a pull request, and why nobody could or did."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED, PullRequestState

_FIELDS: Final = (
    "checks",
    "review",
    "review_decision",
    "mergeable",
    "merge_queue",
    "auto_merge",
    "unresolved_threads",
    "requested_reviewers",
    "approvals",
    "is_archived",
)
_REASONS: Final[Mapping[str, str]] = {
    "mergeable": "GitHub has not told yet",
    "auto_merge": "REST tells nothing where it is not armed",
}
_DEFAULT: Final = "the way it was read does not tell it: REST, or an old server"


@dataclass(frozen=True, slots=True)
class UnobservedField:
    """A field of the events' pull request that nobody knows, with the reason."""

    field: str
    reason: str

    @property
    def words(self) -> str:
        """Return the field as people read it."""
        return self.field.removeprefix("is_").replace("_", " ")


def list_unobserved(known: Known) -> tuple[UnobservedField, ...]:
    """List what was not read of it, in the order in which it is told."""
    seen = known.observation
    names = [name for name in _FIELDS if getattr(seen, name) is UNOBSERVED]
    is_merged = seen.state is PullRequestState.MERGED
    if is_merged and seen.merged_by is UNOBSERVED:
        names.append("merged_by")
    return tuple(UnobservedField(name, _explain(known, name)) for name in names)


def _explain(known: Known, name: str) -> str:
    if why := known.unreadable.get(name):
        return why
    summary = known.observation.checks_summary
    if name == "checks" and summary is not None and summary.unread:
        return summary.unread
    if known.observation.is_final and name == "mergeable":
        return "it is closed"
    return _REASONS.get(name, _DEFAULT)
