import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.circuit import (
    BACKOFFS,
    TRANSITIONS,
    Cause,
    Circuit,
    CircuitState,
    begin_probe,
    give_back,
    is_abandoned,
    is_open,
    trip,
)
from prwatch.domain.outcome import FailureClass

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
REFUSED = Cause(failure_class=FailureClass.AUTH, code="refused", message="refused")
BROKEN = Cause(failure_class=FailureClass.TRANSIENT, code="down", message="down")


def fail_again(circuit, cause, now, times):
    """Fail each probe as soon as it may go; return the waits in minutes."""
    waits = []
    for _ in range(times):
        circuit = trip(
            circuit and begin_probe(circuit), cause, now=now, chance_value=0.0
        )
        waits.append((circuit.open_until - now) / MINUTE)
        now = circuit.open_until
    return waits


@pytest.mark.parametrize(
    ("failure_class", "minutes"),
    [
        pytest.param("transient", [0.5, 1, 2, 4, 8, 10, 10], id="time helps"),
        pytest.param("config", [10, 20, 40, 80, 160, 320, 360, 360], id="an edit"),
        pytest.param("auth", [5, 10, 20, 40, 60, 60], id="a person"),
    ],
)
def test_the_wait_grows_from_probe_to_probe(failure_class, minutes):
    cause = Cause(failure_class=FailureClass(failure_class), code="c", message="m")

    assert fail_again(None, cause, NOON, len(minutes)) == minutes


def test_a_dead_token_costs_few_probes_in_an_hour():
    waits = fail_again(None, REFUSED, NOON, 10)
    moments = [sum(waits[:count]) for count in range(len(waits))]

    assert sum(moment < 60 for moment in moments) == 4


def test_chance_adds_up_to_a_quarter():
    late = trip(None, REFUSED, now=NOON, chance_value=1.0)

    assert late.open_until == NOON + 6.25 * MINUTE


def test_a_failure_of_a_request_that_was_on_its_way_says_nothing_new():
    circuit = trip(None, REFUSED, now=NOON, chance_value=0.0)

    again = trip(circuit, REFUSED, now=NOON + MINUTE, chance_value=0.0)

    assert again is circuit


def test_a_failure_of_another_class_begins_a_new_row():
    circuit = trip(None, REFUSED, now=NOON, chance_value=0.0)
    later = circuit.open_until

    circuit = trip(begin_probe(circuit), BROKEN, now=later, chance_value=0.0)

    assert (circuit.failures, circuit.open_until - later) == (1, MINUTE / 2)
    assert circuit.opened_at == NOON


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        pytest.param(NOON, True, id="as it opens"),
        pytest.param(NOON + 4.9 * MINUTE, True, id="before its time"),
        pytest.param(NOON + 5 * MINUTE, False, id="at its time"),
        pytest.param(NOON + 600 * MINUTE, False, id="long after"),
        pytest.param(NOON - 60 * MINUTE, True, id="an hour before, and it may be"),
        pytest.param(NOON - 80 * MINUTE, False, id="longer than any wait"),
    ],
)
def test_it_lets_nothing_through_before_its_time(moment, expected):
    circuit = trip(None, REFUSED, now=NOON, chance_value=0.0)

    assert is_open(circuit, moment) is expected


def test_a_probe_that_nobody_reported_on_may_go_again():
    circuit = trip(None, REFUSED, now=NOON, chance_value=0.0)

    returned = give_back(begin_probe(circuit))

    assert returned == circuit


def test_a_rate_limit_opens_no_circuit():
    with pytest.raises(ValueError, match="limit opens no circuit"):
        Cause(failure_class=FailureClass.LIMIT, code="c", message="m")


def test_one_is_abandoned_when_its_longest_wait_has_passed_after_its_time():
    circuit = trip(None, REFUSED, now=NOON, chance_value=1.0)
    late = circuit.open_until + BACKOFFS[FailureClass.AUTH].longest

    assert not is_abandoned(circuit, late)
    assert is_abandoned(circuit, late + MINUTE)
    assert not is_abandoned(begin_probe(circuit), late + MINUTE)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["fail", "probe", "give back"]),
            st.sampled_from(sorted(BACKOFFS)),
            st.floats(0, 1),
            st.integers(0, 10**6),
        ),
        max_size=30,
    )
)
def test_every_step_is_one_that_the_table_allows(steps):
    circuit: Circuit | None = None
    now = NOON
    for action, failure_class, chance_value, seconds in steps:
        now += dt.timedelta(seconds=seconds)
        before = circuit.state if circuit else CircuitState.CLOSED
        if action == "fail":
            cause = Cause(failure_class=failure_class, code="c", message="m")
            circuit = trip(circuit, cause, now=now, chance_value=chance_value)
            # One that was open already keeps its cause and its time.
            longest = BACKOFFS[circuit.cause.failure_class].longest
            assert now < circuit.open_until <= now + longest * 2
        elif circuit is not None and action == "probe" and not is_open(circuit, now):
            circuit = begin_probe(circuit)
        elif circuit is not None and circuit.state is CircuitState.HALF_OPEN:
            circuit = give_back(circuit)
        after = circuit.state if circuit else CircuitState.CLOSED
        assert after is before or after in TRANSITIONS[before]
