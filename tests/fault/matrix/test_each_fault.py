"""Each kind of fault alone: nothing false, nothing lost, and all well soon after."""

import pytest

from prwatch.simulator.faults import KINDS
from tests.fault.matrix.catalogue import CATALOGUE
from tests.fault.matrix.fault_run import FaultRun
from tests.fault.matrix.stages import SimulatedStage

SEED = 1


def test_the_catalogue_holds_every_kind():
    assert {kind.name for kind in CATALOGUE} == KINDS


@pytest.mark.parametrize("read_path", ["graphql", "rest"])
@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.name)
async def test_a_fault_costs_only_the_time_that_it_lasts(tmp_path, kind, read_path):
    run = FaultRun(tmp_path, SimulatedStage(), (kind,), seed=SEED, read_path=read_path)

    result = await run.run()

    assert result.findings == []
    assert result.requests <= run.most_requests
    assert result.events > 0
