"""Which circuit a walk that failed as a whole opens."""

from types import SimpleNamespace

import pytest

from prwatch.app.guard.circuits import CircuitKey, Circuits
from prwatch.app.walk.account_outcome import (
    AccountOutcome,
    classify_error,
    record_outcomes,
)
from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.domain.circuit import CircuitKind
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Workspace
from prwatch.errors import (
    AuthenticationFailed,
    NoProgress,
    PermissionDenied,
    ProtocolViolation,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
)
from tests.product import NOON, MovedClock

HOST = CircuitKey(CircuitKind.HOST, "", "github.com")
SILENT = ProviderUnavailable("no connection", scope="host")
DOWN = ProviderUnavailable("502", scope="host", status=502)
STUCK = NoProgress("nothing for 120 s", scope="host")
REFUSED = AuthenticationFailed("refused", status=401)
NO_TOKEN = AuthenticationFailed("no token")
DENIED = PermissionDenied("denied", status=403)
UNTRUSTED = ProtocolViolation("certificate", scope="host")
STRANGE = ProtocolViolation("400", scope="host", status=400)
LIMITED = RateLimited("limited", bucket="graphql", retry_at=None)
GOOD, IDLE = "good", "idle"
BEGUN = {"cycle_id": "c", "started_at": NOON}


class Even:
    def random(self):
        return 0.0


def record(*walks, is_probe=False, is_alone=False, circuits=None, reported=()):
    """Record what the walks of accounts w0, w1, … came to; return what is open."""
    circuits = Circuits(MovedClock(), Even()) if circuits is None else circuits
    cycle = SimpleNamespace(circuits=circuits, report=CycleReport(**BEGUN))
    for failure in reported:
        cycle.report.add_failure(failure)
    outcomes = []
    for index, walk in enumerate(walks):
        is_late = isinstance(walk, tuple)
        error = walk[0] if is_late else walk
        outcomes.append(
            AccountOutcome(
                account=SimpleNamespace(key=f"a{index}"),
                workspaces=(Workspace(id=f"w{index}", name=f"w{index}"),),
                is_answered=is_late or walk == GOOD,
                error=None if error in {GOOD, IDLE} else error,
            )
        )
    record_outcomes(cycle, "github.com", outcomes, is_probe=is_probe, is_alone=is_alone)
    return {
        key.workspace_id or "host": circuit.cause.failure_class.value
        for key, circuit in circuits.items()
    }


@pytest.mark.parametrize(
    ("walks", "opened"),
    [
        pytest.param([GOOD, IDLE], {}, id="nothing failed"),
        pytest.param([REFUSED, GOOD], {"w0": "auth"}, id="a dead token"),
        pytest.param([REFUSED, REFUSED], {"w0": "auth", "w1": "auth"}, id="two"),
        pytest.param([NO_TOKEN], {"w0": "auth"}, id="a source that gives none"),
        pytest.param([DENIED], {"w0": "auth"}, id="all is denied"),
        pytest.param([LIMITED, GOOD], {}, id="a limit"),
        pytest.param([SILENT], {"w0": "transient"}, id="no answer for one of several"),
        pytest.param([SILENT, DOWN], {"host": "transient"}, id="no answer for two"),
        pytest.param([SILENT, GOOD], {"w0": "transient"}, id="one of two gets through"),
        pytest.param([SILENT, REFUSED], {"w0": "transient", "w1": "auth"}, id="or 401"),
        pytest.param([SILENT, LIMITED], {"w0": "transient"}, id="one is not asked"),
        pytest.param([DOWN], {"w0": "transient"}, id="an error of the server for one"),
        pytest.param([DOWN, DOWN], {"host": "transient"}, id="for everybody"),
        pytest.param([DOWN, IDLE], {"w0": "transient"}, id="for the only one asked"),
        pytest.param(
            [(DOWN,), (DOWN,)],
            {"w0": "transient", "w1": "transient"},
            id="for the heavy requests of everybody",
        ),
        pytest.param([(SILENT,)], {"w0": "transient"}, id="it broke off later"),
        pytest.param([UNTRUSTED], {"host": "config"}, id="a certificate"),
        pytest.param(
            [UNTRUSTED, REFUSED],
            {"host": "config", "w1": "auth"},
            id="a certificate and a dead token",
        ),
        pytest.param([STRANGE], {"w0": "transient"}, id="an answer we do not know"),
    ],
)
def test_the_narrowest_circuit_that_explains_it_opens(walks, opened):
    assert record(*walks) == opened


@pytest.mark.parametrize(
    ("walk", "opened"),
    [
        pytest.param(SILENT, {"host": "transient"}, id="no answer at all"),
        pytest.param(STUCK, {"host": "transient"}, id="no progress at all"),
        pytest.param(DOWN, {"w0": "transient"}, id="an error of the server"),
        pytest.param((SILENT,), {"w0": "transient"}, id="it broke off later"),
    ],
)
def test_the_only_account_of_a_host_cannot_be_compared(walk, opened):
    assert record(walk, is_alone=True) == opened


def test_two_accounts_that_fail_one_after_the_other_are_the_host():
    circuits = Circuits(MovedClock(), Even())

    assert record(SILENT, IDLE, circuits=circuits) == {"w0": "transient"}
    assert record(IDLE, SILENT, circuits=circuits) == {
        "host": "transient",
        "w0": "transient",
    }


def test_an_answer_in_between_shows_that_it_is_not_the_host():
    circuits = Circuits(MovedClock(), Even())
    record(SILENT, IDLE, circuits=circuits)
    record(IDLE, GOOD, circuits=circuits)

    assert "host" not in record(IDLE, SILENT, circuits=circuits)


@pytest.mark.parametrize(
    ("walk", "opened"),
    [
        pytest.param(DOWN, {"host": "transient"}, id="still down"),
        pytest.param(SILENT, {"host": "transient"}, id="still silent"),
        pytest.param(GOOD, {}, id="back"),
        pytest.param(REFUSED, {"w0": "auth"}, id="back, with a dead token"),
        pytest.param(LIMITED, {"host": "transient"}, id="nothing was sent"),
        pytest.param(IDLE, {"host": "transient"}, id="nothing was due"),
    ],
)
def test_the_probe_of_a_host_decides_for_everybody(walk, opened):
    circuits = Circuits(MovedClock(), Even())
    record(SILENT, is_alone=True, circuits=circuits)

    assert record(walk, is_probe=True, circuits=circuits) == opened


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(REFUSED, FailureClass.AUTH, id="a refused token"),
        pytest.param(DENIED, FailureClass.AUTH, id="all is denied"),
        pytest.param(UNTRUSTED, FailureClass.CONFIG, id="a certificate"),
        pytest.param(STRANGE, FailureClass.TRANSIENT, id="an answer we do not know"),
        pytest.param(ResourceGone("x"), FailureClass.TRANSIENT, id="nothing is there"),
        pytest.param(SILENT, FailureClass.TRANSIENT, id="unavailable"),
        pytest.param(LIMITED, FailureClass.LIMIT, id="a limit"),
    ],
)
def test_every_error_of_a_whole_request_has_one_class(error, expected):
    assert classify_error(error) is expected


def test_a_token_that_is_refused_beside_single_things_stays_left_out():
    circuits = Circuits(MovedClock(), Even())
    record(REFUSED, REFUSED, circuits=circuits)
    suspended = Failure(
        workspace="w0",
        scope="token",
        reference="octo/hello#12",
        failure_class=FailureClass.AUTH,
        code="account_suspended",
        message="the account is suspended",
    )

    opened = record(GOOD, GOOD, circuits=circuits, reported=[suspended])

    assert opened == {"w0": "auth"}


def test_a_good_walk_closes_the_circuits_of_its_workspaces():
    circuits = Circuits(MovedClock(), Even())
    record(REFUSED, REFUSED, circuits=circuits)

    assert record(GOOD, IDLE, circuits=circuits) == {"w1": "auth"}
