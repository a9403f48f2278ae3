"""The life of a pull request: opened, pushed to, queued, merged, closed, reopened."""

import datetime as dt

from prwatch.simulator.entities import (
    AutoMergeRequest,
    MergeQueueEntry,
    PullRequest,
    Repository,
)
from prwatch.simulator.repository_verbs import RepositoryVerbs
from prwatch.simulator.state import WorldState

MERGEABLE_DELAY = dt.timedelta(seconds=1)
"""How long mergeability is UNKNOWN after a push."""


class PullRequestVerbs(RepositoryVerbs):
    """The moves that change what a pull request is."""

    def open_pull_request(  # noqa: PLR0913 -- its traits are named where it opens
        self,
        repository: Repository | str,
        *,
        branch: str,
        title: str = "",
        author: str = "octocat",
        base: str = "main",
        head_repository: Repository | str | None = None,
        number: int | None = None,
        is_draft: bool = False,
    ) -> PullRequest:
        """Open one, with a commit on its branch. A fork's branch needs the fork."""
        found = self.get_repository(repository)
        head = self.get_repository(head_repository or found)
        number = number or found.last_number + 1
        now = self.now()
        pull_request = PullRequest(
            self.next_id(),
            found,
            number,
            title or branch,
            branch,
            base,
            head.branches.get(branch) or self.build_commit(),
            self.find_account(author) or self.put_account(author),
            head,
            created_at=now,
            updated_at=now,
            is_draft=is_draft,
        )
        head.branches[branch] = pull_request.head
        if base not in found.branches:
            found.branches[base] = self.build_commit()
        self._list(pull_request)
        return pull_request

    def open_many(
        self,
        repository: Repository | str,
        count: int,
        *,
        prefix: str = "change-",
        author: str = "octocat",
    ) -> list[PullRequest]:
        """Open that many at once, on branches `prefix` + number."""
        found = self.get_repository(repository)
        return [
            self.open_pull_request(
                found, branch=f"{prefix}{found.last_number + 1}", author=author
            )
            for _ in range(count)
        ]

    def push(self, pull_request: PullRequest, *, oid: str = "") -> str:
        """Put a new commit on its branch. The rollup of checks is null again."""
        commit = self.build_commit(oid)
        head = pull_request.head_repository
        if head is not None:
            head.branches[pull_request.head_ref_name] = commit
        pull_request.previous_head = pull_request.head
        pull_request.head = commit
        pull_request.merge_queue_entry = None
        pull_request.mergeable_known_at = self.now() + MERGEABLE_DELAY
        self.touch(pull_request)
        return commit.oid

    def retitle(self, pull_request: PullRequest, title: str) -> None:
        """Edit the title."""
        pull_request.title = title
        self.touch(pull_request)

    def mark_draft(self, pull_request: PullRequest) -> None:
        """Turn it into a draft."""
        pull_request.is_draft = True
        self.touch(pull_request)

    def mark_ready(self, pull_request: PullRequest) -> None:
        """Mark it as ready for review."""
        pull_request.is_draft = False
        self.touch(pull_request)

    def merge(self, pull_request: PullRequest, *, by: str = "octocat") -> None:
        """Merge it. Raises `ValueError` when it is not open."""
        if pull_request.state != "OPEN":
            raise ValueError(f"pull request {pull_request.number} is not open")
        self._close(pull_request)
        pull_request.state = "MERGED"
        pull_request.merged_at = pull_request.closed_at
        pull_request.merged_by = self.find_account(by) or self.put_account(by)
        base = pull_request.repository
        base.branches[pull_request.base_ref_name] = self.build_commit()

    def close(self, pull_request: PullRequest) -> None:
        """Close it without a merge."""
        self._close(pull_request)

    def reopen(self, pull_request: PullRequest) -> None:
        """Open a closed one again. Raises `ValueError` when it was merged."""
        if pull_request.state == "MERGED":
            raise ValueError(f"pull request {pull_request.number} is merged")
        pull_request.state = "OPEN"
        pull_request.closed_at = None
        self.touch(pull_request)

    def _list(self, pull_request: PullRequest) -> None:
        found, branch = pull_request.repository, pull_request.head_ref_name
        found.pull_requests[pull_request.number] = pull_request
        found.by_branch[branch] = (*found.by_branch.get(branch, ()), pull_request)
        found.last_number = max(found.last_number, pull_request.number)
        found.version += 1
        self.pull_requests[pull_request.database_id] = pull_request


class MergeVerbs(WorldState):
    """The moves on the way to a merge: conflicts, queue, auto-merge."""

    def set_mergeable(self, pull_request: PullRequest, mergeable: str) -> None:
        """Set MERGEABLE, CONFLICTING or UNKNOWN. The update time does not move."""
        pull_request.mergeable = mergeable
        pull_request.mergeable_known_at = None

    def enqueue(self, pull_request: PullRequest, *, position: int = 1) -> None:
        """Put it into the merge queue."""
        pull_request.merge_queue_entry = MergeQueueEntry(
            self.next_id(), self.now(), position
        )
        self.touch(pull_request)

    def dequeue(self, pull_request: PullRequest) -> None:
        """Take it out of the merge queue."""
        pull_request.merge_queue_entry = None
        self.touch(pull_request)

    def arm_auto_merge(
        self, pull_request: PullRequest, *, by: str = "octocat", method: str = "MERGE"
    ) -> None:
        """Let GitHub merge it once everything is green."""
        account = self.find_account(by) or self.put_account(by)
        pull_request.auto_merge_request = AutoMergeRequest(self.now(), account, method)
        self.touch(pull_request)

    def disarm_auto_merge(self, pull_request: PullRequest) -> None:
        """Take the promise back."""
        pull_request.auto_merge_request = None
        self.touch(pull_request)
