import datetime as dt
from dataclasses import replace

import pytest

from prwatch.domain.schedule import (
    Activity,
    Intervals,
    ReferenceKind,
    Turn,
    allow_for_jitter,
    fill,
    get_full_read_interval,
    has_passed,
    is_resting,
    next_due,
    next_wake,
)
from tests.readings import NOON, at

INTERVALS = Intervals()
MINUTE, HOUR, DAY = 60, 3600, 86400

DISCOVERED = ReferenceKind.DISCOVERED
SEARCHING = ReferenceKind.SEARCHING
FINISHED = ReferenceKind.FINISHED


@pytest.mark.parametrize(
    ("turn", "due_at"),
    [
        pytest.param(Turn(kind=DISCOVERED), NOON, id="never asked"),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10)), at(50), id="discovered"
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(HOUR)), NOON, id="clock set back"
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10), is_busy=True),
            at(5),
            id="checks run or a merge is queued",
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10), look_at=at(3)),
            at(3),
            id="settles before its interval ends",
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10), look_at=at(9)),
            at(5),
            id="settles after its interval ends",
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10), look_at=at(-11)),
            at(5),
            id="should have settled when it was asked",
        ),
        pytest.param(
            Turn(kind=DISCOVERED, last_asked_at=at(-10), is_archived=True),
            at(DAY - 10),
            id="archived",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(0)), at(60), id="no sign is young"
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_sign_at=at(-40 * DAY), can_rest=False),
            NOON,
            id="never asked and never resting",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(0), last_sign_at=at(1 - HOUR)),
            at(60),
            id="searching in the first hour",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(0), last_sign_at=at(-HOUR)),
            at(5 * MINUTE),
            id="searching after an hour",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(0), last_sign_at=at(-DAY)),
            at(15 * MINUTE),
            id="searching after a day",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(-600), last_sign_at=at(-1)),
            at(-540),
            id="a new sign of life makes it due",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_asked_at=at(0), last_sign_at=at(1 - 30 * DAY)),
            at(15 * MINUTE),
            id="just before it rests",
        ),
        pytest.param(
            Turn(kind=SEARCHING, last_sign_at=at(-30 * DAY)), None, id="resting"
        ),
        pytest.param(
            Turn(
                kind=SEARCHING,
                last_asked_at=at(0),
                last_sign_at=at(-40 * DAY),
                can_rest=False,
            ),
            at(15 * MINUTE),
            id="an entry's branch does not rest",
        ),
        pytest.param(
            Turn(kind=FINISHED, last_asked_at=at(0), closed_at=at(-DAY)),
            at(15 * MINUTE),
            id="finished",
        ),
        pytest.param(
            Turn(kind=FINISHED, last_asked_at=at(0)),
            at(15 * MINUTE),
            id="finished at a time that is not known",
        ),
        pytest.param(
            Turn(kind=FINISHED, last_asked_at=at(0), closed_at=at(-30 * DAY)),
            None,
            id="finished for good",
        ),
    ],
)
def test_each_reference_has_its_turn(turn, due_at):
    assert next_due(turn, now=NOON, intervals=INTERVALS) == due_at
    assert is_resting(turn, now=NOON, intervals=INTERVALS) is (due_at is None)


STRETCHED = replace(
    INTERVALS, idle=dt.timedelta(minutes=5), idle_rest=dt.timedelta(minutes=15)
)


@pytest.mark.parametrize(
    ("turn", "due_at", "stretched_at"),
    [
        pytest.param({}, at(60), at(60), id="nobody knows when it moved"),
        pytest.param(
            {"last_sign_at": at(1 - HOUR)}, at(60), at(60), id="moved in this hour"
        ),
        pytest.param(
            {"last_sign_at": at(-HOUR)}, at(60), at(300), id="idle for an hour"
        ),
        pytest.param(
            {"last_sign_at": at(1 - DAY)}, at(60), at(300), id="idle, not for a day"
        ),
        pytest.param({"last_sign_at": at(-DAY)}, at(60), at(900), id="idle for a day"),
        pytest.param(
            {"last_sign_at": at(-DAY), "is_busy": True}, at(15), at(15), id="checks run"
        ),
        pytest.param(
            {"last_sign_at": at(-DAY), "look_at": at(20)},
            at(15),
            at(15),
            id="a verdict settles",
        ),
    ],
)
def test_what_is_idle_gives_way_and_what_is_hot_never(turn, due_at, stretched_at):
    turn = Turn(kind=DISCOVERED, last_asked_at=NOON, **turn)

    assert next_due(turn, now=NOON, intervals=INTERVALS) == due_at
    assert next_due(turn, now=NOON, intervals=STRETCHED) == stretched_at


def test_an_idle_one_is_due_at_once_when_it_becomes_busy():
    idle = Turn(kind=DISCOVERED, last_asked_at=at(-60), last_sign_at=at(-2 * DAY))

    assert next_due(idle, now=NOON, intervals=STRETCHED) == at(840)
    busy = replace(idle, is_busy=True)
    assert next_due(busy, now=NOON, intervals=STRETCHED) == at(-45)


def test_no_idle_interval_is_shorter_than_the_ordinary_one():
    slow = replace(STRETCHED, base=dt.timedelta(minutes=20))
    turn = Turn(kind=DISCOVERED, last_asked_at=NOON, last_sign_at=at(-HOUR))

    assert next_due(turn, now=NOON, intervals=slow) == at(20 * MINUTE)


@pytest.mark.parametrize(
    ("activity", "minutes"),
    [
        (Activity.HOT, 15),
        (Activity.FRESH, 15),
        (Activity.IDLE, 15),
        (Activity.RESTING, 30),
    ],
)
def test_nothing_is_read_in_full_more_often_than_it_is_asked(activity, minutes):
    intervals = replace(STRETCHED, idle_rest=dt.timedelta(minutes=30))

    assert get_full_read_interval(activity, intervals) == dt.timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("last", "is_due"),
    [
        pytest.param(None, True, id="never"),
        pytest.param(at(-15 * MINUTE), True, id="long ago"),
        pytest.param(at(1 - 15 * MINUTE), False, id="lately"),
    ],
)
def test_a_full_read_bounds_what_a_probe_cannot_see(last, is_due):
    assert has_passed(last, INTERVALS.full_read, now=NOON) is is_due


@pytest.mark.parametrize(
    ("due", "candidates", "filled"),
    [
        pytest.param([], [(at(1), "a")], (), id="nothing due asks for nothing"),
        pytest.param(["a", "b", "c"], [(at(1), "d")], ("a", "b", "c"), id="full"),
        pytest.param(
            ["a"],
            [(at(3), "d"), (at(1), "b"), (at(2), "c")],
            ("a", "b", "c"),
            id="those due next take the free places",
        ),
        pytest.param(
            ["a"], [(at(0), "a"), (at(1), "b")], ("a", "b"), id="each only once"
        ),
        pytest.param(["a"], [], ("a",), id="nobody else"),
        pytest.param(
            ["a", "b", "c", "d"],
            [(at(1), "e"), (at(2), "f"), (at(3), "g")],
            ("a", "b", "c", "d", "e", "f"),
            id="the last request is filled",
        ),
    ],
)
def test_free_places_go_to_those_due_next(due, candidates, filled):
    assert fill(due, candidates, 3) == filled


@pytest.mark.parametrize(
    ("due_times", "jitter", "wake_at"),
    [
        pytest.param([at(40), at(30)], 0, at(30), id="the earliest"),
        pytest.param([at(1)], 0, at(15), id="a tick apart"),
        pytest.param([at(-9)], 0, at(15), id="overdue"),
        pytest.param([], 0, at(60), id="nothing due"),
        pytest.param([at(900)], 0, at(60), id="at the latest"),
        pytest.param([at(30)], -0.1, at(27), id="sooner by chance"),
        pytest.param([at(30)], 0.1, at(33), id="later by chance"),
    ],
)
def test_the_loop_wakes_at_the_earliest_due_time(due_times, jitter, wake_at):
    assert (
        next_wake(
            due_times,
            woke_at=NOON,
            tick=dt.timedelta(seconds=15),
            longest=dt.timedelta(seconds=60),
            jitter=jitter,
        )
        == wake_at
    )


def test_a_loop_that_woke_early_finds_due_what_it_woke_for():
    allowed = allow_for_jitter(Intervals(), jitter=0.1, longest=dt.timedelta(minutes=1))

    assert allowed == replace(
        Intervals(),
        base=dt.timedelta(seconds=54),
        hot=dt.timedelta(seconds=13.5),
        search=dt.timedelta(seconds=54),
        search_idle=dt.timedelta(minutes=5) - dt.timedelta(seconds=6),
        search_rest=dt.timedelta(minutes=15) - dt.timedelta(seconds=6),
        archived=dt.timedelta(days=1) - dt.timedelta(seconds=6),
        finished=dt.timedelta(minutes=15) - dt.timedelta(seconds=6),
    )


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        pytest.param(None, True, id="never"),
        pytest.param(at(-59), False, id="before the interval ends"),
        pytest.param(at(-60), True, id="at its end"),
        pytest.param(NOON, False, id="just now"),
        pytest.param(at(1), True, id="a time still to come"),
    ],
)
def test_a_time_still_to_come_counts_as_long_ago(since, expected):
    assert has_passed(since, dt.timedelta(minutes=1), now=NOON) is expected
