"""The loop that follows folders: whom it tells, and how it takes a store that fails."""

import anyio
import pytest

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.sync.sync_loop import SyncLoop, sync_now
from prwatch.errors import ConfigError
from tests.followed import HELLO, follow, make_team, write


async def run_until(product, *, on_change=lambda: None, turns=0):
    """Run the loop until it was told to end, or so many turns have begun."""
    registry = LoopRegistry(product.clock)
    registry.begin_run(SyncLoop.name, None)
    beats = 0

    def beat():
        nonlocal beats
        beats += 1
        if turns and beats >= turns:
            scope.cancel()

    def end():
        on_change()
        scope.cancel()

    with anyio.CancelScope() as scope:
        await SyncLoop(product.runtime, registry, on_change=end).run(beat)
    (facts,) = registry.list_facts()
    return facts


async def test_it_tells_when_other_things_are_watched(tmp_path):
    world = make_team()
    write(world, HELLO)
    told = []
    async with follow(tmp_path, world) as product:
        facts = await run_until(product, on_change=lambda: told.append("changed"))

    assert told == ["changed"]
    assert facts.failures == 0


async def test_a_store_that_fails_is_a_failed_turn_and_no_end(tmp_path):
    world = make_team()
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        with product.refused_writes():
            facts = await run_until(product, turns=9)

    assert facts.failures > 0
    assert facts.failure_code == "store_conflict"


async def test_a_workspace_that_follows_nothing_is_told(tmp_path):
    async with follow(tmp_path, make_team()) as product:
        with pytest.raises(ConfigError, match="workspace corp follows no folder"):
            await sync_now(product.runtime, "corp")
    async with follow(tmp_path, make_team(), sync="") as product:
        with pytest.raises(ConfigError, match="no workspace follows a folder"):
            await sync_now(product.runtime)
