"""What GitHub does not know: too new at first, later somebody's mistake."""

import pytest

from tests.product import BRANCH, ONE, MovedClock, open_product
from tests.simulation.scenarios import make_world

MISSING = ONE.replace("12", "99")
NO_REPOSITORY = BRANCH.replace("octo/hello", "octo/gone")


@pytest.mark.parametrize("is_restarted", [False, True], ids=["run", "cycles"])
@pytest.mark.parametrize("read_path", ["graphql", "rest"])
@pytest.mark.parametrize("watch", [MISSING, NO_REPOSITORY], ids=["number", "branch"])
async def test_it_is_a_mistake_once_it_is_missing_for_two_minutes(
    tmp_path, watch, read_path, is_restarted
):
    world, _ = make_world(MovedClock())
    config = {"watches": (watch,), "poll": f'read_path = "{read_path}"'}
    found = []

    def note(product):
        found.extend(
            (str(one.failure_class), one.code) for one in product.report.failures
        )

    if is_restarted:
        for seed in range(4):
            async with open_product(tmp_path, world, seed=seed, **config) as product:
                await product.cycle(gap=70.0)
                note(product)
    else:
        async with open_product(tmp_path, world, **config) as product:
            for _ in range(4):
                await product.cycle(gap=70.0)
                note(product)

    young, old = ("transient", "not_found"), ("config", "not_found")
    assert found == [young, young, old, old]
