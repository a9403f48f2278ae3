"""What one reading does to its watch: a plan made of values."""

import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.compare import advance
from prwatch.domain.events import Change, ChangeField
from prwatch.domain.observing import Ending, Standing, decide_commit, due_after
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, PullRequestState
from prwatch.domain.reference import Reading
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.watch import Watch
from tests.readings import NOON, SETTLE, at, make_observation

CLOSED = PullRequestState.CLOSED
MERGED = PullRequestState.MERGED


def make_watch(observation=None, **fields):
    """A discovered watch that has seen that observation, or nothing."""
    watermark = None if observation is None else advance(None, observation, ())
    values = {
        "id": "w",
        "workspace_id": "acme",
        "task_id": "t",
        "repository_id": "r",
        "pr_number": 12,
        "revision": 3,
        "last_sign_at": NOON,
        "created_at": NOON,
        **fields,
    }
    return Watch(watermark=watermark, **values)


def read(**fields):
    extra = {"has_null_auto_merge": fields.pop("has_null_auto_merge", False)}
    return Reading(observation=make_observation(**fields), fingerprint="f", **extra)


def decide(watch, reading, standing=None):
    return decide_commit(watch, reading, standing or Standing(), settle=SETTLE)


def make_stored(*, is_past=False, **fields):
    observation = make_observation(**fields)
    return TaskPullRequest(
        task_id="t",
        repository_id="r",
        pr_number=12,
        observation=observation,
        observed_at=observation.observed_at,
        is_past=is_past,
    )


def test_a_reading_that_shows_nothing_new_leaves_the_row_as_it_is():
    assert decide(make_watch(make_observation()), read()) is None


def test_a_change_moves_watermark_revision_and_fingerprint():
    watch = make_watch(make_observation())

    commit = decide(watch, read(is_draft=True))

    assert commit.changes == (Change(ChangeField.IS_DRAFT, False, True, True),)
    assert (commit.after.revision, commit.after.fingerprint) == (4, "f")
    assert commit.after.watermark.is_draft
    assert commit.ending is Ending.STAY


def test_a_field_that_is_read_for_the_first_time_is_kept_without_a_revision():
    watch = make_watch(make_observation(auto_merge=UNOBSERVED))

    commit = decide(watch, read(auto_merge=True))

    assert (commit.changes, commit.after.revision) == ((), 3)
    assert commit.after.watermark.auto_merge is True


@pytest.mark.parametrize(
    ("is_armed", "expected"),
    [
        pytest.param(False, False, id="a null is false"),
        pytest.param(True, True, id="but it disarms nothing"),
    ],
)
def test_rests_null_is_believed_unless_auto_merge_is_armed(is_armed, expected):
    watch = make_watch(make_observation(auto_merge=is_armed))
    fields = {"is_draft": True, "auto_merge": UNOBSERVED}

    commit = decide(watch, read(**fields, has_null_auto_merge=True))

    assert commit.after.watermark.auto_merge is expected


def test_a_first_reading_is_an_association():
    commit = decide(make_watch(), read())

    assert [change.field for change in commit.changes] == [ChangeField.ASSOCIATED]


def test_a_taken_over_watermark_passes_on_without_a_word():
    adopted = make_watch(make_observation(), id="a", task_id="octo/hello#12")

    commit = decide(make_watch(), read(), Standing(takes_over=adopted))

    assert (commit.changes, commit.after.revision) == ((), 3)
    assert commit.after.watermark == adopted.watermark


def test_an_adopted_watch_that_saw_nothing_passes_nothing_on():
    adopted = make_watch(id="a", task_id="octo/hello#12")

    commit = decide(make_watch(), read(), Standing(takes_over=adopted))

    assert [change.field for change in commit.changes] == [ChangeField.ASSOCIATED]


@pytest.mark.parametrize(
    ("stored", "field"),
    [
        pytest.param(make_stored(state=CLOSED), ChangeField.STATE, id="goes on"),
        pytest.param(
            make_stored(state=CLOSED, is_past=True),
            ChangeField.ASSOCIATED,
            id="of a task that was archived since",
        ),
    ],
)
def test_a_pull_request_that_the_task_knows_goes_on(stored, field):
    commit = decide(make_watch(), read(), Standing(stored=stored))

    assert [change.field for change in commit.changes] == [field]


@pytest.mark.parametrize(
    ("state", "standing", "ending"),
    [
        pytest.param(CLOSED, Standing(), Ending.REMOVE, id="nobody works there"),
        pytest.param(
            MERGED, Standing(search_in="r"), Ending.SEARCH_AGAIN, id="a branch's work"
        ),
        pytest.param(
            CLOSED, Standing(is_adopted=True), Ending.REMOVE, id="adopted, closed"
        ),
        pytest.param(
            MERGED, Standing(is_adopted=True), Ending.ARCHIVE, id="adopted, merged"
        ),
    ],
)
def test_a_final_state_ends_the_watch(state, standing, ending):
    commit = decide(make_watch(make_observation()), read(state=state), standing)

    assert commit.ending is ending


def test_a_row_in_another_base_goes_there():
    commit = decide(make_watch(), read(), Standing(base_id="parent"))

    assert commit.after.repository_id == "parent"


def test_what_waits_for_settling_has_no_fingerprint():
    settles_at = at(20)
    commit = decide(make_watch(), read(settles_at=settles_at))

    assert (commit.due_at, commit.after.fingerprint) == (settles_at, "")


def test_the_earlier_of_settling_and_a_flap_is_due():
    watermark = replace(
        make_watch(make_observation(checks=ChecksState.FAILURE)).watermark,
        announced_checks=(ChecksState.FAILURE, ChecksState.SUCCESS),
        checks_since=NOON,
    )

    due = due_after(watermark, read(settles_at=at(60)), settle=SETTLE)

    assert due == NOON + SETTLE
    assert due_after(watermark, read(settles_at=at(5)), settle=SETTLE) == at(5)
    assert due_after(None, read(), settle=dt.timedelta(0)) is None
