"""The stand-in's faults, each for twenty minutes, and pairs of them through a day."""

import os
import random

import pytest

from tests.fault.matrix.catalogue import STANDIN
from tests.fault.matrix.fault_run import FaultRun
from tests.fault.matrix.script import write_day
from tests.fault.matrix.stages import StandinStage

STANDIN_URL = os.environ.get("PRWATCH_STANDIN_URL", "")
SEED = 1
PAIRS = 60

pytestmark = [
    pytest.mark.standin,
    pytest.mark.skipif(not STANDIN_URL, reason="PRWATCH_STANDIN_URL is not set"),
    pytest.mark.xdist_group("standin"),
    pytest.mark.timeout(900),
]


@pytest.fixture
def stage():
    found = StandinStage(STANDIN_URL)
    yield found
    found.close()


@pytest.mark.parametrize("read_path", ["graphql", "rest"])
@pytest.mark.parametrize("kind", STANDIN, ids=lambda kind: kind.name)
async def test_a_fault_of_the_stand_in_costs_only_the_time_that_it_lasts(
    tmp_path, stage, kind, read_path
):
    run = FaultRun(tmp_path, stage, (kind,), seed=SEED, read_path=read_path)

    result = await run.run()

    assert result.findings == []
    assert result.requests <= run.most_requests
    assert result.events > 0


def choose_pair(seed):
    """Return two kinds and a read path; most of the days are GraphQL's."""
    chance = random.Random(seed)
    return chance.sample(STANDIN, 2), "rest" if seed % 8 == 7 else "graphql"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PAIRS))
async def test_a_day_with_two_faults_at_once_ends_as_the_world_is(
    tmp_path, stage, seed
):
    kinds, read_path = choose_pair(seed)
    script = write_day(seed)
    run = FaultRun(
        tmp_path, stage, kinds, seed=seed, read_path=read_path, script=script
    )

    result = await run.run()

    names = [kind.name for kind in kinds]
    assert (names, result.findings) == (names, [])
    assert result.requests <= run.most_requests
