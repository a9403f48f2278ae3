"""
When a review task goes by itself: what keeps it, what proves that its work is done.

A task goes only when each row that speaks of it was read twice, apart in time, with
one and the same proof, and its most cautious policy allows it. What could not be read
proves nothing, and takes nothing back.
"""

import datetime as dt
import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from prwatch.domain.review_hit import ReviewFacts, find_end
from prwatch.domain.review_watch import (
    RESERVED_FOR,
    CleanupPolicy,
    ReviewScope,
    ReviewTask,
    ReviewWatch,
)
from prwatch.domain.task import Origin, Task

CYCLE: Final = dt.timedelta(minutes=5)
"""The time between two sweeps."""


class Keep(enum.StrEnum):
    """Why a review task stays without anybody being asked."""

    UNREADABLE = "unreadable"
    """A row of it, or of its watch, cannot be understood."""
    RESERVED = "reserved"
    """There is no task yet."""
    NEVER = "policy_never"
    NOT_OURS = "not_a_review_task"
    """Somebody else's task has that name, or a person took it back."""
    PERSON_WROTE = "person_wrote"
    WAITS = "waits"
    ARCHIVED = "archived"
    """A person put it away; only `always` removes it for good."""


class Stand(enum.StrEnum):
    """What one reading says of one row."""

    OPEN = "open"
    REOPENED = "reopened"
    """Its work was seen done before, and is not now: that is taken back."""
    SEEN = "seen_done"
    """Done, with this proof for the first time."""
    WAITS = "grace"
    """Done as before, and too soon after it."""
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptRow:
    """A row with its watch, None once that is removed."""

    row: ReviewTask
    watch: ReviewWatch | None = None

    @property
    def policy(self) -> CleanupPolicy:
        """Return the watch's present policy, or the one that the row was left with."""
        return self.watch.settings.policy if self.watch else self.row.policy

    @property
    def revision(self) -> int:
        """Return which settings of its watch it is swept under; 0 without a watch."""
        return self.watch.revision if self.watch else 0

    @property
    def login(self) -> str:
        """Return whose approval counts; '' is the token's own account."""
        watch = self.watch
        return watch.settings.target_login if watch else self.row.target_login

    @property
    def scope(self) -> ReviewScope:
        """Return whose requests count, of the watch or as the row was left."""
        return self.watch.settings.scope if self.watch else self.row.scope

    def as_left(self) -> ReviewTask:
        """Return the row as it would be swept without its watch."""
        return replace(
            self.row, policy=self.policy, target_login=self.login, scope=self.scope
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptTask:
    """
    A review task with each row that speaks of it, by id; `task` is None once gone.

    `is_readable` is False when a row of it or of a watch could not be understood:
    that one may be what keeps it.
    """

    workspace_id: str
    task_id: str
    task: Task | None
    rows: tuple[SweptRow, ...]
    is_readable: bool = True

    @property
    def policy(self) -> CleanupPolicy:
        """Return the most cautious policy of its rows; without a row `never`."""
        policies = [each.policy for each in self.rows]
        return max(policies, key=_read_caution, default=CleanupPolicy.NEVER)

    @property
    def logins(self) -> tuple[str, ...]:
        """Return whose approvals count, each once."""
        return tuple(sorted({each.login for each in self.rows}))

    def counts_teams(self, login: str) -> bool:
        """Return whether a row of that login counts requests to teams too."""
        return any(
            each.login == login and each.scope is ReviewScope.USER_AND_TEAMS
            for each in self.rows
        )


Noted: TypeAlias = tuple[str, dt.datetime | None, Mapping[str, object]]
"""A row's id, since when its work is seen done, None for not, and the proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """
    What readings of all rows of a task come to.

    `rows` are those of which something is to be noted, with None to take it back.
    `done` maps each row's id to its proof, once all are done; `until` is when the
    time of grace is over, None when it does not run.
    """

    stand: Stand
    rows: tuple[Noted, ...] = ()
    done: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    until: dt.datetime | None = None


def is_gone(swept: SweptTask) -> bool:
    """Return whether its rows alone are left, and may go: they keep nothing."""
    return swept.task is None and find_keep(swept) is None


def is_let_go(swept: SweptTask) -> bool:
    """Return whether it is somebody's own task, and no watch knows it any more."""
    is_left = all(each.watch is None for each in swept.rows)
    return is_left and find_keep(swept) is Keep.NOT_OURS


def find_forgotten(swept: SweptTask, now: dt.datetime) -> ReviewTask | None:
    """Return a reservation that nobody may finish any more, or None."""
    if find_keep(swept) is not Keep.RESERVED:
        return None
    row = swept.rows[0].row
    # As far in the future it is of a clock that was set back.
    return row if abs(now - row.reserved_at) >= RESERVED_FOR else None


def find_keep(swept: SweptTask) -> Keep | None:
    """Return what keeps a task whatever GitHub says, or None."""
    if not swept.is_readable or not swept.rows:
        return Keep.UNREADABLE
    if not swept.task_id:
        return Keep.RESERVED
    task = swept.task
    if task is None:
        return None
    if swept.policy is CleanupPolicy.NEVER:
        return Keep.NEVER
    if task.origin is not Origin.REVIEW:
        return Keep.NOT_OURS
    return None if swept.policy is CleanupPolicy.ALWAYS else _find_attention(task)


def judge(
    swept: SweptTask,
    readings: Mapping[str, ReviewFacts],
    *,
    asked_at: dt.datetime,
    read_at: dt.datetime,
    grace: dt.timedelta,
) -> Judgement:
    """
    Judge a task by a reading of each of its rows, by row id.

    The time of grace runs from when one reading was answered to when the next is
    asked for, however long a sweep takes, and whoever else sweeps beside it.
    """
    seen_at = max(asked_at, read_at)  # the clock may be set back in between
    stands: list[Stand] = []
    noted: list[Noted] = []
    done: dict[str, Mapping[str, object]] = {}
    ends: list[dt.datetime] = []
    for each in swept.rows:
        proof = find_end(readings[each.row.id])
        stand = _judge_row(each.row, proof, now=asked_at, grace=grace)
        stands.append(stand)
        if stand is Stand.REOPENED:
            noted.append((each.row.id, None, {}))
        elif stand is Stand.SEEN:
            noted.append((each.row.id, seen_at, proof))
            ends.append(seen_at + grace)
        elif stand is Stand.WAITS:
            ends.append((each.row.terminal_seen_at or seen_at) + grace)
        if proof:
            done[each.row.id] = proof
    least = min(stands, key=list(Stand).index)
    is_waiting = least in {Stand.SEEN, Stand.WAITS}
    return Judgement(
        stand=least,
        rows=tuple(noted),
        done=done if least is Stand.DONE else {},
        until=max(ends) if is_waiting else None,
    )


def wait_longer(judgement: Judgement, until: dt.datetime) -> Judgement:
    """Return a judgement that a task is done as one that it is so for too short."""
    return replace(judgement, stand=Stand.WAITS, done={}, until=until)


def is_as_decided(before: SweptTask, now: SweptTask | None) -> bool:
    """Return whether all stands that was decided on; polling's own does not count."""
    return now is not None and _list_facts(before) == _list_facts(now)


def is_approved(facts: ReviewFacts) -> bool:
    """Return whether an approval is what would end it: it may be asked for again."""
    return "review" in find_end(facts)


def is_about(row: ReviewTask, facts: ReviewFacts) -> bool:
    """
    Return whether a reading is of the row's pull request, and not of another.

    GitHub has changed the form of its ids before, so a repository and a number will
    do. Names are nothing to go by: repositories are renamed, and names given again.
    """
    known, read = row.pull_request, facts.pull_request
    is_same_place = bool(known.repository_node_id) and (
        known.repository_node_id == read.repository_node_id
    )
    return known.number == read.number and (
        is_same_place or known.node_id == read.node_id
    )


def without_opinion(facts: ReviewFacts) -> ReviewFacts:
    """Return the facts as they stand to nobody: an approval is nobody's."""
    return replace(facts, opinion=None, submitted_at=None)


def name_reason(proofs: Iterable[Mapping[str, object]]) -> str:
    """Return why a task went: `pr_merged_or_closed`, else `pr_approved_by_user`."""
    if all("state" in proof for proof in proofs):
        return "pr_merged_or_closed"
    return "pr_approved_by_user"


def _judge_row(
    row: ReviewTask,
    proof: Mapping[str, object],
    *,
    now: dt.datetime,
    grace: dt.timedelta,
) -> Stand:
    seen_at = row.terminal_seen_at
    if not proof:
        return Stand.OPEN if seen_at is None else Stand.REOPENED
    if seen_at is None or seen_at > now or dict(row.terminal_evidence) != dict(proof):
        return Stand.SEEN
    # One reading never counts twice, however short the time of grace is.
    return Stand.DONE if now - seen_at >= grace and now > seen_at else Stand.WAITS


def _list_facts(swept: SweptTask) -> tuple[object, ...]:
    rows = [(each.row, each.policy, each.revision) for each in swept.rows]
    return (swept.is_readable, swept.task, rows)


def _find_attention(task: Task) -> Keep | None:
    if task.person_wrote_at is not None:
        return Keep.PERSON_WROTE
    if task.waits_for:
        return Keep.WAITS
    return Keep.ARCHIVED if task.archived_at is not None else None


def _read_caution(policy: CleanupPolicy) -> int:
    return policy.caution
