import datetime as dt

import pytest

from prwatch.domain.outbox import (
    TRANSITIONS,
    Dead,
    Delivered,
    DeliveryState,
    Retry,
    Settlement,
    decide,
    drop_superseded,
)
from tests.deliveries import EVENT_ID, NOON, make_delivery, make_event

SECOND = dt.timedelta(seconds=1)
HOUR = dt.timedelta(hours=1)


def settled(state, **changes):
    return Settlement(
        event_id=EVENT_ID, sink="out", lease_token="lease-1", state=state, **changes
    )


def wait_of(outcome, *, attempt=1, chance_value=0.0):
    settlement = decide(
        outcome, make_delivery(attempt=attempt), NOON, chance_value=chance_value
    )
    return settlement.due_at - NOON


def test_a_delivered_event_is_settled():
    assert decide(Delivered(), make_delivery(), NOON, chance_value=0.5) == settled(
        DeliveryState.DELIVERED
    )


def test_a_refused_event_is_dead_at_once():
    assert decide(Dead("gone"), make_delivery(), NOON, chance_value=0.5) == settled(
        DeliveryState.DEAD, error="gone"
    )


def test_a_failed_event_is_due_again_after_the_backoff():
    assert decide(Retry("busy"), make_delivery(), NOON, chance_value=0.0) == settled(
        DeliveryState.PENDING, due_at=NOON + 5 * SECOND, error="busy"
    )


@pytest.mark.parametrize(
    ("attempt", "seconds"),
    [
        pytest.param(1, 5, id="five seconds"),
        pytest.param(2, 10, id="doubling"),
        pytest.param(9, 1280, id="still doubling"),
        pytest.param(10, 1800, id="thirty minutes at most"),
        pytest.param(200, 1800, id="for ever"),
    ],
)
def test_waits_double_to_thirty_minutes(attempt, seconds):
    assert wait_of(Retry("busy"), attempt=attempt) == seconds * SECOND


def test_chance_adds_up_to_a_quarter():
    assert wait_of(Retry("busy"), attempt=3, chance_value=1.0) == 25 * SECOND


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(90 * SECOND, 90 * SECOND, id="a longer wish is honoured"),
        pytest.param(1 * SECOND, 5 * SECOND, id="a shorter one is not"),
        pytest.param(-9 * SECOND, 5 * SECOND, id="nor one in the past"),
        pytest.param(999 * HOUR, 6 * HOUR, id="a huge one is bounded"),
    ],
)
def test_what_the_sink_asked_for_is_honoured_within_bounds(after, expected):
    assert wait_of(Retry("busy", after)) == expected


@pytest.mark.parametrize(
    ("age", "state"),
    [
        pytest.param(72 * HOUR - SECOND, DeliveryState.PENDING, id="tried"),
        pytest.param(72 * HOUR, DeliveryState.DEAD, id="given up"),
        pytest.param(-5 * HOUR, DeliveryState.PENDING, id="clock went back"),
    ],
)
def test_a_delivery_is_given_up_after_72_hours(age, state):
    delivery = make_delivery(attempt=100)

    settlement = decide(Retry("busy"), delivery, NOON + age, chance_value=0.0)

    assert (settlement.state, settlement.error) == (state, "busy")


def test_a_success_counts_however_late_it_comes():
    late = NOON + 100 * HOUR

    assert decide(Delivered(), make_delivery(), late, chance_value=0.0) == settled(
        DeliveryState.DELIVERED
    )


def test_a_long_reason_is_cut():
    settlement = decide(Dead("x" * 9000), make_delivery(), NOON, chance_value=0.0)

    assert settlement.error == "x" * 500


@pytest.mark.parametrize(
    ("is_dropping", "is_superseded", "is_terminal", "expected"),
    [
        pytest.param(True, True, False, DeliveryState.DROPPED, id="dropped"),
        pytest.param(False, True, False, None, id="only marked"),
        pytest.param(True, False, False, None, id="still true"),
        pytest.param(True, True, True, None, id="terminal"),
    ],
)
def test_a_superseded_event_is_dropped_where_its_sink_asks_for_that(
    is_dropping, is_superseded, is_terminal, expected
):
    delivery = make_delivery(
        event=make_event(is_terminal=is_terminal), is_superseded=is_superseded
    )

    settlement = drop_superseded(delivery, is_dropping=is_dropping)

    assert settlement == (None if expected is None else settled(expected))


@pytest.mark.parametrize(
    "outcome",
    [Delivered(), Retry("busy"), Dead("gone")],
    ids=lambda o: type(o).__name__,
)
@pytest.mark.parametrize("age", [0 * HOUR, 73 * HOUR], ids=["young", "old"])
def test_every_decision_is_a_legal_move_of_a_held_delivery(outcome, age):
    settlement = decide(outcome, make_delivery(), NOON + age, chance_value=0.0)

    assert settlement.state in TRANSITIONS[DeliveryState.ACQUIRED]
    assert (settlement.due_at is not None) == (
        settlement.state is DeliveryState.PENDING
    )


def test_the_legal_moves_are_these_and_no_others():
    moves = {
        (previous.value, current.value)
        for previous, following in TRANSITIONS.items()
        for current in following
    }

    assert moves == {
        ("pending", "acquired"),
        ("acquired", "delivered"),
        ("acquired", "dropped"),
        ("acquired", "pending"),
        ("acquired", "dead"),
        ("dead", "pending"),
    }
    assert set(TRANSITIONS) == set(DeliveryState)
