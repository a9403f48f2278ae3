"""From what is remembered of watch files to the metrics that are shown."""

from prwatch.app.sync.memory import SyncMemory
from prwatch.telemetry import metrics
from prwatch.telemetry.meter import Labels, Meter, RunningTotals


def follow_sync(totals: RunningTotals, memory: SyncMemory) -> None:
    """Count what looking at folders of watch files came to since."""
    turns: dict[Labels, float] = {
        (result.value,): float(count) for result, count in memory.turns.items()
    }
    totals.follow(metrics.SYNC_TURNS, turns)
    totals.follow(metrics.SYNC_NOT_MODIFIED, {(): float(memory.not_modified)})


def put_sync(meter: Meter, memory: SyncMemory) -> None:
    """Show how many watch files count as they are, and how many are frozen."""
    counts = memory.files.values()
    meter.put(metrics.WATCH_FILES, sum(each.good for each in counts), "good")
    meter.put(metrics.WATCH_FILES, sum(each.frozen for each in counts), "frozen")
