"""
A quiet cycle over the open pull requests of one repository watch.

Beside it runs the least that could be done: the same requests on the same HTTP
library, and the same bytes decoded to dictionaries. Both run in this process, turn by
turn; the best of five counts.
"""

import gc
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import msgspec

from benchmarks.github import REPOSITORY
from tests.product import MovedClock, open_product

ROUNDS = 5
GAP = 5.0
"""Seconds between two cycles: nothing is due for a full re-read within the run."""
WATCH = f'repository = "{REPOSITORY}"\nall = true'


@dataclass(frozen=True)
class QuietCycle:
    """
    What was measured: requests and points as the server counted them.

    `to_end` is the cycle in ten that walks the list to its end. CPU is in
    milliseconds of this process.
    """

    github: str
    pull_requests: int
    requests: int
    points: int
    requests_to_end: int
    points_to_end: int
    quiet_cycles: int
    rows_written: int
    events: int
    cpu_ms: float
    bare_cpu_ms: float
    cpu_to_end_ms: float
    bare_cpu_to_end_ms: float
    adoption_requests: int
    adoption_cpu_ms: float

    @property
    def ratio(self):
        return self.cpu_ms / self.bare_cpu_ms

    @property
    def ratio_to_end(self):
        return self.cpu_to_end_ms / self.bare_cpu_to_end_ms


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


async def measure(github, count):
    clock, recorder = MovedClock(github.now()), Recorder()
    options = {
        "clock": clock,
        "transport": recorder,
        "token": github.token,
        "api_url": github.url,
        "watches": [WATCH],
        "is_inline": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_product(Path(folder), **options) as product,
            httpx.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            github.take_counts()
            adoption_ms = await _time(product.cycle)
            adoption = github.take_counts()
            if len(product.ask("SELECT id FROM pr_watches")) != count:
                raise RuntimeError("not every pull request was adopted")
            race = _Race(github, product, recorder, http)
            await race.run(is_to_end=False)
            ordinary = await race.run(is_to_end=False)
            to_end = await race.run(is_to_end=True)
    quiet = product.reports[1:]
    return QuietCycle(
        github=github.name,
        pull_requests=count,
        requests=ordinary.requests,
        points=ordinary.points,
        requests_to_end=to_end.requests,
        points_to_end=to_end.points,
        quiet_cycles=len(quiet),
        rows_written=sum(report.rows_written for report in quiet),
        events=sum(sum(report.events_by_type.values()) for report in quiet),
        cpu_ms=ordinary.cpu_ms,
        bare_cpu_ms=ordinary.bare_cpu_ms,
        cpu_to_end_ms=to_end.cpu_ms,
        bare_cpu_to_end_ms=to_end.bare_cpu_ms,
        adoption_requests=adoption["graphql"],
        adoption_cpu_ms=adoption_ms,
    )


@dataclass(frozen=True)
class _Lap:
    requests: int
    points: int
    cpu_ms: float
    bare_cpu_ms: float


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
