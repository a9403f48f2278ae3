"""How the watermark moves once an observation is committed."""

from collections.abc import Sequence
from dataclasses import replace

from prwatch.domain.announce import add_announced, carry_checks, has_head_moved
from prwatch.domain.events import Change, ChangeField
from prwatch.domain.merging import keep_known, merge_marks
from prwatch.domain.pull_request import UNOBSERVED, Observation
from prwatch.domain.staleness import is_stale
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.watch import Watermark


def advance(
    watermark: Watermark | None,
    observation: Observation,
    changes: Sequence[Change],
) -> Watermark:
    """
    Return the watermark after an observation that was compared with it.

    Without changes it is the given one, object and all, unless a field was read
    for the first time: then only that is taken over, and it must be stored too, or
    the field's next change would have nothing to be compared with. With changes
    every observed value is taken over, the update time too: it goes back only for
    a stale reading that is believed, since no other stale one makes a change.
    """
    if watermark is None:
        return _begin(observation)
    if not changes:
        return _learn(watermark, observation)
    moved = has_head_moved(watermark.head_ref_oid, observation.head_ref_oid)
    checks = carry_checks(watermark.checks, observation.checks, has_head_moved=moved)
    announced = () if moved else watermark.announced_checks
    if moved or _is_told(changes):
        announced = add_announced(announced, checks)
    since = watermark.checks_since
    if moved or checks is not watermark.checks:
        since = observation.observed_at
    return replace(
        _fill(watermark, observation),
        state=observation.state,
        updated_at=observation.updated_at,
        observed_at=observation.observed_at,
        is_draft=observation.is_draft,
        checks=checks,
        announced_checks=announced,
        checks_since=since,
    )


def restore_watermark(task_pull_request: TaskPullRequest) -> Watermark:
    """
    Return the watermark that a finished pull request's row goes on from.

    Its last known checks count as announced.
    """
    return replace(
        _begin(task_pull_request.observation),
        observed_at=task_pull_request.observed_at,
    )


def _begin(observation: Observation) -> Watermark:
    return Watermark(
        state=observation.state,
        updated_at=observation.updated_at,
        head_ref_oid=observation.head_ref_oid,
        observed_at=observation.observed_at,
        is_draft=observation.is_draft,
        checks=observation.checks,
        review=observation.review,
        review_decision=observation.review_decision,
        mergeable=observation.mergeable,
        merge_queue=observation.merge_queue,
        auto_merge=observation.auto_merge,
        is_archived=observation.is_archived,
        comment_mark=observation.comment_mark,
        announced_checks=add_announced((), observation.checks),
        checks_since=observation.observed_at,
    )


def _fill(watermark: Watermark, observation: Observation) -> Watermark:
    """Return the watermark with every value that was observed, but for checks."""
    return replace(
        watermark,
        head_ref_oid=observation.head_ref_oid or watermark.head_ref_oid,
        review=keep_known(watermark.review, observation.review),
        review_decision=keep_known(
            watermark.review_decision, observation.review_decision
        ),
        mergeable=keep_known(watermark.mergeable, observation.mergeable),
        merge_queue=keep_known(watermark.merge_queue, observation.merge_queue),
        auto_merge=keep_known(watermark.auto_merge, observation.auto_merge),
        is_archived=keep_known(watermark.is_archived, observation.is_archived),
        comment_mark=merge_marks(watermark.comment_mark, observation.comment_mark),
    )


def _learn(watermark: Watermark, observation: Observation) -> Watermark:
    """Return the watermark with what was read for the first time, or itself."""
    if is_stale(watermark, observation):
        return watermark
    learnt = _fill(watermark, observation)
    if watermark.checks is UNOBSERVED and observation.checks is not UNOBSERVED:
        learnt = replace(
            learnt, checks=observation.checks, checks_since=observation.observed_at
        )
    if learnt == watermark:
        return watermark
    return replace(learnt, observed_at=observation.observed_at)


def _is_told(changes: Sequence[Change]) -> bool:
    return any(
        change.field is ChangeField.CHECKS and change.is_feedback for change in changes
    )
