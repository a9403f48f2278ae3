"""What one cycle did: counted while it runs, printed when it ends."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from prwatch.domain.outcome import FailureClass
from prwatch.domain.reference import PullRequestReference, Usage
from prwatch.github.wording import find_hint

SKIP_REASONS = ("circuit", "limit", "not_due", "resting", "archived")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """
    One thing that could not be read, with the narrowest scope that explains it.

    `scope` is `host`, `token`, `organisation`, `repository` or `record`;
    `reference` is what was asked (`octo/hello#12`, `octo/hello@main`) or ''. That of
    a review watch or of cleaning up is `review`.
    """

    workspace: str
    scope: str
    reference: str
    failure_class: FailureClass
    code: str
    message: str
    is_whole: bool = False
    """Whether it ended all of a workspace's searching for reviews, of its cleaning up,
    or of following its watch files, in that cycle."""
    advice: str = ""
    """What a person can do, where the message alone does not say it."""

    @property
    def is_whole_workspace(self) -> bool:
        """Return whether nothing of that workspace could be polled."""
        return self.scope in {"host", "token", "installation"}

    @property
    def remedy(self) -> str:
        """Return what a person can do about a refusal, '' where that is not known."""
        return self.advice or find_hint(self.message)

    @property
    def text(self) -> str:
        """Return the reason with what to do about it."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message

    def as_json(self) -> dict[str, str]:
        """Return the members of the printed object."""
        return {
            "workspace": self.workspace,
            "scope": self.scope,
            "reference": self.reference,
            "class": self.failure_class.value,
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
        }


class References:
    """
    What a cycle has asked for, each counted once.

    When it has ended the number alone is kept: its report stays until the next one.
    """

    def __init__(self) -> None:
        self._asked: set[object] = set()
        self._number = 0

    def add(self, *references: object) -> None:
        """Count a repository, a branch or a list."""
        self._asked.update(references)

    def add_pull_requests(self, references: Iterable[PullRequestReference]) -> None:
        """Count pull requests; the node id stands for one where it is known."""
        self._asked.update([one.node_id or one for one in references])

    def absorb(self, part: "References") -> None:
        """Take over what another one has counted."""
        taken = part.give_up()
        if len(taken) > len(self._asked):
            taken, self._asked = self._asked, taken
        self._asked |= taken

    def close(self) -> None:
        """Forget all but the number."""
        self._number += len(self.give_up())

    def give_up(self) -> set[object]:
        """Return what is counted, and count it no longer."""
        asked, self._asked = self._asked, set()
        return asked

    def __len__(self) -> int:
        return self._number + len(self._asked)


@dataclass(slots=True, kw_only=True)
class CycleReport:
    """The running account of one cycle over all workspaces."""

    cycle_id: str
    started_at: dt.datetime
    duration_ms: int = 0
    references: References = field(default_factory=References)
    usage: Usage = field(default_factory=Usage)
    rows_written: int = 0
    events_by_type: Counter[str] = field(default_factory=Counter)
    changes_by_field: Counter[str] = field(default_factory=Counter)
    """Changes that were found and committed."""
    delivered: int = 0
    watches_searching: int = 0
    watches_discovered: int = 0
    lookups: int = 0
    """Batched branch lookups that were sent."""
    details: int = 0
    """Pull requests that were read in full."""
    observed: int = 0
    """Readings that were observed, one for each watch."""
    rejected_commits: int = 0
    """Observations dropped because somebody committed first."""
    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    _known: set[Failure] = field(default_factory=set, repr=False)
    """The failures again: each of thousands is looked for among all others."""

    def add_usage(self, usage: Usage) -> None:
        """Add what one credential has used in this cycle."""
        self.usage = Usage(
            graphql=self.usage.graphql + usage.graphql,
            rest=self.usage.rest + usage.rest,
            not_modified=self.usage.not_modified + usage.not_modified,
            points=self.usage.points + usage.points,
            body_bytes=self.usage.body_bytes + usage.body_bytes,
            equal_bytes=self.usage.equal_bytes + usage.equal_bytes,
        )

    def absorb(self, part: "CycleReport") -> None:
        """Add what was counted for one account."""
        self.references.absorb(part.references)
        self.add_usage(part.usage)
        self.events_by_type += part.events_by_type
        self.changes_by_field += part.changes_by_field
        self.lookups += part.lookups
        self.details += part.details
        self.rejected_commits += part.rejected_commits
        self.skipped += part.skipped
        for failure in part.failures:
            self.add_failure(failure)

    def add_failure(self, failure: Failure) -> None:
        """Add a failure once, however many places met it."""
        if failure not in self._known:
            self._known.add(failure)
            self.failures.append(failure)

    @property
    def failed_workspaces(self) -> frozenset[str]:
        """Return the workspaces of which nothing could be polled."""
        return frozenset(f.workspace for f in self.failures if f.is_whole_workspace)

    @property
    def unserved_workspaces(self) -> frozenset[str]:
        """Return those, and the ones whose reviews or watch files could not be read."""
        unserved = {f.workspace for f in self.failures if f.is_whole}
        return self.failed_workspaces | unserved

    def as_json(self) -> dict[str, object]:
        """Return the object that `prwatch --cycle --json` prints."""
        return {
            "cycle_id": self.cycle_id,
            "duration_ms": self.duration_ms,
            "references": len(self.references),
            "requests": {
                "graphql": self.usage.graphql,
                "rest": self.usage.rest,
                "not_modified": self.usage.not_modified,
            },
            "points": self.usage.points,
            "bytes": self.usage.body_bytes,
            "rows_written": self.rows_written,
            "events": {
                "written": sum(self.events_by_type.values()),
                "delivered": self.delivered,
                "by_type": dict(sorted(self.events_by_type.items())),
            },
            "watches": {
                "searching": self.watches_searching,
                "discovered": self.watches_discovered,
            },
            "failures": [failure.as_json() for failure in self.failures],
            "skipped": {reason: self.skipped[reason] for reason in SKIP_REASONS},
        }


def subtract_usage(after: Usage, before: Usage) -> Usage:
    """Return what was used between two readings of a credential's running totals."""
    return Usage(
        graphql=after.graphql - before.graphql,
        rest=after.rest - before.rest,
        not_modified=after.not_modified - before.not_modified,
        points=after.points - before.points,
        body_bytes=after.body_bytes - before.body_bytes,
        equal_bytes=after.equal_bytes - before.equal_bytes,
    )
