"""What is known of a pull request after one more reading of it."""

from dataclasses import replace
from typing import TypeVar

from prwatch.domain.announce import carry_checks, has_head_moved
from prwatch.domain.comments import merge_comment_marks
from prwatch.domain.pull_request import (
    UNOBSERVED,
    CommentMark,
    Observation,
    Observed,
)

T = TypeVar("T")


def keep_known(before: Observed[T], after: Observed[T]) -> Observed[T]:
    """Return the new value, or what was known where none was read."""
    return before if after is UNOBSERVED else after


def merge_marks(
    before: Observed[CommentMark], after: Observed[CommentMark]
) -> Observed[CommentMark]:
    """Return the mark that has seen what both have; unobserved adds nothing."""
    if before is UNOBSERVED or after is UNOBSERVED:
        return keep_known(before, after)
    return merge_comment_marks(before, after)


def merge_observations(stored: Observation, new: Observation) -> Observation:
    """
    Return the new reading, completed with what only the stored one has.

    What was not read never overwrites what is known. The checks of an old head do
    not pass to a new one. Partial readings of one unchanged pull request give the
    same value in whichever order they are merged.
    """
    moved = has_head_moved(stored.head_ref_oid, new.head_ref_oid)
    checks = carry_checks(stored.checks, new.checks, has_head_moved=moved)
    verdict = new if moved or new.checks is checks else stored
    repository = new.repository
    if not repository.node_id:
        repository = replace(repository, node_id=stored.repository.node_id)
    return replace(
        new,
        repository=repository,
        observed_at=max(stored.observed_at, new.observed_at),
        head_ref_oid=new.head_ref_oid or stored.head_ref_oid,
        checks=checks,
        checks_notes=verdict.checks_notes,
        checks_summary=verdict.checks_summary,
        settles_at=verdict.settles_at,
        merged_by=keep_known(stored.merged_by, new.merged_by),
        is_archived=keep_known(stored.is_archived, new.is_archived),
        is_base_deleted=keep_known(stored.is_base_deleted, new.is_base_deleted),
        review=keep_known(stored.review, new.review),
        review_decision=keep_known(stored.review_decision, new.review_decision),
        mergeable=keep_known(stored.mergeable, new.mergeable),
        merge_queue=keep_known(stored.merge_queue, new.merge_queue),
        auto_merge=keep_known(stored.auto_merge, new.auto_merge),
        unresolved_threads=keep_known(
            stored.unresolved_threads, new.unresolved_threads
        ),
        requested_reviewers=keep_known(
            stored.requested_reviewers, new.requested_reviewers
        ),
        approvals=keep_known(stored.approvals, new.approvals),
        comment_mark=merge_marks(stored.comment_mark, new.comment_mark),
    )
