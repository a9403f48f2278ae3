"""
The digest over what a probe sees: equal digests mean that nothing moved.

Mergeability that GitHub has not computed yet is left out, and so are the counts of
passed checks: neither says that anything new is worth a full reading.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from msgspec import UNSET

from prwatch.github.wire import PullRequestNode, Rollup, StateCount

_PASSED: Final = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
_RUNNING: Final = frozenset(
    {"PENDING", "EXPECTED", "QUEUED", "IN_PROGRESS", "WAITING", "REQUESTED"}
)


def build_fingerprint(node: PullRequestNode, *, has_checks: bool = True) -> str:
    """
    Return the digest of the values that a probe reads, 15 hexadecimal digits.

    It tells states of one pull request apart, for which 60 bits are plenty; one more
    digit takes 16 bytes more for each of the thousands that are held in memory.
    Without checks it is that of a probe that does not ask for them.
    """
    mergeable = node.mergeable
    auto_merge = node.auto_merge_request
    values = (
        node.id,
        node.number,
        node.repository.name_with_owner,
        node.repository.is_archived,
        node.state,
        node.is_draft,
        node.updated_at.isoformat(),
        node.head_ref_oid,
        "" if mergeable is UNSET or mergeable == "UNKNOWN" else mergeable,
        _absent(node.review_decision),
        _absent(node.total_comments_count),
        _absent(node.is_in_merge_queue),
        auto_merge.enabled_at or "armed" if auto_merge else "",
        _describe(node.status_check_rollup or None) if has_checks else None,
    )
    return hashlib.sha256(repr(values).encode()).hexdigest()[:15]


def is_busy(node: PullRequestNode) -> bool:
    """
    Tell whether checks run, a merge is queued, or the checks lag behind the head.

    Such a pull request changes soon and is asked more often.
    """
    rollup = node.status_check_rollup
    if node.is_in_merge_queue is True:
        return True
    if node.state != "OPEN" or rollup is UNSET or rollup is None:
        return False
    is_lagging = rollup.commit is not None and rollup.commit.oid != node.head_ref_oid
    words = {rollup.state, *(each.state for each in _counts(rollup) if each.count)}
    return is_lagging or not words.isdisjoint(_RUNNING)


def _describe(rollup: Rollup | None) -> object:
    if rollup is None:
        return None
    counts = sorted(
        (each.state, each.count)
        for each in _counts(rollup)
        if each.count and each.state not in _PASSED
    )
    return (rollup.commit.oid if rollup.commit else "", rollup.state, tuple(counts))


def _counts(rollup: Rollup) -> Iterable[StateCount]:
    contexts = rollup.contexts
    if contexts is None:
        return ()
    return (
        *(contexts.check_run_counts_by_state or ()),
        *(contexts.status_context_counts_by_state or ()),
    )


def _absent(value: object) -> object:
    return None if value is UNSET else value
