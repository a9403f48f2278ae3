"""When review watches are due, whatever the clock does and whatever fails."""

import datetime as dt
from dataclasses import replace

import pytest

from prwatch.app.review.turns import Hold, SearchTurns, Setback
from prwatch.domain.outcome import FailureClass
from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.task import Origin

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
SECOND, HOUR = dt.timedelta(seconds=1), dt.timedelta(hours=1)
MINUTE = 60 * SECOND
DAY = 24 * HOUR
AUTH, CONFIG, LIMIT, TRANSIENT = (
    FailureClass.AUTH,
    FailureClass.CONFIG,
    FailureClass.LIMIT,
    FailureClass.TRANSIENT,
)


def make_watch(interval=5 * MINUTE, **changes):
    settings = ReviewSettings(interval=interval)
    return ReviewWatch(
        id="v1",
        workspace_id="w1",
        name="mine",
        settings=settings,
        origin=Origin.COMMAND,
        created_at=NOON,
        **changes,
    )


def make_setback(failure_class=TRANSIENT, chance_value=0.0):
    return Setback(
        failure_class=failure_class, message="down", chance_value=chance_value
    )


def hold_back(turns, now, *, generation=1, failure_class=TRANSIENT):
    setback = make_setback(failure_class)
    turns.hold_back("a", now, setback, generation=generation)


def test_a_watch_that_is_new_or_was_edited_is_due_at_once():
    turns, watch = SearchTurns(), make_watch()
    new = turns.find_due(watch, NOON)
    turns.note(watch, NOON)

    assert new == NOON
    assert turns.find_due(replace(watch, revision=2), NOON + SECOND) == NOON + SECOND
    turns.keep_only([], [])
    assert turns.find_due(watch, NOON + SECOND) == NOON + SECOND
    assert turns.find_turn(watch.id) is None


@pytest.mark.parametrize(
    ("interval", "waits"),
    [
        pytest.param(5 * MINUTE, 5 * MINUTE, id="its own"),
        pytest.param(SECOND, MINUTE, id="too short"),
        pytest.param(900 * DAY, DAY, id="too long"),
    ],
)
def test_it_is_due_again_after_its_interval(interval, waits):
    turns, watch = SearchTurns(), make_watch(interval)
    turns.note(watch, NOON)

    assert turns.find_due(watch, NOON) == NOON + waits
    assert turns.find_due(watch, NOON + DAY) == NOON + waits


def test_a_clock_that_was_set_back_makes_it_due():
    turns, watch = SearchTurns(), make_watch()
    turns.note(watch, NOON)
    turns.fail(watch, NOON, make_setback())

    assert turns.find_due(watch, NOON - HOUR) == NOON - HOUR


@pytest.mark.parametrize(
    ("failure_class", "interval", "waits"),
    [
        pytest.param(TRANSIENT, DAY, [30, 60, 120, 240, 480, 600, 600], id="transient"),
        pytest.param(AUTH, DAY, [300, 600, 1200, 2400, 3600, 3600], id="a dead token"),
        pytest.param(AUTH, MINUTE, [300, 600], id="later than a short interval"),
        pytest.param(CONFIG, HOUR, [3600, 3600], id="what an edit helps"),
    ],
)
def test_a_failure_is_tried_again_on_the_backoff_of_its_cause(
    failure_class, interval, waits
):
    turns, watch = SearchTurns(), make_watch(interval)
    found, now = [], NOON
    for _ in waits:
        turns.fail(watch, now, make_setback(failure_class))
        found.append((turns.find_due(watch, now) - now).total_seconds())
        now = turns.find_due(watch, now)

    assert found == waits


def test_chance_spreads_what_failed_together():
    turns, watch = SearchTurns(), make_watch(DAY)
    turns.fail(watch, NOON, make_setback(chance_value=1.0))

    assert turns.find_due(watch, NOON) == NOON + 37.5 * SECOND


def test_a_search_that_failed_is_none_and_one_that_is_answered_begins_anew():
    turns, watch = SearchTurns(), make_watch(DAY)
    turns.note(watch, NOON)
    for moment in (NOON + DAY, NOON + DAY + MINUTE):
        turns.fail(watch, moment, make_setback())
    failed = turns.find_turn(watch.id)
    turns.fail(watch, NOON + 2 * DAY, make_setback(), is_answered=True)
    part = turns.find_turn(watch.id)
    turns.note(watch, NOON + 3 * DAY)
    turns.fail(watch, NOON + 4 * DAY, make_setback())

    assert (failed.searched_at, failed.searches, failed.failures) == (NOON, 1, 2)
    assert (part.searched_at, part.searches) == (NOON + 2 * DAY, 2)
    assert turns.find_turn(watch.id).failures == 1


def test_an_edit_or_another_cause_begins_a_row_anew():
    turns, watch = SearchTurns(), make_watch(DAY)
    turns.fail(watch, NOON, make_setback())
    turns.fail(watch, NOON, make_setback(AUTH))
    other = turns.find_turn(watch.id).failures
    turns.fail(replace(watch, revision=2), NOON, make_setback(AUTH))

    assert (other, turns.find_turn(watch.id).failures) == (1, 1)


def test_an_account_waits_for_its_limit_alone():
    turns = SearchTurns()
    hold = Hold(
        failure_class=LIMIT,
        message="the limit",
        began_at=NOON,
        until=NOON + HOUR,
        generation=1,
    )
    turns.hold("a", hold)

    assert turns.find_hold("a", NOON, 1) == hold
    assert turns.find_hold("b", NOON, 1) is None
    assert turns.find_hold("a", NOON - SECOND, 1) is None  # the clock was set back
    assert turns.find_hold("a", NOON + HOUR, 1) is None
    turns.keep_only([], ["a"])
    assert turns.find_hold("a", NOON, 1) == hold
    turns.keep_only([], [])
    assert turns.find_hold("a", NOON, 1) is None


def test_an_account_that_cannot_be_asked_waits_longer_each_time():
    turns, waits, now = SearchTurns(), [], NOON
    for _ in range(3):
        hold_back(turns, now)
        waits.append((turns.find_hold("a", now, 1).until - now).total_seconds())
        now = turns.find_hold("a", now, 1).until
    turns.release("a")
    hold_back(turns, now)

    assert waits == [30, 60, 120]
    assert turns.find_hold("a", now, 1).until - now == 30 * SECOND


def test_a_new_token_ends_a_hold():
    turns = SearchTurns()
    hold_back(turns, NOON, failure_class=AUTH)

    assert turns.find_hold("a", NOON, 1).until == NOON + 5 * MINUTE
    assert turns.find_hold("a", NOON, 2) is None
