"""A store that refuses writes: nothing half done, and all of it done once it can be."""

import pytest

from prwatch.errors import StoreError
from prwatch.simulator import World
from tests.cleanup import (
    DRY,
    ask,
    open_found,
    rows,
    sweep,
    sweeps,
    tasks,
    verdicts,
    write,
)
from tests.product import MovedClock


@pytest.fixture
def world():
    world = World(MovedClock())
    world.add_repository("octo/hello")
    return world


@pytest.mark.parametrize("seen", [0, 1], ids=["noting", "removing"])
async def test_what_cannot_be_written_is_told_and_done_later(tmp_path, world, seen):
    ones = [ask(world, number) for number in range(1, 4)]
    async with open_found(tmp_path, world) as (product, cleanup):
        for one in ones:
            world.merge(one)
        for _ in range(seen):
            await sweep(product, cleanup)
        before = tasks(product), rows(product)
        with product.refused_writes():
            dry = await sweep(product, cleanup, DRY)
            refused = [await sweep(product, cleanup) for _ in range(3)]
        after = tasks(product), rows(product)
        record = product.ask("SELECT * FROM review_audit")
        gone = await sweeps(product, cleanup, 2)

    assert (dry.error, dry.failures) == (None, [])
    assert all(isinstance(report.error, StoreError) for report in refused)
    assert all(report.failures for report in refused)
    assert (after, record) == (before, [])
    assert gone == len(ones)


async def test_a_row_that_cannot_be_dropped_keeps_no_other(tmp_path, world):
    one, _ = ask(world, 1), ask(world, 2)
    async with open_found(tmp_path, world) as (product, cleanup):
        world.merge(one)
        write(product, "DELETE FROM tasks WHERE external_id = 'review:octo/hello#2'")
        write_trigger = (
            "CREATE TRIGGER hook BEFORE DELETE ON review_tasks WHEN old.pr_number = 2"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        with product.connect() as connection:
            connection.execute(write_trigger)
        reports = [await sweep(product, cleanup) for _ in range(3)]
        told = verdicts(reports[-1])
        with product.connect() as connection:
            connection.execute("DROP TRIGGER hook")
        await sweep(product, cleanup)

        assert sum(report.deleted for report in reports) == 1
        assert told == {"failed": 1}
        assert all(isinstance(report.error, StoreError) for report in reports)
        assert rows(product) == []
