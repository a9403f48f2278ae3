"""Whether a pull request can be merged, as far as GitHub says so at a time."""

import datetime as dt

from prwatch.simulator.entities import PullRequest
from prwatch.simulator.reviewing import decide_review
from prwatch.simulator.rollup import Rollup


def judge_mergeable(one: PullRequest, now: dt.datetime) -> str:
    """Return `mergeable`: UNKNOWN while GitHub works it out, and after the end."""
    known_at = one.mergeable_known_at
    if one.state != "OPEN" or (known_at is not None and now < known_at):
        return "UNKNOWN"
    return one.mergeable


def judge_merge_state(one: PullRequest, mergeable: str, rollup: Rollup | None) -> str:
    """Return `mergeStateStatus`, the word beside the merge button."""
    if mergeable != "MERGEABLE":
        return "DIRTY" if mergeable == "CONFLICTING" else "UNKNOWN"
    if one.is_draft or decide_review(one) not in {None, "APPROVED"}:
        return "BLOCKED"
    return "CLEAN" if rollup is None or rollup.state == "SUCCESS" else "UNSTABLE"
