"""
Runs the benchmarks, prints what they measured and fails when a bar is missed.

    python -m benchmarks [--pulls 1000]

With PRWATCH_STANDIN_URL the independent stand-in is asked as well.
"""

import argparse
import dataclasses
import json
import math
import os
import platform
import sys

import anyio

from benchmarks.github import open_simulator, open_standin
from benchmarks.quiet_cycle import measure

MOST_CPU = 2.5
"""Times the CPU of the bare loop."""
PAGE = 100


def list_misses(result):
    """Return the bars that a measurement missed, as text."""
    most = math.ceil(result.pull_requests / PAGE) + 1
    bars = {
        "requests": (result.requests, most),
        "points": (result.points, most),
        "requests to the end": (result.requests_to_end, most),
        "points to the end": (result.points_to_end, most),
        "CPU ratio": (result.ratio, MOST_CPU),
        "CPU ratio to the end": (result.ratio_to_end, MOST_CPU),
        "rows written": (result.rows_written, 0),
        "events": (result.events, 0),
    }
    return [
        f"{result.github}: {name} {value:.2f}, at most {bar}"
        for name, (value, bar) in bars.items()
        if value > bar
    ]


def describe(one):
    return (
        f"\n{one.github}: {one.pull_requests} pull requests of one repository watch\n"
        f"                     requests  points  CPU ms  bare ms  ratio\n"
        f"  a quiet cycle      {one.requests:8}{one.points:8}"
        f"{one.cpu_ms:8.1f}{one.bare_cpu_ms:9.1f}{one.ratio:7.2f}\n"
        f"  one in ten, to end {one.requests_to_end:8}{one.points_to_end:8}"
        f"{one.cpu_to_end_ms:8.1f}{one.bare_cpu_to_end_ms:9.1f}{one.ratio_to_end:7.2f}\n"
        f"  the first cycle    {one.adoption_requests:8}"
        f"        {one.adoption_cpu_ms:8.1f}\n"
        f"  {one.quiet_cycles} quiet cycles wrote {one.rows_written} rows"
        f" and {one.events} events"
    )


def list_githubs(count):
    yield open_simulator(count)
    url = os.environ.get("PRWATCH_STANDIN_URL")
    if url:
        yield open_standin(url, count)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--pulls", type=int, default=1000)
    count = parser.parse_args().pulls
    print(f"Python {platform.python_version()}, {platform.machine()},", end=" ")
    print(f"{os.cpu_count()} cores, {platform.system()} {platform.release()}")
    misses = []
    for opened in list_githubs(count):
        with opened as github:
            result = anyio.run(measure, github, count)
        misses += list_misses(result)
        print(describe(result))
        print(json.dumps(dataclasses.asdict(result)))
    for miss in misses:
        print(f"missed: {miss}")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
