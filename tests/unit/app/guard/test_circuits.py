import datetime as dt
import random

import pytest

from prwatch.app.guard.admission import name_found
from prwatch.app.guard.circuits import (
    MAX_FAILURES,
    CircuitKey,
    Circuits,
    close_abandoned,
)
from prwatch.app.walk.cycle_report import Failure
from prwatch.domain.circuit import Cause, CircuitKind, CircuitState
from prwatch.domain.outcome import FailureClass
from tests.product import MovedClock

REFUSED = Cause(failure_class=FailureClass.AUTH, code="refused", message="refused")
DOWN = Cause(failure_class=FailureClass.TRANSIENT, code="down", message="down")
ACME = CircuitKey(CircuitKind.WORKSPACE, "acme")
HOST = CircuitKey(CircuitKind.HOST, "", "github.com")
OCTO = CircuitKey(CircuitKind.ORGANISATION, "acme", "octo")
ONE = CircuitKey(CircuitKind.RECORD, "acme", "watch-1")
PRESENT = {"acme": "f1"}
WAIT = 6.25 * 60
"""Seconds after which a refused token is tried again at the latest."""


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def circuits(clock):
    made = Circuits(clock, random.Random(0))
    made.begin_cycle(PRESENT)
    return made


def make_failure(number=1):
    return Failure(
        workspace="acme",
        scope="record",
        reference=f"octo/hello#{number}",
        failure_class=FailureClass.CONFIG,
        code="not_found",
        message="not found",
    )


def states(circuits):
    return {key: circuit.state for key, circuit in circuits.items()}


def test_what_never_failed_is_admitted_and_costs_nothing(circuits):
    assert circuits.admit(ACME)
    assert (len(circuits), circuits.is_quiet) == (0, True)


def test_an_open_circuit_admits_nothing_and_counts_it(circuits):
    circuits.trip(ACME, REFUSED)

    assert [circuits.admit(ACME) for _ in range(3)] == [False] * 3
    assert circuits.skips == {(CircuitKind.WORKSPACE, FailureClass.AUTH): 3}
    assert (
        circuits.opens
        == circuits.failures
        == {(CircuitKind.WORKSPACE, FailureClass.AUTH): 1}
    )


def test_after_its_time_one_probe_goes(circuits, clock):
    circuits.trip(OCTO, REFUSED)
    clock.advance(WAIT)

    assert [circuits.admit(OCTO) for _ in range(3)] == [True, False, False]
    assert states(circuits) == {OCTO: CircuitState.HALF_OPEN}


def test_everybody_who_asks_for_a_record_in_that_cycle_is_its_probe(circuits, clock):
    circuits.trip(ONE, DOWN)
    clock.advance(WAIT)

    assert [circuits.admit(ONE) for _ in range(3)] == [True] * 3


def test_a_probe_that_nobody_reported_on_goes_again_in_the_next_cycle(circuits, clock):
    circuits.trip(ACME, REFUSED)
    clock.advance(WAIT)
    circuits.admit(ACME)

    circuits.begin_cycle(PRESENT)

    assert circuits.admit(ACME)


def test_a_success_closes_and_is_told_once(circuits, clock):
    circuits.trip(ACME, REFUSED)
    clock.advance(WAIT)
    circuits.admit(ACME)
    circuits.succeed(ACME)
    circuits.succeed(ACME)

    news = circuits.news.take()

    assert [(one.key, one.circuit is None) for one in news] == [
        (ACME, False),
        (ACME, True),
    ]
    assert circuits.news.take() == []
    assert circuits.resets == {(CircuitKind.WORKSPACE, FailureClass.AUTH): 1}
    assert circuits.is_quiet


def test_a_failing_probe_is_no_news(circuits, clock):
    circuits.trip(ACME, REFUSED)
    circuits.news.take()
    clock.advance(WAIT)
    circuits.admit(ACME)

    circuits.trip(ACME, REFUSED)

    assert circuits.news.take() == []
    assert circuits.find(ACME).failures == 2
    assert circuits.opens[CircuitKind.WORKSPACE, FailureClass.AUTH] == 1


def test_records_are_not_told(circuits):
    circuits.trip(ONE, DOWN)
    circuits.succeed(ONE)

    assert circuits.news.take() == []


def test_a_changed_connection_begins_anew(circuits):
    for key in (ACME, OCTO, ONE, HOST):
        circuits.trip(key, REFUSED)

    circuits.begin_cycle({"acme": "f2"})

    assert states(circuits) == {HOST: CircuitState.OPEN}


def test_nothing_leaks_when_a_workspace_vanishes(circuits):
    for key in (ACME, OCTO, ONE):
        circuits.trip(key, REFUSED, failures=[make_failure()])

    circuits.begin_cycle({"other": "f1"})
    circuits.begin_cycle(PRESENT)

    assert len(circuits) == 0
    assert circuits.is_quiet
    assert circuits.list_shown() == []


def test_nothing_leaks_when_records_and_hosts_vanish(circuits):
    circuits.trip(ONE, DOWN)
    circuits.trip(HOST, DOWN)

    circuits.keep_only(CircuitKind.RECORD, {"watch-2"})
    circuits.keep_only(CircuitKind.HOST, {"git.example"})

    assert len(circuits) == 0


def test_a_record_that_was_found_is_kept_as_long_as_its_finder(circuits):
    found = CircuitKey(CircuitKind.RECORD, "acme", name_found("list/r1/", "PR_1"))
    circuits.trip(found, DOWN)

    circuits.keep_only(CircuitKind.RECORD, {"list/r1/"})
    assert circuits.find(found) is not None
    circuits.keep_only(CircuitKind.RECORD, {"list/r2/"})
    assert circuits.find(found) is None


def test_what_was_told_of_a_host_is_forgotten_with_it(circuits):
    circuits.news.told.update({HOST, OCTO})

    circuits.keep_only(CircuitKind.HOST, {"git.example"})

    assert circuits.news.told == {OCTO}


def test_what_nobody_asks_for_any_more_is_closed_and_told(circuits, clock):
    for key in (ACME, OCTO, ONE, HOST):
        circuits.trip(key, REFUSED)
    circuits.news.take()
    clock.advance(dt.timedelta(hours=1, minutes=16).total_seconds())
    close_abandoned(circuits, clock.now())
    kept = len(circuits)
    clock.advance(dt.timedelta(hours=2).total_seconds())
    circuits.admit(ONE)
    close_abandoned(circuits, clock.now())

    assert kept == 4
    assert {key for key, _ in circuits.items()} == {ACME, ONE, HOST}
    assert [(one.key, one.circuit) for one in circuits.news.take()] == [(OCTO, None)]


def test_a_record_that_was_edited_begins_anew(circuits):
    circuits.trip(ONE, DOWN, subject=1)

    assert not circuits.admit(ONE, subject=1)
    assert circuits.admit(ONE, subject=2)
    assert len(circuits) == 0


def test_a_recovery_that_an_earlier_process_did_not_see_is_told(circuits):
    circuits.news.told.add(OCTO)

    assert not circuits.is_quiet
    circuits.succeed(OCTO)

    assert [(one.key, one.circuit) for one in circuits.news.take()] == [(OCTO, None)]


def test_failures_stand_until_their_circuit_is_closed(circuits, clock):
    circuits.trip(OCTO, REFUSED, failures=[make_failure(1)])
    circuits.trip(OCTO, REFUSED, failures=[make_failure(2)])

    assert circuits.list_shown() == [make_failure(1), make_failure(2)]
    clock.advance(WAIT)
    circuits.admit(OCTO)
    assert len(circuits.list_shown()) == 2
    circuits.succeed(OCTO)
    assert circuits.list_shown() == []


def test_only_so_many_failures_are_kept(circuits):
    shown = [make_failure(number) for number in range(MAX_FAILURES + 5)]

    circuits.trip(OCTO, REFUSED, failures=shown)

    assert circuits.list_shown() == shown[:MAX_FAILURES]


def test_what_is_open_is_counted_by_kind_and_class(circuits):
    for key in (ACME, OCTO, ONE, HOST):
        circuits.trip(key, REFUSED)

    assert circuits.count_open() == {
        (kind, FailureClass.AUTH): 1 for kind in CircuitKind
    }


def test_the_widest_comes_first(circuits):
    for key in (ONE, OCTO, ACME, HOST):
        circuits.trip(key, REFUSED)

    assert [key for key, _ in circuits.items()] == [HOST, ACME, OCTO, ONE]
