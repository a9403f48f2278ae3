"""
Plays every kind of fault alone, and every pair of them, and prints what each cost.

A run that shows anything that must not be is named with the command that plays it
again. `make faults` runs it over all pairs.
"""

import multiprocessing
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import click

from tests.fault.matrix.jobs import list_jobs, play

ROW = "{:<24}{:>10}{:>11}{:>8}   {}"


def print_table(results):
    """Print a row for each kind: alone, and its slowest pair."""
    slowest = defaultdict(lambda: (-1.0, ""))
    for (names, _, _), result in results:
        if len(names) == 2 and result.recovered_after is not None:
            seconds = result.recovered_after.total_seconds()
            for one, other in (names, names[::-1]):
                slowest[one] = max(slowest[one], (seconds, other))
    click.echo(ROW.format("fault", "requests", "recovered", "events", "slowest pair"))
    for (names, _, _), result in results:
        if len(names) == 1:
            seconds, other = slowest[names[0]]
            recovered = result.recovered_after
            shown = (
                "never" if recovered is None else f"{recovered.total_seconds():.0f} s"
            )
            pair = f"{other}, {seconds:.0f} s" if other else ""
            row = (names[0], result.requests, shown, result.events, pair)
            click.echo(ROW.format(*row))


@click.command()
@click.option("--jobs", default=2, show_default=True, help="Runs at the same time.")
@click.option("--seed", default=1, show_default=True, help="The first run's seed.")
@click.option("--pairs", type=int, help="So many pairs instead of all.")
@click.option("--only", help="One run: a kind, or two joined by a comma.")
@click.option("--read-path", default="graphql", help="How that one run reads.")
def main(jobs, seed, pairs, only, read_path):
    """Play the faults, and fail when a run shows what must not be."""
    planned = list_jobs(seed, pairs)
    if only:
        planned = [(tuple(only.split(",")), seed, read_path)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=max(1, jobs), mp_context=context) as pool:
        results = list(pool.map(play, planned, chunksize=4))
    print_table(results)
    bad = [(job, result) for job, result in results if result.findings]
    for (names, its_seed, path), result in bad:
        click.echo(f"\n{' with '.join(names)}:")
        for finding in result.findings:
            click.echo(f"  {finding}")
        click.echo(
            f"  again: python -m tests.fault.matrix --only {','.join(names)}"
            f" --seed {its_seed} --read-path {path}"
        )
    click.echo(f"\n{len(results)} runs, {len(bad)} with findings")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
