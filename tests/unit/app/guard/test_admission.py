"""Which outcomes of single things open a circuit."""

import random
from types import SimpleNamespace

import pytest

from prwatch.app.guard.admission import Asked, note_missing
from prwatch.app.guard.circuits import Circuits
from prwatch.domain.outcome import Forbidden, NotFound, Retry, Unreadable
from prwatch.domain.task import Workspace
from tests.product import MovedClock


@pytest.mark.parametrize(
    ("missing", "is_young", "opened"),
    [
        pytest.param(Retry("limit", code="rate_limited"), False, [], id="a limit"),
        pytest.param(NotFound(), True, [], id="not known yet"),
        pytest.param(NotFound(), False, ["record"], id="not there"),
        pytest.param(Unreadable("null"), False, ["record"], id="unreadable"),
        pytest.param(Forbidden("no"), False, ["record"], id="forbidden"),
        pytest.param(
            Forbidden("sso", "organisation"), False, ["organisation"], id="sso"
        ),
        pytest.param(Forbidden("gone", "token"), False, ["workspace"], id="the token"),
    ],
)
def test_the_narrowest_circuit_opens_and_none_for_a_limit(missing, is_young, opened):
    reported = []
    circuits = Circuits(MovedClock(), random.Random(0))
    cycle = SimpleNamespace(
        circuits=circuits, report=SimpleNamespace(add_failure=reported.append)
    )
    view = SimpleNamespace(workspace=Workspace(id="w1", name="acme"))
    asked = Asked(
        view=view, reference="octo/hello#12", record="watch-1", is_young=is_young
    )

    note_missing(cycle, asked, missing)

    assert [key.kind.value for key, _ in circuits.items()] == opened
    assert len(reported) == 1
