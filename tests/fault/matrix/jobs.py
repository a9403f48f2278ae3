"""Runs as values, which a process of their own can play."""

import itertools
import tempfile
from pathlib import Path

import anyio

from tests.fault.matrix.catalogue import CATALOGUE
from tests.fault.matrix.fault_run import FaultRun
from tests.fault.matrix.stages import SimulatedStage

KINDS = {kind.name: kind for kind in CATALOGUE}
REST_EVERY = 5
"""Each fifth pair is read through REST, whose runs take three times as long."""


def play(job):
    """Play one run; return the job and what it showed."""
    names, seed, read_path = job

    async def run():
        kinds = tuple(KINDS[name] for name in names)
        with tempfile.TemporaryDirectory() as folder:
            played = FaultRun(
                Path(folder), SimulatedStage(), kinds, seed=seed, read_path=read_path
            )
            result = await played.run()
        if result.requests > played.most_requests:
            text = f"{result.requests} requests, more than {played.most_requests}"
            result.findings.append(text)
        return result

    return job, anyio.run(run)


def list_jobs(seed, limit):
    """List the runs: each kind alone, then all pairs, or the first so many."""
    jobs = [((name,), seed, "graphql") for name in KINDS]
    pairs = list(itertools.combinations(KINDS, 2))
    for index, pair in enumerate(pairs[: len(pairs) if limit is None else limit]):
        read_path = "rest" if index % REST_EVERY == 0 else "graphql"
        jobs.append((pair, seed + index, read_path))
    return jobs
