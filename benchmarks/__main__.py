"""
Runs the benchmarks, prints what they measured and fails when a bar is missed.

    python -m benchmarks [--all] [NAME…]

Without names it runs what takes minutes together, with --all everything. Each prints a
table and one line of JSON. With PRWATCH_STANDIN_URL an independent model of GitHub is
asked as well, and the loops of other clients run beside ours.
"""

import argparse
import json
import os
import platform
import sys
import time

from benchmarks.delivery import run_delivery
from benchmarks.growth import run_flatness, run_growth
from benchmarks.peers import run_peers
from benchmarks.quiet_cycle import run_quiet_cycle
from benchmarks.size import Size

THOUSAND = Size(1, 1000)
TWO_TIMES_500 = Size(2, 500)
TEN_THOUSAND = Size(20, 500)
HUNDRED_THOUSAND = Size(200, 500)

QUICK = {
    "quiet-1000": lambda: run_quiet_cycle(THOUSAND),
    "quiet-10000": lambda: run_quiet_cycle(TEN_THOUSAND),
    "growth-10000": lambda: run_growth([TWO_TIMES_500, TEN_THOUSAND]),
    "peers": lambda: run_peers(THOUSAND),
}
SLOW = {
    "flatness": lambda: run_flatness(THOUSAND, cycles=1000),
    "delivery": lambda: run_delivery(TEN_THOUSAND),
    "growth-100000": lambda: run_growth([TWO_TIMES_500, HUNDRED_THOUSAND]),
}


def main():
    everything = QUICK | SLOW
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--all", action="store_true", help="also what takes long")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(everything))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(everything)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    names = arguments.names or (everything if arguments.all else QUICK)
    print(
        f"Python {platform.python_version()}, {platform.machine()},"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f},"
        f" {platform.system()} {platform.release()}"
    )
    missed = []
    for name in names:
        begun = time.perf_counter()
        for result in everything[name]():
            print(result)
            print(json.dumps(result.as_json()), flush=True)
            missed += [f"{result.name}: {bar}" for bar in result.bars if bar.is_missed]
        print(f"  ({name} took {time.perf_counter() - begun:.0f} s)", flush=True)
    for miss in missed:
        print(f"missed: {miss}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
