"""
A product in a process of its own, over cycles: what it holds and what a cycle costs.

`python -m benchmarks.watched URL REPOSITORIES PULLS_EACH CYCLES` adopts everything,
runs the quiet cycles and prints one line of JSON. Time is moved by hand, so that a
cycle costs what it computes and no wait.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import anyio

from benchmarks.size import Size
from prwatch.clock import SystemClock
from prwatch.simulator import DEFAULT_TOKEN
from tests.product import MovedClock, open_product

SINK = '[[sink]]\nname = "out"\nkind = "stdout"\nevents = ["GitHubPRFeedback"]'
"""Adoptions are no feedback: a hundred thousand deliveries are not the question."""
GAP = 5.0
"""Seconds between two cycles: few pull requests are due for a full re-read."""


def read_resident_kib():
    """Return the resident size of this process."""
    status = Path("/proc/self/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1])


async def watch(url, size, cycles):
    figures = {"resident_kib": [], "cpu_ms": [], "is_to_end": []}
    quiet = dict.fromkeys(("details", "rows_written", "events", "failures"), 0)
    options = {
        "clock": MovedClock(SystemClock().now()),
        "token": DEFAULT_TOKEN,
        "api_url": url,
        "watches": size.list_watches(),
        "sinks": SINK,
        "is_inline": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        async with open_product(Path(folder), **options) as product:
            figures["empty_kib"] = read_resident_kib()
            before = time.process_time()
            await product.cycle(gap=0)
            figures["adoption_cpu_ms"] = (time.process_time() - before) * 1000
            figures["adopted_kib"] = read_resident_kib()
            failures = product.report.failures
            if failures:
                raise RuntimeError(f"the adoption failed: {failures[0]}")
            (account,) = product.runtime.wired.accounts
            for _ in range(cycles):
                figures["is_to_end"].append(account.list_walks % 10 == 0)
                before = time.process_time()
                await product.cycle(gap=GAP)
                figures["cpu_ms"].append((time.process_time() - before) * 1000)
                figures["resident_kib"].append(read_resident_kib())
                quiet["details"] += product.report.details
                quiet["rows_written"] += product.report.rows_written
                quiet["events"] += sum(product.report.events_by_type.values())
                quiet["failures"] += len(product.report.failures)
                # The daemon keeps the last report alone, and so does this.
                product.reports.clear()
            (rows,) = product.ask("SELECT count(*) AS number FROM pr_watches")
    return figures | quiet | {"watches": rows["number"]}


def main(url, *numbers):
    repositories, pulls_each, cycles = map(int, numbers)
    size = Size(repositories, pulls_each)
    print(json.dumps(anyio.run(watch, url, size, cycles)))


if __name__ == "__main__":
    main(*sys.argv[1:])
