"""What the daemon says of its circuits, and what closing them by hand does."""

import pytest

from prwatch.app.command.circuits import list_circuits, parse_row, reset_circuits
from prwatch.errors import NotFound
from prwatch.simulator.faults import Fault
from tests.product import MovedClock, open_product
from tests.simulation.scenarios import make_world

DEAD = '[[workspace]]\nname = "dead"\ntoken_env = "NOTHING"'


async def test_each_circuit_is_known_by_what_people_call_it(tmp_path):
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world, tasks=DEAD) as product:
        await product.cycle()
        world.faults.add(Fault(kind="not_found", target="octo/hello#12"))
        await product.cycle()
        rows = list_circuits(product.runtime)

    told = [(row.kind, row.workspace, row.name, row.failure_class) for row in rows]
    assert told == [
        ("workspace", "dead", "", "auth"),
        ("record", "acme", "octo/hello#12", "config"),
    ]
    assert rows[0].retry_at is None
    assert rows[1].retry_at > rows[1].opened_at
    assert [parse_row(row.as_json()) for row in rows] == rows


async def test_circuits_are_closed_for_one_workspace_or_for_all(tmp_path):
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        await product.cycle()
        closed = []
        for workspace in ("acme", ""):
            world.faults.add(Fault(kind="not_found", target="octo/hello#12"))
            await product.cycle()
            closed.append(reset_circuits(product.runtime, workspace))
            closed.append(reset_circuits(product.runtime, workspace))
        with pytest.raises(NotFound, match="no workspace nobody is configured"):
            reset_circuits(product.runtime, "nobody")

    assert closed == [1, 0, 1, 0]
