"""
How a canonical watch and its watermark lie in a row of `pr_watches`.

What thousands of rows repeat, and what a watch has in common with its last probe, is
kept once: a hundred thousand watches are in memory at a time.
"""

import functools
import sys

from prwatch.domain.pull_request import (
    ChecksState,
    Mergeable,
    PullRequestState,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.watch import Watch, Watermark
from prwatch.store.columns import (
    from_comment_mark,
    from_microseconds,
    from_observed_flag,
    from_observed_optional_word,
    from_observed_word,
    from_optional_microseconds,
    to_comment_mark,
    to_microseconds,
    to_observed,
    to_observed_text,
    to_optional_microseconds,
)
from prwatch.store.database import Row, Value

_NO_WATERMARK: dict[str, Value] = dict.fromkeys(
    (
        "observed_at",
        "state",
        "updated_at",
        "head_ref_oid",
        "is_draft",
        "checks",
        "review",
        "review_decision",
        "mergeable",
        "merge_queue",
        "auto_merge",
        "is_archived",
        "comment_mark",
        "announced_checks",
        "checks_since",
    )
)


def to_watch(row: Row) -> Watch:
    """Return the watch of a row."""
    return Watch(
        id=row["id"],
        workspace_id=sys.intern(row["workspace_id"]),
        task_id=row["task_id"],
        repository_id=sys.intern(row["repository_id"]),
        branch=row["branch"],
        head_repository=row["head_repository"],
        pr_number=row["pr_number"],
        node_id=sys.intern(row["node_id"]),
        session_id=row["session_id"],
        revision=row["revision"],
        fingerprint=row["fingerprint"],
        watermark=None if row["observed_at"] is None else _to_watermark(row),
        searching_since=from_optional_microseconds(row["searching_since"]),
        branch_head_oid=row["branch_head_oid"],
        last_sign_at=from_microseconds(row["last_sign_at"]),
        created_at=from_microseconds(row["created_at"]),
    )


def from_watch(watch: Watch) -> dict[str, Value]:
    """Return the row of a watch."""
    return {
        "id": watch.id,
        "workspace_id": watch.workspace_id,
        "task_id": watch.task_id,
        "repository_id": watch.repository_id,
        "branch": watch.branch,
        "head_repository": watch.head_repository,
        "pr_number": watch.pr_number,
        "session_id": watch.session_id,
        "branch_head_oid": watch.branch_head_oid,
        "last_sign_at": to_microseconds(watch.last_sign_at),
        "created_at": to_microseconds(watch.created_at),
        **from_observed_part(watch),
    }


def from_observed_part(watch: Watch) -> dict[str, Value]:
    """Return the columns that the commit of an observation writes."""
    return {
        "node_id": watch.node_id,
        "revision": watch.revision,
        "fingerprint": watch.fingerprint,
        "searching_since": to_optional_microseconds(watch.searching_since),
        **(
            _NO_WATERMARK
            if watch.watermark is None
            else _from_watermark(watch.watermark)
        ),
    }


def _to_watermark(row: Row) -> Watermark:
    return Watermark(
        state=PullRequestState(row["state"]),
        updated_at=from_microseconds(row["updated_at"]),
        head_ref_oid=row["head_ref_oid"],
        observed_at=from_microseconds(row["observed_at"]),
        is_draft=bool(row["is_draft"]),
        checks=from_observed_word(ChecksState, row["checks"]),
        review=from_observed_word(ReviewState, row["review"]),
        review_decision=from_observed_optional_word(
            ReviewDecision, row["review_decision"]
        ),
        mergeable=from_observed_word(Mergeable, row["mergeable"]),
        merge_queue=from_observed_flag(row["merge_queue"]),
        auto_merge=from_observed_flag(row["auto_merge"]),
        is_archived=from_observed_flag(row["is_archived"]),
        comment_mark=from_comment_mark(row["comment_mark"]),
        announced_checks=_parse_announced(row["announced_checks"]),
        checks_since=from_optional_microseconds(row["checks_since"]),
    )


@functools.lru_cache(maxsize=1024)
def _parse_announced(words: str) -> tuple[ChecksState, ...]:
    return tuple(map(ChecksState, words.split()))


def _from_watermark(watermark: Watermark) -> dict[str, Value]:
    return {
        "observed_at": to_microseconds(watermark.observed_at),
        "state": watermark.state,
        "updated_at": to_microseconds(watermark.updated_at),
        "head_ref_oid": watermark.head_ref_oid,
        "is_draft": watermark.is_draft,
        "checks": to_observed(watermark.checks),
        "review": to_observed(watermark.review),
        "review_decision": to_observed_text(watermark.review_decision),
        "mergeable": to_observed(watermark.mergeable),
        "merge_queue": to_observed(watermark.merge_queue),
        "auto_merge": to_observed(watermark.auto_merge),
        "is_archived": to_observed(watermark.is_archived),
        "comment_mark": to_comment_mark(watermark.comment_mark),
        "announced_checks": " ".join(watermark.announced_checks),
        "checks_since": to_optional_microseconds(watermark.checks_since),
    }
