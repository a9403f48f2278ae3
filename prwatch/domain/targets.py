"""Decide which branches ought to be watched, and where that cannot be said now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from prwatch.domain.snapshot import Snapshot
from prwatch.domain.task import Checkout, Repository

UNSETTLED_DEFAULTS: Final = frozenset({"main", "master"})
"""What the default branch may be called while GitHub has not been asked."""


@dataclass(frozen=True, slots=True)
class OnBranch:
    """
    A worktree is on this branch.

    `head_repository` is the `owner/name` that the branch is pushed to, '' when that
    is the repository itself or unknown.
    """

    name: str
    head_repository: str = ""


@dataclass(frozen=True, slots=True)
class UnknownBranch:
    """Nobody can say which branch a worktree means now; `reason` is for people."""

    reason: str


LiveReading: TypeAlias = OnBranch | UnknownBranch
ReadingKey: TypeAlias = tuple[str, str, str]
"""Session id, repository id and worktree path."""
Place: TypeAlias = tuple[str, str]
"""Task id and repository id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    A branch that ought to be watched for a task.

    `session_ids` are all sessions that lead to it, sorted; they are provenance and
    no part of the key.
    """

    task_id: str
    repository_id: str
    branch: str
    head_repository: str = ""
    session_ids: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what makes two targets one: task, repository and branch."""
        return (self.task_id, self.repository_id, self.branch)

    @property
    def place(self) -> Place:
        """Return the task and the repository."""
        return (self.task_id, self.repository_id)

    @property
    def session_id(self) -> str:
        """Return the oldest session that leads here, or '' without sessions."""
        return self.session_ids[0] if self.session_ids else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """
    What one cycle ought to watch; no two targets have one key.

    In a place of `held` no row may be moved or deleted. `unsettled` are the
    repositories in which a branch is held only because their default branch is not
    known yet: they are to be asked for it.
    """

    targets: frozenset[Target] = frozenset()
    held: frozenset[Place] = frozenset()
    unsettled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Lead:
    """A branch that one source names for a place."""

    branch: str
    head_repository: str
    session_id: str = ""
    is_live: bool = False


@dataclass(slots=True)
class _Sources:
    """What is recorded for one place, and the worktrees that could be read."""

    checkouts: list[_Lead] = field(default_factory=list)
    task_repository: list[_Lead] = field(default_factory=list)
    worktrees: dict[ReadingKey, str] = field(default_factory=dict)
    """By reading the name that an entry wrote for the repository, or ''."""


@dataclass(slots=True)
class _Verdict:
    """What the sources of one place come to."""

    leads: list[_Lead] = field(default_factory=list)
    is_held: bool = False
    is_unsettled: bool = False


def list_readings(snapshot: Snapshot) -> tuple[ReadingKey, ...]:
    """
    List the worktrees that must be read live before the targets can be resolved.

    A place whose branch is recorded needs no reading. The list is sorted.
    """
    repositories = {repository.id: repository for repository in snapshot.repositories}
    keys: set[ReadingKey] = set()
    for place, sources in _collect_sources(snapshot).items():
        if not _judge_recorded(sources, repositories.get(place[1])).leads:
            keys.update(sources.worktrees)
    return tuple(sorted(keys))


def resolve_targets(
    snapshot: Snapshot, readings: Mapping[ReadingKey, LiveReading]
) -> Targets:
    """
    Resolve what each active task ought to watch in each of its repositories.

    The first source that gives a branch wins: the branches recorded on the sessions'
    checkouts (ended sessions count), the branch of the task repository, the sessions'
    worktrees of the same repository as `readings` has them. A worktree without a
    reading is unknown. A default branch gives no target and holds, unless somebody
    recorded it together with the fork that it lives in.
    """
    repositories = {repository.id: repository for repository in snapshot.repositories}
    targets: set[Target] = set()
    held: set[Place] = set()
    unsettled: set[str] = set()
    for place, sources in _collect_sources(snapshot).items():
        repository = repositories.get(place[1])
        verdict = _judge_recorded(sources, repository)
        if not verdict.leads:
            _judge_worktrees(verdict, sources, readings, repository)
        targets.update(_collapse(place, verdict.leads))
        if verdict.is_held:
            held.add(place)
        if verdict.is_unsettled:
            unsettled.add(place[1])
    return Targets(
        targets=frozenset(targets),
        held=frozenset(held),
        unsettled=frozenset(unsettled),
    )


def _collect_sources(snapshot: Snapshot) -> dict[Place, _Sources]:
    active = {task.id for task in snapshot.tasks if task.archived_at is None}
    places: defaultdict[Place, _Sources] = defaultdict(_Sources)
    for row in snapshot.task_repositories:
        if row.task_id in active and row.branch:
            lead = _Lead(row.branch, row.head_repository)
            places[row.task_id, row.repository_id].task_repository.append(lead)
    tasks = {
        session.id: session.task_id
        for session in snapshot.sessions
        if session.task_id in active
    }
    for checkout in snapshot.checkouts:
        if checkout.session_id in tasks:
            place = (tasks[checkout.session_id], checkout.repository_id)
            _add_checkout(places[place], checkout)
    return places


def _add_checkout(sources: _Sources, checkout: Checkout) -> None:
    if checkout.branch:
        sources.checkouts.append(
            _Lead(checkout.branch, checkout.head_repository, checkout.session_id)
        )
    if checkout.worktree_path:
        key = (checkout.session_id, checkout.repository_id, checkout.worktree_path)
        sources.worktrees[key] = checkout.written_as


def _judge_recorded(sources: _Sources, repository: Repository | None) -> _Verdict:
    verdict = _Verdict()
    for leads in (sources.checkouts, sources.task_repository):
        if not verdict.leads:
            _judge(verdict, leads, repository)
    return verdict


def _judge_worktrees(
    verdict: _Verdict,
    sources: _Sources,
    readings: Mapping[ReadingKey, LiveReading],
    repository: Repository | None,
) -> None:
    leads = []
    for key, written_as in sources.worktrees.items():
        reading = readings.get(key)
        if isinstance(reading, OnBranch):
            # Remotes keep the former name of a renamed repository: it is no fork.
            head = reading.head_repository
            head = "" if head.lower() == written_as.lower() else head
            leads.append(_Lead(reading.name, head, key[0], True))
        else:
            verdict.is_held = True
    _judge(verdict, leads, repository)


def _judge(
    verdict: _Verdict, leads: Iterable[_Lead], repository: Repository | None
) -> None:
    default_branch = repository.default_branch if repository else ""
    defaults = {default_branch} if default_branch else UNSETTLED_DEFAULTS
    for lead in leads:
        head = _normalize_head(lead.head_repository, repository)
        if lead.branch in defaults and (lead.is_live or not head):
            verdict.is_held = True
            verdict.is_unsettled = verdict.is_unsettled or not default_branch
        else:
            verdict.leads.append(replace(lead, head_repository=head))


def _normalize_head(head_repository: str, repository: Repository | None) -> str:
    """Return '' for a head that is the repository itself. GitHub ignores case."""
    own = repository.name_with_owner if repository else ""
    return "" if head_repository.lower() == own.lower() else head_repository


def _collapse(place: Place, leads: Iterable[_Lead]) -> list[Target]:
    """Make one target of each branch, whatever the number and order of sessions."""
    by_branch: defaultdict[str, list[_Lead]] = defaultdict(list)
    for lead in leads:
        by_branch[lead.branch].append(lead)
    return [
        Target(
            task_id=place[0],
            repository_id=place[1],
            branch=branch,
            head_repository=min(
                (lead.head_repository for lead in same if lead.head_repository),
                default="",
            ),
            session_ids=tuple(
                sorted({lead.session_id for lead in same if lead.session_id})
            ),
        )
        for branch, same in by_branch.items()
    ]
