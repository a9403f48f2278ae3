"""What is known: remembered from the store, and refreshed by a reading."""

import pytest

from prwatch.domain.checks_summary import ChecksSummary
from prwatch.domain.merge_progress import MergeProgress
from prwatch.domain.phrase import Known, catch_up, recall, refresh
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.task import TaskPullRequest
from prwatch.domain.verdict_words import tell
from tests.readings import NONE, PENDING, SUCCESS, at, make_observation

PUSHED = {"head_ref_oid": "b" * 40}


def remember(since=None, unreadable=None, progress=None, **fields):
    observation = make_observation(**fields)
    stored = TaskPullRequest(
        task_id="T",
        repository_id="R",
        pr_number=12,
        observation=observation,
        observed_at=observation.observed_at,
        progress=progress or MergeProgress(),
    )
    return recall(stored, now=at(600), since=since, unreadable=unreadable)


@pytest.mark.parametrize(
    ("fields", "since"),
    [
        pytest.param({"since": at(-30)}, at(-60), id="updated before it was seen"),
        pytest.param({"since": at(-90)}, at(-90), id="commented on since"),
        pytest.param({"updated_at": at(30)}, at(0), id="by the reading alone"),
        pytest.param({"checks": SUCCESS, "since": at(-90)}, None, id="has checks"),
    ],
)
def test_a_head_is_as_old_as_anything_shows(fields, since):
    assert remember(**{"checks": NONE, **fields}).bare_since == since


@pytest.mark.parametrize(
    ("stored", "fields", "since"),
    [
        pytest.param(None, {}, at(-60), id="never seen before"),
        pytest.param({"since": at(-90)}, {}, at(-90), id="seen before"),
        pytest.param({"since": at(-90)}, PUSHED, at(-60), id="pushed since"),
        pytest.param({"checks": SUCCESS}, {}, at(-60), id="had checks"),
        pytest.param({"since": at(-90)}, {"checks": SUCCESS}, None, id="has checks"),
    ],
)
def test_a_reading_goes_on_from_what_is_stored(stored, fields, since):
    before = remember(**{"checks": NONE, **stored}) if stored else None
    observation = make_observation(**{"checks": NONE, "observed_at": at(300), **fields})

    known = refresh(observation, now=at(600), stored=before)

    assert (known.bare_since, known.is_live) == (since, True)


def test_progress_goes_on_through_what_the_reading_did_not_tell():
    out = MergeProgress(queue_left_at=at(-90))
    before = remember(progress=out)
    observation = make_observation(merge_queue=UNOBSERVED)

    assert refresh(observation, now=at(600), stored=before).progress == out
    assert refresh(observation, now=at(600), stored=None).progress == MergeProgress()


def test_a_daemon_knows_newer_numbers_of_checks_that_run():
    counted = {"summary": ChecksSummary(total=8, pending=2), "counted_at": at(590)}
    silence = {"mergeable_unknown_since": at(-90)}

    running = catch_up(remember(checks=PENDING), **counted, **silence)
    decided = catch_up(remember(checks=SUCCESS), **counted, **silence)

    assert tell(running).checks.text == "running 2 of 8, as of 10 s ago"
    assert tell(decided).checks.text == "passed"
    assert running.mergeable_unknown_since == at(-90)
    assert decided.counted_at is None


def test_what_was_read_is_readable():
    before = remember(unreadable={"checks": "refused", "review": "refused"})
    observation = make_observation(checks=UNOBSERVED)

    known = refresh(observation, now=at(600), stored=before)

    assert known.unreadable == {"checks": "refused"}


def test_an_age_is_never_negative():
    known = Known(observation=make_observation(), now=at(0))

    assert (known.tell_age(at(-90)), known.tell_age(at(5))) == ("1 min 30 s", "0 s")
