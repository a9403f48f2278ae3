"""
When a checks state is told: once for each head, and again only if it stays.

For each head the watermark keeps the states that were announced. A state that
comes back moves the row at once, but is told only when two observations at least
`settle` apart both show it, so that a flapping check does not ring each time.
"""

import datetime as dt

from prwatch.domain.events import Change, ChangeField
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, Observation, Observed
from prwatch.domain.watch import Watermark


def has_head_moved(before: str, after: str) -> bool:
    """Return whether both heads are known and differ."""
    return bool(before and after and before != after)


def carry_checks(
    before: Observed[ChecksState],
    after: Observed[ChecksState],
    *,
    has_head_moved: bool,
) -> Observed[ChecksState]:
    """
    Return the checks state that holds after a reading.

    A verdict belongs to its head. On an unchanged head, a reading without checks
    or with a rollup that turned null says nothing, and what was known stays. On a
    new head the old verdict is void: until its checks are read there are none yet.
    """
    if before is UNOBSERVED:
        return after
    if has_head_moved:
        return ChecksState.NONE if after is UNOBSERVED else after
    if after is UNOBSERVED or after is ChecksState.NONE:
        return before
    return after


def compare_checks(
    watermark: Watermark, observation: Observation, *, settle: dt.timedelta
) -> Change | None:
    """
    Return the change of the checks state, or None.

    A state that was announced on this head makes a change without feedback. When
    it was seen again `settle` later, its late announcement is a change from the
    state that was announced last.
    """
    moved = has_head_moved(watermark.head_ref_oid, observation.head_ref_oid)
    before = watermark.checks
    after = carry_checks(before, observation.checks, has_head_moved=moved)
    if before is UNOBSERVED or after is UNOBSERVED:
        return None
    if before is not after:
        is_feedback = moved or not settle or after not in watermark.announced_checks
        return Change(ChangeField.CHECKS, before.value, after.value, is_feedback)
    due_at = None if moved else flap_due_at(watermark, settle=settle)
    if (
        due_at is None
        or observation.checks is not after
        or observation.observed_at < due_at
    ):
        return None
    last = watermark.announced_checks[-1]
    return Change(ChangeField.CHECKS, last.value, after.value, is_feedback=True)


def flap_due_at(watermark: Watermark, *, settle: dt.timedelta) -> dt.datetime | None:
    """Return when a held-back checks state may be announced, or None."""
    checks, announced = watermark.checks, watermark.announced_checks
    if (
        watermark.checks_since is None
        or checks not in announced
        or checks is announced[-1]
    ):
        return None
    return watermark.checks_since + settle


def add_announced(
    announced: tuple[ChecksState, ...], state: Observed[ChecksState]
) -> tuple[ChecksState, ...]:
    """Return the announced states with this one last. `none` is never announced."""
    if state is UNOBSERVED or state is ChecksState.NONE:
        return announced
    return (*(one for one in announced if one is not state), state)
