"""Reports about clean-up: what is still at work is left alone, whatever it looks like."""

import pytest

from prwatch.simulator import World
from tests.cleanup import ask, open_found, sweeps, tasks, write
from tests.product import MovedClock

SESSION = "INSERT INTO sessions SELECT 's', id, 's', ?, 1, ? FROM tasks"


# Untrivial-ai/agent-orchestrator#146
@pytest.mark.parametrize("policy", ["auto", "always"])
@pytest.mark.parametrize(
    ("state", "ended_at"),
    [("starting", None), ("running", None), ("failed", 2), ("ended", 2), ("", None)],
)
async def test_j2_an_open_pull_request_keeps_its_task_whatever_its_session_is(
    tmp_path, policy, state, ended_at
):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    one = ask(world)
    async with open_found(tmp_path, world, policy=policy) as (product, cleanup):
        if state:
            write(product, SESSION, state, ended_at)
        gone = await sweeps(product, cleanup, 12)
        kept = tasks(product), len(product.ask("SELECT * FROM sessions"))
        world.merge(one)
        done = await sweeps(product, cleanup)

    assert (gone, kept) == (0, (["review:octo/hello#1"], int(bool(state))))
    assert done == 1
