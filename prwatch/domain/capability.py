"""
What was found not to be readable, for how long that counts, and what helps.

Fields have GitHub's names (`PullRequest.statusCheckRollup`), whichever way they were
asked for: what REST refuses is not asked through GraphQL either.
"""

import datetime as dt
import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.timestamp import format_optional_time, format_time

RETEST_AFTER: Final = dt.timedelta(days=1)
"""How long a refusal is believed before it is tried again."""
WIDE_AFTER: Final = 3
"""So many repositories that refuse a field, and none that gives it, are all of them."""

CHECKS: Final = "PullRequest.statusCheckRollup"
REVIEWS: Final = "PullRequest.reviews"
COMMENTS: Final = "PullRequest.comments"
WORKFLOWS: Final = "CheckSuite.workflowRun"
BRANCH_HEADS: Final = "Repository.ref"
GRAPHQL: Final = "Query"
"""The whole interface, which very old servers do not have."""


class RefusalReason(enum.StrEnum):
    """Who does not let us read: the token, the server's age, or an organisation."""

    TOKEN = "token"  # noqa: S105 - a reason and no secret
    SCHEMA = "schema"
    ORGANISATION = "organisation"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedField:
    """
    One field that is not asked for.

    `repository` is the lower-case `owner/name` in which it was refused, '' for all
    of them. `version` is that of the server whose schema lacks the field.
    """

    field: str
    reason: RefusalReason
    learnt_at: dt.datetime
    repository: str = ""
    version: str = ""

    @property
    def test_at(self) -> dt.datetime | None:
        """Return when it is tried again; None while the server stays as it is."""
        if self.reason is RefusalReason.SCHEMA and self.version:
            return None
        return self.learnt_at + RETEST_AFTER

    def is_test_due(self, now: dt.datetime) -> bool:
        """Return whether it is to be tried again, also after the clock was set back."""
        end = self.test_at
        return end is not None and not self.learnt_at <= now < end


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """
    One thing that cannot be read, told to a person.

    `field` is in plain words, `places` the repositories, none for all of them;
    `test_at` is when it is tried again, None while the server stays as it is.
    """

    field: str
    reason: RefusalReason
    places: tuple[str, ...]
    since: dt.datetime
    test_at: dt.datetime | None
    remedy: str

    @property
    def text(self) -> str:
        """Return the sentence about it, without what to do."""
        return f"{self.field} cannot be read {_BLAMED[self.reason]}{self._where}"

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "field": self.field,
            "reason": self.reason.value,
            "repositories": list(self.places),
            "since": format_time(self.since),
            "tested_again_at": format_optional_time(self.test_at),
            "message": self.text,
            "remedy": self.remedy,
        }

    @property
    def _where(self) -> str:
        if not self.places:
            return ""
        named = ", ".join(self.places[:_NAMED])
        more = len(self.places) - _NAMED
        return f" in {named}" + (f" and {more} more" if more > 0 else "")


_NAMED: Final = 3
_BLAMED: Final[Mapping[RefusalReason, str]] = {
    RefusalReason.TOKEN: "with this token",
    RefusalReason.SCHEMA: "from this server, which does not know them",
    RefusalReason.ORGANISATION: "because the organisation refuses it",
}
_WORDS: Final[Mapping[str, str]] = {
    CHECKS: "checks",
    REVIEWS: "reviews",
    COMMENTS: "comments",
    GRAPHQL: "GraphQL answers",
    WORKFLOWS: "workflows of checks",
    "PullRequest.autoMergeRequest": "auto-merge settings",
    "PullRequest.baseRef": "base branches",
    "PullRequest.isInMergeQueue": "merge queues",
    "PullRequest.mergeable": "merge conflicts",
    "PullRequest.mergedBy": "names of who merged",
    "PullRequest.reviewDecision": "review decisions",
    "PullRequest.reviewRequests": "review requests",
    "PullRequest.reviewThreads": "review threads",
    "PullRequest.timelineItems": "times of review requests",
    "PullRequest.totalCommentsCount": "numbers of comments",
    "Query.rateLimit": "rate limits",
    "Query.search": "search results",
    "Query.viewer": "account names",
    "Repository.defaultBranchRef": "default branches",
    "Repository.isArchived": "archive flags",
    "Repository.parent": "parents of forks",
    BRANCH_HEADS: "heads of branches",
}
_PERMISSIONS: Final[Mapping[str, str]] = {
    CHECKS: "`Checks: read` and `Commit statuses: read`",
    COMMENTS: "`Issues: read`",
    WORKFLOWS: "`Actions: read`",
    "PullRequest.baseRef": "`Contents: read`",
    "PullRequest.reviewRequests": "`Members: read` (of a classic one: `read:org`)",
    "Repository.defaultBranchRef": "`Contents: read`",
    BRANCH_HEADS: "`Contents: read`",
}
_SHOWN_AS: Final[Mapping[str, tuple[str, ...]]] = {
    CHECKS: ("checks",),
    REVIEWS: ("review", "approvals"),
    "PullRequest.autoMergeRequest": ("auto_merge",),
    "PullRequest.isInMergeQueue": ("merge_queue",),
    "PullRequest.mergeable": ("mergeable",),
    "PullRequest.mergedBy": ("merged_by",),
    "PullRequest.reviewDecision": ("review_decision",),
    "PullRequest.reviewRequests": ("review", "approvals", "requested_reviewers"),
    "PullRequest.reviewThreads": ("unresolved_threads",),
    "Repository.isArchived": ("is_archived",),
}
_ORGANISATION: Final = (
    "authorise the token for the organisation, or ask one of its owners"
)


def name_field(field: str) -> str:
    """Return the plain words for a field: `checks`, `merge queues`."""
    return _WORDS.get(field, field)


def advise(refused: RefusedField) -> str:
    """Return what a person can do so that the field can be read."""
    if refused.reason is RefusalReason.SCHEMA:
        version = f", version {refused.version}," if refused.version else ""
        return f"nothing is wrong: the server{version} is too old for it"
    if refused.reason is RefusalReason.ORGANISATION:
        return _ORGANISATION
    permission = _PERMISSIONS.get(refused.field, "`Pull requests: read`")
    advice = f"give the token the permission {permission}"
    if refused.field == CHECKS:
        advice += (
            "; where GitHub does not offer that for a fine-grained token,"
            " use a classic one with the scope `repo`, or a GitHub App"
        )
    return advice


def tell(refused: Iterable[RefusedField]) -> tuple[Capability, ...]:
    """Return the refusals for a person, one a field and reason, by their words."""
    groups: dict[tuple[str, RefusalReason], list[RefusedField]] = {}
    for each in refused:
        groups.setdefault((each.field, each.reason), []).append(each)
    told = [_tell_group(same) for same in groups.values()]
    return tuple(sorted(told, key=lambda each: (each.field, each.reason)))


def _tell_group(same: list[RefusedField]) -> Capability:
    is_everywhere = any(not each.repository for each in same)
    first = min(same, key=lambda each: each.learnt_at)
    tests = [each.test_at for each in same if each.test_at is not None]
    return Capability(
        field=name_field(first.field),
        reason=first.reason,
        places=() if is_everywhere else tuple(sorted(each.repository for each in same)),
        since=first.learnt_at,
        test_at=min(tests, default=None),
        remedy=advise(first),
    )


def find_unreadable(
    refused: Iterable[RefusedField], name_with_owner: str
) -> Mapping[str, str]:
    """
    Return why fields of a repository's pull requests cannot be read now.

    They have the names of the events' pull request. What is stored for them is from
    an earlier token, or from before the refusal.
    """
    place = name_with_owner.lower()
    found: dict[str, str] = {}
    for each in refused:
        if each.repository not in ("", place):
            continue
        since = f"{each.learnt_at:%Y-%m-%d}"
        why = f"unreadable {_BLAMED[each.reason]} since {since}: {advise(each)}"
        for name in _SHOWN_AS.get(each.field, ()):
            found.setdefault(name, why)
    return found
