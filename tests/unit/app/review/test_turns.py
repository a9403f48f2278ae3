"""When review watches are due, whatever the clock does."""

import datetime as dt
from dataclasses import replace

import pytest

from prwatch.app.review.turns import SearchTurns
from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.task import Origin

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
SECOND, HOUR = dt.timedelta(seconds=1), dt.timedelta(hours=1)
DAY = 24 * HOUR


def make_watch(interval=5 * 60 * SECOND, **changes):
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


def test_a_watch_that_is_new_or_was_edited_is_due_at_once():
    turns, watch = SearchTurns(), make_watch()
    new = turns.find_due(watch, NOON)
    turns.note(watch, NOON)

    assert new == NOON
    assert turns.find_due(replace(watch, revision=2), NOON + SECOND) == NOON + SECOND
    turns.keep_only([])
    assert turns.find_due(watch, NOON + SECOND) == NOON + SECOND


@pytest.mark.parametrize(
    ("interval", "waits"),
    [
        pytest.param(5 * 60 * SECOND, 5 * 60 * SECOND, id="its own"),
        pytest.param(SECOND, 60 * SECOND, id="too short"),
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

    assert turns.find_due(watch, NOON - HOUR) == NOON - HOUR


def test_an_account_waits_for_its_limit_alone():
    turns = SearchTurns()
    turns.hold("a", NOON + HOUR)
    held = (turns.find_hold("a", NOON), turns.find_hold("b", NOON))
    turns.hold("a", None)

    assert held == (NOON + HOUR, NOON)
    assert turns.find_hold("a", NOON) == NOON
