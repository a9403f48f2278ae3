"""How an association and its last reading lie in a row of `task_pull_requests`."""

from prwatch.domain.merge_progress import NO_PROGRESS, MergeProgress
from prwatch.domain.pull_request import (
    ChecksState,
    Mergeable,
    Observation,
    PullRequestState,
    RepositoryName,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.task import TaskPullRequest
from prwatch.store.checks_summary_column import (
    from_checks_summary,
    to_checks_summary,
)
from prwatch.store.columns import (
    from_comment_mark,
    from_json,
    from_microseconds,
    from_observed_count,
    from_observed_flag,
    from_observed_optional_word,
    from_observed_text,
    from_observed_word,
    from_optional_microseconds,
    to_comment_mark,
    to_json,
    to_microseconds,
    to_observed,
    to_observed_text,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Value


def to_task_pull_request(row: Row) -> TaskPullRequest:
    """Return the association of a row that is joined with its repository."""
    return TaskPullRequest(
        task_id=row["task_id"],
        repository_id=row["repository_id"],
        pr_number=row["pr_number"],
        observation=_to_observation(row),
        observed_at=from_microseconds(row["observed_at"]),
        detached_at=from_optional_microseconds(row["detached_at"]),
        is_past=bool(row["is_past"]),
        progress=_to_progress(row),
    )


def from_task_pull_request(row: TaskPullRequest) -> dict[str, Value]:
    """Return the columns of an association."""
    return {
        "task_id": row.task_id,
        "repository_id": row.repository_id,
        "pr_number": row.pr_number,
        "observed_at": to_microseconds(row.observed_at),
        "detached_at": to_optional_microseconds(row.detached_at),
        "is_past": row.is_past,
        "ready_since": to_optional_microseconds(row.progress.ready_since),
        "queue_left_at": to_optional_microseconds(row.progress.queue_left_at),
        **_from_observation(row.observation),
    }


def _to_progress(row: Row) -> MergeProgress:
    if row["ready_since"] is None and row["queue_left_at"] is None:
        return NO_PROGRESS
    return MergeProgress(
        ready_since=from_optional_microseconds(row["ready_since"]),
        queue_left_at=from_optional_microseconds(row["queue_left_at"]),
    )


def _to_observation(row: Row) -> Observation:
    return Observation(
        repository=RepositoryName(row["owner"], row["name"], row["repository_node_id"]),
        number=row["pr_number"],
        node_id=row["node_id"],
        observed_at=from_microseconds(row["observed_at"]),
        checks_notes=tuple(from_json(row["checks_notes"])),
        checks_summary=from_checks_summary(row["checks_summary"]),
        state=PullRequestState(row["state"]),
        updated_at=from_microseconds(row["updated_at"]),
        created_at=from_microseconds(row["created_at"]),
        closed_at=from_optional_microseconds(row["closed_at"]),
        merged_at=from_optional_microseconds(row["merged_at"]),
        title=row["title"],
        url=row["url"],
        head_ref_oid=row["head_ref_oid"],
        head_ref_name=row["head_ref_name"],
        base_ref_name=row["base_ref_name"],
        head_repository_id=row["head_repository_id"] or None,
        author=row["author"] or None,
        is_draft=bool(row["is_draft"]),
        merged_by=from_observed_text(row["merged_by"]),
        is_archived=from_observed_flag(row["is_archived"]),
        is_base_deleted=from_observed_flag(row["is_base_deleted"]),
        checks=from_observed_word(ChecksState, row["checks"]),
        review=from_observed_word(ReviewState, row["review"]),
        review_decision=from_observed_optional_word(
            ReviewDecision, row["review_decision"]
        ),
        mergeable=from_observed_word(Mergeable, row["mergeable"]),
        merge_queue=from_observed_flag(row["merge_queue"]),
        auto_merge=from_observed_flag(row["auto_merge"]),
        unresolved_threads=from_observed_count(row["unresolved_threads"]),
        requested_reviewers=from_observed_count(row["requested_reviewers"]),
        approvals=from_observed_count(row["approvals"]),
        comment_mark=from_comment_mark(row["comment_mark"]),
    )


def _from_observation(seen: Observation) -> dict[str, Value]:
    return {
        "node_id": seen.node_id,
        "checks_notes": to_json(seen.checks_notes),
        "checks_summary": to_checks_summary(seen.checks_summary),
        "state": seen.state,
        "updated_at": to_microseconds(seen.updated_at),
        "created_at": to_microseconds(seen.created_at),
        "closed_at": to_optional_microseconds(seen.closed_at),
        "merged_at": to_optional_microseconds(seen.merged_at),
        "title": seen.title,
        "url": seen.url,
        "head_ref_oid": seen.head_ref_oid,
        "head_ref_name": seen.head_ref_name,
        "base_ref_name": seen.base_ref_name,
        "head_repository_id": seen.head_repository_id or "",
        "author": seen.author or "",
        "is_draft": seen.is_draft,
        "merged_by": to_observed_text(seen.merged_by),
        "is_archived": to_observed(seen.is_archived),
        "is_base_deleted": to_observed(seen.is_base_deleted),
        "checks": to_observed(seen.checks),
        "review": to_observed(seen.review),
        "review_decision": to_observed_text(seen.review_decision),
        "mergeable": to_observed(seen.mergeable),
        "merge_queue": to_observed(seen.merge_queue),
        "auto_merge": to_observed(seen.auto_merge),
        "unresolved_threads": to_observed(seen.unresolved_threads),
        "requested_reviewers": to_observed(seen.requested_reviewers),
        "approvals": to_observed(seen.approvals),
        "comment_mark": to_comment_mark(seen.comment_mark),
    }
