"""
What changed between the watermark and an observation: the product's one judgement.

The functions that move what was compared stand beside it: `advance` for the
watermark, `merge_observations` for the stored reading.
"""

import datetime as dt
import enum
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from prwatch.domain.advance import advance, restore_watermark
from prwatch.domain.announce import compare_checks, flap_due_at, has_head_moved
from prwatch.domain.comments import list_new_comments, merge_comment_marks
from prwatch.domain.events import Change, ChangeField, Scalar
from prwatch.domain.merging import merge_observations
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Observation,
    Observed,
    PullRequestState,
)
from prwatch.domain.staleness import denies_merge, is_stale
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.watch import Watermark

__all__ = [
    "advance",
    "compare",
    "flap_due_at",
    "is_stale",
    "merge_observations",
    "restore_watermark",
]

_ORDER: Final = {field: position for position, field in enumerate(ChangeField)}


def compare(
    watermark: Watermark | None,
    observation: Observation,
    *,
    settle: dt.timedelta,
    is_reading_believed: bool = False,
) -> tuple[Change, ...]:
    """
    Return what really changed, in the order of the fields; () when nothing did.

    Without a watermark the observation is a new association: one change, and the
    state beside it when that is final already. An unobserved field on either side
    never makes a change. A stale observation makes none unless it is believed,
    and none at all that denies a merge. An update time that advanced is a change
    only when nothing else is.
    """
    if watermark is None:
        return _associate(observation)
    if denies_merge(watermark, observation):
        return ()
    if is_stale(watermark, observation) and not is_reading_believed:
        return ()
    changes = list(_compare_fields(watermark, observation))
    checks = compare_checks(watermark, observation, settle=settle)
    if checks is not None:
        if any(change.is_feedback for change in changes):
            # People look now anyway; telling them later would be a second ring.
            checks = replace(checks, is_feedback=True)
        changes.append(checks)
    if not changes and observation.updated_at > watermark.updated_at:
        return (
            Change(
                ChangeField.ACTIVITY,
                format_time(watermark.updated_at),
                format_time(observation.updated_at),
                is_feedback=False,
            ),
        )
    return tuple(sorted(changes, key=lambda change: _ORDER[change.field]))


def _associate(observation: Observation) -> tuple[Change, ...]:
    associated = Change(
        ChangeField.ASSOCIATED, None, observation.number, is_feedback=False
    )
    if not observation.is_final:
        return (associated,)
    return (associated, _build_state_change(None, observation))


def _build_state_change(previous: str | None, observation: Observation) -> Change:
    is_orphaned = (
        observation.state is PullRequestState.CLOSED
        and observation.is_base_deleted is True
    )
    return Change(
        ChangeField.STATE,
        previous,
        observation.state.value,
        is_feedback=True,
        reason="base_deleted" if is_orphaned else "",
    )


def _compare_fields(watermark: Watermark, new: Observation) -> Iterator[Change]:
    if watermark.state is not new.state:
        yield _build_state_change(watermark.state.value, new)
    yield from _differ(ChangeField.IS_DRAFT, watermark.is_draft, new.is_draft)
    yield from _differ(ChangeField.REVIEW, watermark.review, new.review)
    yield from _differ(
        ChangeField.REVIEW_DECISION, watermark.review_decision, new.review_decision
    )
    if has_head_moved(watermark.head_ref_oid, new.head_ref_oid):
        yield from _differ(
            ChangeField.HEAD_REF_OID, watermark.head_ref_oid, new.head_ref_oid
        )
    yield from _differ(ChangeField.MERGEABLE, watermark.mergeable, new.mergeable)
    yield from _differ(ChangeField.MERGE_QUEUE, watermark.merge_queue, new.merge_queue)
    yield from _differ(ChangeField.AUTO_MERGE, watermark.auto_merge, new.auto_merge)
    yield from _compare_comments(watermark, new)
    yield from _differ(
        ChangeField.ARCHIVED,
        watermark.is_archived,
        new.is_archived,
        is_feedback=False,
    )


def _differ(
    field: ChangeField,
    before: Observed[Scalar],
    after: Observed[Scalar],
    *,
    is_feedback: bool = True,
) -> Iterator[Change]:
    if before is not UNOBSERVED and after is not UNOBSERVED and before != after:
        yield Change(field, _plain(before), _plain(after), is_feedback)


def _plain(value: Scalar) -> Scalar:
    return value.value if isinstance(value, enum.StrEnum) else value


def _compare_comments(watermark: Watermark, new: Observation) -> Iterator[Change]:
    seen, read = watermark.comment_mark, new.comment_mark
    if seen is UNOBSERVED or read is UNOBSERVED or not list_new_comments(seen, read):
        return
    yield Change(
        ChangeField.COMMENTS,
        format_optional_time(seen.newest_at),
        format_optional_time(merge_comment_marks(seen, read).newest_at),
        is_feedback=True,
    )
