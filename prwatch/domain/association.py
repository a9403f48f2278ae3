"""Decide which of a branch's pull requests are ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.reference import (
    BranchAnswer,
    BranchPullRequest,
    RepositoryFacts,
)
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPullRequest:
    """A pull request that belongs to a searching watch, and its base repository."""

    repository: RepositoryFacts
    pull_request: BranchPullRequest


def choose_pull_requests(
    watch: Watch,
    answers: Sequence[BranchAnswer | None],
    *,
    head_repository_id: str = "",
    task_pull_requests: Iterable[TaskPullRequest] = (),
) -> tuple[FoundPullRequest, ...]:
    """
    Choose the pull requests that a searching watch was looking for.

    `answers` are those of all places that were asked for the branch, the watch's own
    repository first; None stands for a place that gave no answer.
    `head_repository_id` is the node id of the repository that holds the branch; while
    it is '' it is taken from the answers. `task_pull_requests` are those of the
    watch's task.

    A pull request is ours only if its head repository is the head's. All open ones
    are chosen; without any, the one closed first after `searching_since`, provided
    that every place answered completely: what closed later is found when the row
    searches again. Detached numbers, and ends that are known already, are passed
    over. An incomplete answer concludes nothing. The repository's own default branch
    has no pull requests.
    """
    head_id = head_repository_id or _find_head_id(watch, answers)
    if not head_id or _is_default_branch(watch, head_id, answers):
        return ()
    settled = _list_settled(task_pull_requests)
    complete = [answer for answer in answers if answer and answer.is_complete]
    ours = [
        FoundPullRequest(repository=answer.repository, pull_request=pull_request)
        for answer in complete
        for pull_request in answer.pull_requests
        if pull_request.head_repository_id == head_id
        and (pull_request.node_id, None) not in settled
        and (pull_request.node_id, pull_request.state) not in settled
    ]
    chosen = [
        found for found in ours if found.pull_request.state is PullRequestState.OPEN
    ]
    if not chosen and len(complete) == len(answers):
        chosen = _choose_closed(watch, ours)
    return tuple(sorted(chosen, key=_order))


def _find_head_id(watch: Watch, answers: Sequence[BranchAnswer | None]) -> str:
    if not watch.head_repository:
        own = answers[0] if answers else None
        return own.repository.repository.node_id if own else ""
    given = [answer.repository for answer in answers if answer is not None]
    named = [
        facts.repository.node_id
        for facts in given
        if facts.repository.name_with_owner.lower() == watch.head_repository.lower()
    ]
    # A fork that was renamed answers under its new name.
    forks = {
        facts.repository.node_id
        for facts in given[1:]
        if facts.parent is not None
        and facts.parent.node_id == given[0].repository.node_id
    }
    return next(iter(named or forks), "") if len(named or forks) == 1 else ""


def _is_default_branch(
    watch: Watch, head_id: str, answers: Sequence[BranchAnswer | None]
) -> bool:
    """A branch that somebody named together with its fork may be the fork's default."""
    return not watch.head_repository and any(
        answer is not None
        and answer.repository.repository.node_id == head_id
        and answer.repository.default_branch == watch.branch
        for answer in answers
    )


def _list_settled(
    rows: Iterable[TaskPullRequest],
) -> set[tuple[str, PullRequestState | None]]:
    """
    List the node ids that are not ours again, with the state that is known.

    None stands for every state: a person detached that pull request.
    """
    settled: set[tuple[str, PullRequestState | None]] = set()
    for row in rows:
        if row.detached_at is not None:
            settled.add((row.observation.node_id, None))
        elif row.observation.is_final and not row.is_past:
            settled.add((row.observation.node_id, row.observation.state))
    return settled


def _choose_closed(
    watch: Watch, ours: Iterable[FoundPullRequest]
) -> list[FoundPullRequest]:
    since = watch.searching_since or watch.created_at
    closed = [
        (found.pull_request.closed_at, found.pull_request.number, found)
        for found in ours
        if found.pull_request.closed_at and found.pull_request.closed_at > since
    ]
    return [found for _, _, found in sorted(closed, key=itemgetter(0, 1))[:1]]


def _order(found: FoundPullRequest) -> tuple[str, int]:
    return (
        found.repository.repository.name_with_owner.lower(),
        found.pull_request.number,
    )
