"""
Requests, points, CPU and rows of a quiet cycle, beside the least that it could cost.

Beside it runs the least that could be done: the same requests on the same HTTP
library, and the same bytes decoded to dictionaries. Both run in this process, turn by
turn; the best of five counts.
"""

import dataclasses
import gc
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import msgspec

from benchmarks.github import find_standin, open_simulator, open_standin
from benchmarks.result import Bar, Result
from tests.product import MovedClock, open_product

ROUNDS = 5
GAP = 5.0
"""Seconds between two cycles: nothing is due for a full re-read within the run."""
MOST_CPU = 2.0
"""Times the CPU of the bare loop."""


class Recorder(httpx.AsyncBaseTransport):
    """Passes requests on and keeps them."""

    def __init__(self):
        self.requests = []
        self._way = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        self.requests.append((request.headers.raw, request.content))
        return await self._way.handle_async_request(request)

    async def aclose(self):
        await self._way.aclose()


def run_quiet_cycle(size):
    """Measure over the simulator, and over the stand-in where there is one."""
    with open_simulator(size) as github:
        yield anyio.run(measure, github, size)
    if find_standin():
        with open_standin(size) as github:
            yield anyio.run(measure, github, size)


async def measure(github, size):
    clock, recorder = MovedClock(github.now()), Recorder()
    options = {
        "clock": clock,
        "transport": recorder,
        "token": github.token,
        "api_url": github.url,
        "watches": size.list_watches(),
        "is_inline": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_product(Path(folder), **options) as product,
            httpx.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            await product.cycle(gap=0)
            rows = product.ask("SELECT id FROM pr_watches")
            if len(rows) != size.pull_requests:
                raise RuntimeError(f"{len(rows)} of {size} were adopted")
            product.reports.clear()
            race = _Race(github, product, recorder, http)
            await race.run(is_to_end=False)
            with product.refused_writes():
                laps = {
                    "newest": await race.run(is_to_end=False),
                    "to_end": await race.run(is_to_end=True),
                }
            written = sum(report.rows_written for report in product.reports)
            failures = sum(len(report.failures) for report in product.reports)
    return _build_result(github, size, laps, written=written, failures=failures)


def _build_result(github, size, laps, *, written, failures):
    titles = {"newest": "a quiet cycle", "to_end": "one in ten, to end"}
    lines = ["                      requests  points  CPU ms  bare ms  ratio"]
    bars = [
        Bar("rows written by all of them", written, 0),
        Bar("failures, with every write refused by the database", failures, 0),
    ]
    for key, lap in laps.items():
        lines.append(
            f"  {titles[key]:18}  {lap.requests:8}{lap.points:8}{lap.cpu_ms:8.1f}"
            f"{lap.bare_cpu_ms:9.1f}{lap.ratio:7.2f}"
        )
        bars += [
            Bar(f"requests, {titles[key]}", lap.requests, size.most_requests),
            Bar(f"points, {titles[key]}", lap.points, size.most_requests),
            Bar(f"times the bare loop's CPU, {titles[key]}", lap.ratio, MOST_CPU),
        ]
    return Result(
        name=f"quiet cycle, {github.name}, {size}",
        lines=lines,
        figures={key: lap.as_json() for key, lap in laps.items()},
        bars=bars,
    )


@dataclass(frozen=True)
class _Lap:
    """Requests and points as the server counted them; CPU is of this process."""

    requests: int
    points: int
    cpu_ms: float
    bare_cpu_ms: float

    @property
    def ratio(self):
        return self.cpu_ms / self.bare_cpu_ms

    def as_json(self):
        return {**dataclasses.asdict(self), "ratio": self.ratio}


@dataclass(frozen=True)
class _Race:
    """The product and the bare loop, turn by turn over the same requests."""

    github: object
    product: object
    recorder: Recorder
    http: httpx.AsyncClient

    async def run(self, *, is_to_end):
        laps = [await self._run_once(is_to_end) for _ in range(ROUNDS)]
        return _Lap(
            requests=max(lap.requests for lap in laps),
            points=max(lap.points for lap in laps),
            cpu_ms=min(lap.cpu_ms for lap in laps),
            bare_cpu_ms=min(lap.bare_cpu_ms for lap in laps),
        )

    async def _run_once(self, is_to_end):
        (account,) = self.product.runtime.wired.accounts
        account.list_walks = 0 if is_to_end else 1
        self.recorder.requests.clear()
        self.github.take_counts()
        cpu_ms = await _time(lambda: self.product.cycle(gap=GAP))
        counts = self.github.take_counts()
        kept = list(self.recorder.requests)
        bare_ms = await _time(lambda: self._ask_barely(kept))
        return _Lap(counts["graphql"], counts["points"], cpu_ms, bare_ms)

    async def _ask_barely(self, requests):
        url = f"{self.github.url}/graphql"
        for headers, content in requests:
            response = await self.http.post(url, headers=headers, content=content)
            msgspec.json.decode(response.content)


async def _time(run):
    """Return the milliseconds of this process's CPU that it took."""
    gc.collect()
    before = time.process_time()
    await run()
    return (time.process_time() - before) * 1000
