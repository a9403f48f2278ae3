"""What the daemon says of its circuits, and what closing them by hand does."""

import contextlib
import dataclasses

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.command.circuit_row import parse_row
from prwatch.app.command.circuits import (
    list_circuits,
    read_circuits,
    request_reset,
    reset_circuits,
)
from prwatch.app.command.workbench import Workbench
from prwatch.app.meter.metering import follow_cleanup
from prwatch.app.sync.sync_loop import sync_due
from prwatch.errors import NotFound
from prwatch.simulator import World
from prwatch.simulator.faults import Fault
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter, RunningTotals
from tests.cleanup import MINE, ask, open_found, sweep
from tests.followed import SYNC
from tests.product import MovedClock, open_product
from tests.simulation.scenarios import make_world

DEAD = '[[workspace]]\nname = "dead"\ntoken_env = "NOTHING"'
BOTH = f"{SYNC}\n\n{MINE}"
FOLDER = ("watch_folder", "acme", "octo/team:.prwatch", "config")
ALL = [
    ("review_cleanup", "acme", "", "transient"),
    ("review_task", "acme", "octo/hello#1", "config"),
    FOLDER,
]


def tell(rows):
    return [(row.kind, row.workspace, row.name, row.failure_class) for row in rows]


async def list_all(product, cleanup):
    return tell(await list_circuits(product.runtime, cleanup))


@contextlib.asynccontextmanager
async def open_failing(tmp_path):
    """Open a product that cannot read a review, then any, nor its watch files."""
    world = World(MovedClock())
    world.add_repository("octo/hello")
    ask(world, 1)
    ask(world, 2)
    async with open_found(tmp_path, world, reviews=BOTH) as (product, cleanup):
        world.faults.add("partial_not_found;numbers=1;times=1;match=ReviewEnds")
        await sweep(product, cleanup)
        world.faults.add("html502;times=none;match=ReviewEnds")
        await sweep(product, cleanup)
        await sync_due(product.runtime)
        yield product, cleanup


async def test_each_circuit_is_known_by_what_people_call_it(tmp_path):
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world, tasks=DEAD) as product:
        cleanup = ReviewCleanup(product.runtime)
        await product.cycle()
        world.faults.add(Fault(kind="not_found", target="octo/hello#12"))
        await product.cycle()
        rows = await list_circuits(product.runtime, cleanup)

    assert tell(rows) == [
        ("workspace", "dead", "", "auth"),
        ("record", "acme", "octo/hello#12", "config"),
    ]
    assert rows[0].retry_at is None
    assert rows[1].retry_at > rows[1].opened_at
    assert [parse_row(row.as_json()) for row in rows] == rows


async def test_circuits_are_closed_for_one_workspace_or_for_all(tmp_path):
    world, _ = make_world(MovedClock())
    async with open_product(tmp_path, world) as product:
        cleanup = ReviewCleanup(product.runtime)
        await product.cycle()
        closed = []
        for workspace in ("acme", ""):
            world.faults.add(Fault(kind="not_found", target="octo/hello#12"))
            await product.cycle()
            closed += [
                await reset_circuits(product.runtime, cleanup, workspace)
                for _ in range(2)
            ]
        with pytest.raises(NotFound, match="no workspace nobody is configured"):
            await reset_circuits(product.runtime, cleanup, "nobody")

    assert closed == [1, 0, 1, 0]


@pytest.mark.parametrize("workspace", ["acme", ""])
async def test_what_cleaning_up_and_watch_files_leave_out_is_shown_and_closed(
    tmp_path, workspace
):
    async with open_failing(tmp_path) as (product, cleanup):
        rows = await list_circuits(product.runtime, cleanup)
        closed = await reset_circuits(product.runtime, cleanup, workspace)
        left = await list_circuits(product.runtime, cleanup)
        (look,) = await sync_due(product.runtime)
        again = await reset_circuits(product.runtime, cleanup, workspace)

    assert tell(rows) == ALL
    assert all(row.opened_at < row.retry_at for row in rows)
    assert [parse_row(row.as_json()) for row in rows] == rows
    assert (closed, left, again) == (3, [], 1)
    assert look.code == "resource_gone"


async def test_what_is_closed_is_counted_for_metrics(tmp_path):
    meter = Meter()
    async with open_failing(tmp_path) as (product, cleanup):
        await reset_circuits(product.runtime, cleanup, "")
        follow_cleanup(RunningTotals(meter), cleanup)

    kinds = {("shared", "transient"): 1, ("record", "config"): 1}
    for metric in (
        metrics.CLEANUP_OPENS,
        metrics.CLEANUP_FAILURES,
        metrics.CLEANUP_RESETS,
    ):
        assert {k: v for k, v in meter.values(metric) if v} == kinds


async def test_closing_those_of_another_workspace_leaves_them(tmp_path):
    async with open_failing(tmp_path) as (product, cleanup):
        beside = dataclasses.replace(
            product.runtime.wired.workspaces["acme"], id="w2", name="other"
        )
        product.runtime.wired.workspaces["other"] = beside
        closed = await reset_circuits(product.runtime, cleanup, "other")

        assert (closed, await list_all(product, cleanup)) == (0, ALL)


async def test_a_restart_keeps_those_of_watch_files_alone(tmp_path):
    async with open_failing(tmp_path) as (product, _):
        clock = product.clock
    async with open_product(tmp_path, World(clock), watches=(), tasks=BOTH) as product:
        rows = await list_all(product, ReviewCleanup(product.runtime))

    assert rows == [FOLDER]


async def test_without_a_daemon_those_that_are_stored_are_shown_and_closed(tmp_path):
    async with open_failing(tmp_path) as (product, _):
        runtime = product.runtime
        bench = Workbench(
            config=runtime.config,
            surroundings=runtime.surroundings,
            database=runtime.database,
        )
        rows, is_live = await read_circuits(bench)
        closed = [await request_reset(bench, "acme") for _ in range(2)]
        left, _ = await read_circuits(bench)
        with pytest.raises(NotFound):
            await request_reset(bench, "nobody")

    assert (tell(rows), is_live, left) == ([FOLDER], False, [])
    assert [(each.count, each.is_live) for each in closed] == [(1, False), (0, False)]
