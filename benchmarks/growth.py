"""What a watch costs in memory and time, at few and at many, early and late."""

import json
import statistics
import subprocess
import sys

from benchmarks.github import open_simulator
from benchmarks.result import Bar, Result

MOST_MIB = 300
MOST_WATCHES = 100_000
"""At so many watches that much memory is allowed."""
MOST_UNEVEN = 1.2
"""Times the cost for each watch that it may be where there are more of them."""
MOST_RISE = 1.05
"""Times the resident size after a hundred cycles that it may be after a thousand."""
CYCLES = 20


def run_growth(sizes, *, cycles=CYCLES):
    """Watch ever more; the cost for each must stay what it was."""
    first = None
    for size in sizes:
        found = run_watched(size, cycles)
        cost = _best_quiet_ms(found) / size.pull_requests
        first = first or cost
        yield _build_growth(size, found, cost, cost / first)


def run_flatness(size, *, cycles):
    """Watch the same for a long time; it must hold no more than early on."""
    found = run_watched(size, cycles)
    early, late = found["resident_kib"][99], found["resident_kib"][-1]
    yield Result(
        name=f"flatness, {size}, {cycles} cycles",
        lines=[
            (
                f"  resident after 100 cycles {early / 1024:.1f} MiB,"
                f" after {cycles} {late / 1024:.1f} MiB;"
                f" {found['details']} read again in full meanwhile"
            )
        ],
        figures={"early_kib": early, "late_kib": late, "details": found["details"]},
        bars=[
            Bar("times the early size", late / early, MOST_RISE),
            Bar("rows written", found["rows_written"], 0),
            Bar("failures", found["failures"], 0),
        ],
    )


def run_watched(size, cycles):
    """Run a product in a process of its own and return what it measured."""
    with open_simulator(size) as github:
        result = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.watched", github.url),
                *map(str, (size.repositories, size.pulls_each, cycles)),
            ],
            stdout=subprocess.PIPE,
            check=True,
        )
    found = json.loads(result.stdout)
    if found["watches"] != size.pull_requests:
        raise RuntimeError(f"{found['watches']} of {size} were adopted")
    return found


def _best_quiet_ms(found):
    """Return the CPU of the cheapest cycle that walked no list to its end."""
    pairs = zip(found["cpu_ms"], found["is_to_end"], strict=True)
    return min(cpu for cpu, is_to_end in pairs if not is_to_end)


def _build_growth(size, found, cost, ratio):
    resident = found["resident_kib"][-1] / 1024
    bars = [
        Bar("times the first one's CPU for each watch", ratio, MOST_UNEVEN),
        Bar("rows written", found["rows_written"], 0),
        Bar("failures", found["failures"], 0),
    ]
    if size.pull_requests >= MOST_WATCHES:
        bars.append(Bar("MiB resident", resident, MOST_MIB, is_absolute=True))
    cycles = len(found["cpu_ms"])
    return Result(
        name=f"growth, {size}, {cycles} quiet cycles",
        lines=[
            (
                f"  resident: empty {found['empty_kib'] / 1024:.1f},"
                f" adopted {found['adopted_kib'] / 1024:.1f},"
                f" in the end {resident:.1f},"
                f" at most {max(found['resident_kib']) / 1024:.1f} MiB"
            ),
            (
                f"  CPU: a quiet cycle {_best_quiet_ms(found):.1f} ms at best,"
                f" {statistics.median(found['cpu_ms']):.1f} in the middle;"
                f" {cost * 1000:.1f} µs a watch; the adoption"
                f" {found['adoption_cpu_ms'] / 1000:.1f} s"
            ),
        ],
        figures={
            "watches": size.pull_requests,
            "resident_mib": resident,
            "adopted_mib": found["adopted_kib"] / 1024,
            "quiet_cpu_ms": _best_quiet_ms(found),
            "cpu_us_per_watch": cost * 1000,
            "adoption_cpu_ms": found["adoption_cpu_ms"],
            "times_the_first": ratio,
        },
        bars=bars,
    )
