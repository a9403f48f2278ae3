import pytest

from prwatch.domain.merge_progress import (
    NO_PROGRESS,
    MergeProgress,
    follow_merge,
    is_ready,
)
from prwatch.domain.pull_request import (
    UNOBSERVED,
    Mergeable,
    PullRequestState,
    ReviewDecision,
)
from tests.readings import FAILURE, NONE, PENDING, SUCCESS, at, make_observation

READY = {"auto_merge": True, "checks": SUCCESS}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, True, id="armed and green"),
        pytest.param({"review_decision": ReviewDecision.APPROVED}, True, id="approved"),
        pytest.param({"review_decision": UNOBSERVED}, True, id="decision untold"),
        pytest.param({"auto_merge": False}, False, id="not armed"),
        pytest.param({"auto_merge": UNOBSERVED}, False, id="arming untold"),
        pytest.param({"merge_queue": True}, False, id="in the queue"),
        pytest.param({"merge_queue": UNOBSERVED}, False, id="queue untold"),
        pytest.param({"checks": PENDING}, False, id="checks run"),
        pytest.param({"checks": FAILURE}, False, id="red"),
        pytest.param({"checks": NONE}, False, id="no checks"),
        pytest.param({"mergeable": Mergeable.CONFLICTING}, False, id="conflict"),
        pytest.param({"mergeable": UNOBSERVED}, False, id="mergeability untold"),
        pytest.param({"is_draft": True}, False, id="draft"),
        pytest.param(
            {"review_decision": ReviewDecision.REVIEW_REQUIRED}, False, id="review"
        ),
        pytest.param(
            {"review_decision": ReviewDecision.CHANGES_REQUESTED}, False, id="changes"
        ),
        pytest.param({"state": PullRequestState.MERGED}, False, id="merged"),
    ],
)
def test_an_armed_merge_is_ready_when_nothing_is_in_its_way(fields, expected):
    assert is_ready(make_observation(**(READY | fields))) is expected


def follow(*readings):
    """Return the progress after readings that are a minute apart."""
    progress, before = NO_PROGRESS, None
    for minute, fields in enumerate(readings):
        after = make_observation(observed_at=at(60 * minute), **fields)
        progress = follow_merge(progress, before, after)
        before = after
    return progress


QUEUED, OUT = {"merge_queue": True}, {"merge_queue": False}
PUSHED = {"head_ref_oid": "b" * 40}


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        pytest.param([{}], NO_PROGRESS, id="nothing ordered"),
        pytest.param([READY], MergeProgress(ready_since=at(0)), id="ready at first"),
        pytest.param(
            [{}, READY, {**READY, "title": "New"}],
            MergeProgress(ready_since=at(60)),
            id="other changes keep the time",
        ),
        pytest.param(
            [READY, {**READY, "checks": PENDING}, READY],
            MergeProgress(ready_since=at(120)),
            id="begins anew",
        ),
        pytest.param([QUEUED], NO_PROGRESS, id="queued"),
        pytest.param([OUT], NO_PROGRESS, id="never queued"),
        pytest.param(
            [QUEUED, OUT], MergeProgress(queue_left_at=at(60)), id="thrown out"
        ),
        pytest.param(
            [QUEUED, OUT, OUT], MergeProgress(queue_left_at=at(60)), id="still out"
        ),
        pytest.param([QUEUED, OUT, QUEUED], NO_PROGRESS, id="queued again"),
        pytest.param([QUEUED, OUT, PUSHED], NO_PROGRESS, id="pushed afterwards"),
        pytest.param([QUEUED, {**OUT, **PUSHED}], NO_PROGRESS, id="left by a push"),
        pytest.param(
            [QUEUED, {**OUT, "state": PullRequestState.MERGED}],
            NO_PROGRESS,
            id="left by a merge",
        ),
        pytest.param(
            [QUEUED, {"merge_queue": UNOBSERVED}], NO_PROGRESS, id="queue untold"
        ),
    ],
)
def test_progress_follows_the_observations(readings, expected):
    assert follow(*readings) == expected
