"""Looks at the store: what they find, and a store that fails."""

import dataclasses

import msgspec
import pytest
import structlog.testing

from prwatch.app.daemon.loop_registry import LoopRegistry
from prwatch.app.meter.gauges import Gauges
from prwatch.errors import StoreUnavailable
from prwatch.simulator import World
from prwatch.telemetry.labels import TABLES
from tests.product import MovedClock, open_product

HOUR = 3600


@pytest.fixture
async def product(tmp_path):
    world = World(MovedClock())
    world.add_repository("octo/hello")
    world.open_pull_request("octo/hello", branch="fix", title="Greet", number=12)
    async with open_product(tmp_path, world) as product:
        yield product


@pytest.fixture
def gauges(product):
    registry = LoopRegistry(product.clock)
    registry.begin_run(Gauges.name, Gauges.deadline)
    return Gauges(product.runtime, registry)


def refuse(gauges, error):
    """Let the store of these gauges refuse to be written."""

    class Refusing:
        async def transact(self, fn):
            raise error

    gauges._runtime = dataclasses.replace(gauges._runtime, database=Refusing())


async def test_before_a_look_nothing_is_known(gauges):
    assert (gauges.facts.checked_at, gauges.facts.tables_at) == (None, None)
    assert gauges.facts.is_writable


async def test_a_whole_look_measures_every_table(gauges, product):
    await product.cycle()
    await gauges.look(is_whole=True)

    facts = gauges.facts
    sizes = {table.name: table for table in facts.tables}
    assert set(sizes) == set(TABLES)
    assert (sizes["pr_watches"].rows, sizes["events"].rows) == (1, 1)
    (row,) = product.ask("SELECT length(data) AS length FROM events")
    assert row["length"] < sizes["events"].size_bytes < row["length"] + 1000
    assert sizes["sessions"].size_bytes == 0
    assert facts.tables_at == facts.checked_at == product.clock.now()


async def test_a_small_look_leaves_the_tables_alone(gauges, product):
    await gauges.look(is_whole=False)

    assert (gauges.facts.tables, gauges.facts.tables_at) == ([], None)
    assert gauges.facts.checked_at == product.clock.now()


async def test_what_waits_is_counted_with_its_age(gauges, product):
    await product.cycle()
    world_time = product.clock.now()
    await gauges.look(is_whole=False)
    before = [(each.deliveries, each.oldest_at) for each in gauges.facts.waiting]
    with product.connect() as connection:
        connection.execute("UPDATE deliveries SET state = 'pending', due_at = 1")
    await gauges.look(is_whole=False)
    (waiting,) = gauges.facts.waiting

    assert before == [(0, None)]
    assert (waiting.sink, waiting.deliveries, waiting.oldest_at) == (
        "out",
        1,
        world_time,
    )


async def test_dead_deliveries_are_counted(gauges, product):
    await product.cycle()
    with product.connect() as connection:
        connection.execute("UPDATE deliveries SET state = 'dead'")
    await gauges.look(is_whole=True)

    assert gauges.facts.dead == 1


async def test_the_files_and_the_disk_are_measured(gauges, tmp_path):
    await gauges.look(is_whole=False)

    facts = gauges.facts
    assert facts.database_bytes == (tmp_path / "prwatch.db").stat().st_size
    assert facts.wal_bytes == (tmp_path / "prwatch.db-wal").stat().st_size
    assert facts.free_bytes > 0


async def test_a_look_writes_nothing(gauges, product):
    with product.refused_writes():
        before = product.runtime.database.rows_written
        await gauges.look(is_whole=True)

    assert gauges.facts.is_writable
    assert product.runtime.database.rows_written == before


async def test_a_store_that_refuses_is_told_once_and_once_that_it_takes_again(
    gauges, product
):
    whole = gauges._runtime
    with structlog.testing.capture_logs() as logs:
        await gauges.look(is_whole=False)
        refuse(gauges, StoreUnavailable("the disk is full"))
        for _ in range(3):
            await gauges.look(is_whole=True)
        refused = gauges.facts.is_writable
        gauges._runtime = whole
        await gauges.look(is_whole=False)

    assert (refused, gauges.facts.is_writable) == (False, True)
    assert [(each["event"], each["log_level"]) for each in logs] == [
        ("store.unwritable", "error"),
        ("store.writable", "info"),
    ]


async def test_a_folder_that_is_gone_leaves_its_sizes_unknown(gauges, tmp_path):
    config = msgspec.structs.replace(
        gauges._runtime.config, state_dir=tmp_path / "gone"
    )
    gauges._runtime = dataclasses.replace(gauges._runtime, config=config)
    await gauges.look(is_whole=False)

    facts = gauges.facts
    assert (facts.free_bytes, facts.database_bytes, facts.wal_bytes) == (None,) * 3
