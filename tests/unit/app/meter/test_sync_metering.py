"""What looking at watch files came to, as metrics that name nobody."""

from prwatch.app.meter.sync_metering import follow_sync, put_sync
from prwatch.app.sync.memory import SyncMemory
from prwatch.simulator import Fault
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Meter, RunningTotals
from tests.followed import BROKEN, HELLO, follow, make_team, turn, write


def read(meter, metric):
    """Return what a metric shows, by the values of its labels."""
    return {" ".join(labels): value for labels, value in meter.values(metric)}


async def test_turns_and_files_are_counted(tmp_path):
    world, meter = make_team(), Meter()
    totals = RunningTotals(meter)
    write(world, HELLO)
    write(world, BROKEN, "b.toml")
    async with follow(tmp_path, world) as product:
        memory = product.runtime.sync_memory
        await turn(product)
        await turn(product)
        follow_sync(totals, memory)
        world.faults.add(Fault(kind="json500", match="contents", times=None))
        await turn(product)
        await turn(product, gap=1.0 + 300.0)
        follow_sync(totals, memory)
        put_sync(meter, memory)

    turns = read(meter, metrics.SYNC_TURNS)
    assert (turns["changed"], turns["unchanged"]) == (1, 1)
    assert turns["failed"] + turns["skipped"] == 2
    assert read(meter, metrics.SYNC_NOT_MODIFIED) == {"": 1}
    assert read(meter, metrics.WATCH_FILES) == {"good": 1, "frozen": 1}


def test_without_folders_there_are_no_files():
    meter = Meter()

    put_sync(meter, SyncMemory())

    assert read(meter, metrics.WATCH_FILES) == {"good": 0, "frozen": 0}
