"""One run: a plot, the whole product, a fault for a while, and a judge beside it."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial

from prwatch.app.walk.due_times import list_due_times
from prwatch.domain.circuit import BACKOFFS
from prwatch.domain.outcome import FailureClass
from prwatch.domain.schedule import next_wake
from tests.fault.matrix.catalogue import Effect
from tests.fault.matrix.judge import Judge
from tests.fault.matrix.plot import Plot
from tests.fault.matrix.script import Script
from tests.product import ALL, open_product

NAMED = (1, 2, 3)
ENTRIES = [f'repository = "octo/hello"\npull_request = {n}' for n in NAMED]
BRANCHES = ['repository = "octo/hello"\nbranch = "topic-4"']
PER_TRY = 4
"""Requests in one cycle through GraphQL: branches, lists, probes and details; or one
that is cut in two, twice."""
ROWS = "SELECT * FROM task_pull_requests"


@dataclass(kw_only=True)
class Result:
    """What a run showed. `findings` are what must not be; () is a good run."""

    findings: list
    recovered_after: dt.timedelta | None
    cycles: int = 0
    events: int = 0
    requests: int = 0
    """While the fault was in force."""
    stale: list = field(default_factory=list)


class FaultRun:
    """A run of the product over a stage, under some kinds of faults at once."""

    def __init__(
        self, folder, stage, kinds, *, seed=0, script=None, read_path="graphql"
    ):
        self.stage = stage
        self.script = script or Script()
        self._folder = folder
        self._kinds = kinds
        self._seed = seed
        self._read_path = read_path
        names = {kind.name for kind in kinds}
        # What was once told of a commit's checks is not unsaid by their absence.
        has_ci = "many_contexts" in names
        self.plot = Plot(
            seed,
            count=self.script.count,
            has_ci=has_ci,
            reopened=self.script.reopened,
        )
        self.judge = Judge(self.plot, read_path=read_path)
        self._clock = stage.clock
        self._started = self._clock.now()
        self._endings = {}
        self._ended = set()
        self._actions = self._write_actions()
        self._recovered_at = None
        self._result = Result(findings=self.judge.findings, recovered_after=None)

    @property
    def most_requests(self):
        """
        Return how many requests may be sent while the faults last.

        Where nothing at all is answered there is a handful for each try, and where
        something is, that of a product that asks as often as it ever does.
        """
        script, is_rest = self.script, self._read_path == "rest"
        lasted = script.fault_until - script.fault_from
        if all(kind.answers_nothing for kind in self._kinds):
            # Through REST each call is a try of its own, whatever GraphQL would say.
            each = 4 * (script.count + 4) if is_rest else PER_TRY
            return sum(each * _count_tries(kind, lasted) for kind in self._kinds)
        per_cycle = 4 * (script.count + 4) if is_rest else 2 * PER_TRY
        return per_cycle * max(1, int(lasted / script.hot_interval))

    async def run(self):
        """Play it all and return the result."""
        for step in self.plot.prologue:
            self.stage.play(step)
        ends = [*self.script.restarts, self.script.ends]
        for run, until in enumerate(ends):
            async with open_product(self._folder, **self._configure(run)) as product:
                await self._play(product, self._started + until)
                rows = product.ask(ROWS)
        self.judge.conclude(rows, self._clock.now())
        self._conclude()
        return self._result

    def _configure(self, run):
        return {
            "clock": self._clock,
            "transport": self.stage.recorder,
            "token": self.stage.token,
            "api_url": self.stage.api_url,
            "seed": self._seed + run,
            "watches": [*ENTRIES, *BRANCHES, ALL],
            "poll": f'read_path = "{self._read_path}"\n{self.script.poll}',
        }

    def _write_actions(self):
        """Write down what happens when, latest first."""
        script, chance = self.script, self.plot.chance
        actions = []
        for kind, (start, end) in zip(self._kinds, script.windows, strict=False):
            actions.append((start, partial(self._begin, kind)))
            actions.append((end, partial(self._end, kind)))
        seconds = script.quiet_from.total_seconds()
        times = [
            *(chance.uniform(90.0, seconds) for _ in range(script.steps)),
            *(script.aftermath.total_seconds() + n for n in range(3)),
        ]
        actions += [(dt.timedelta(seconds=time), self._play_step) for time in times]
        return sorted(actions, key=lambda action: action[0], reverse=True)

    async def _play(self, product, until):
        while self._clock.now() < until:
            woke_at = self._clock.now()
            events = await product.cycle(gap=0, is_forced=False)
            self._result.cycles += 1
            self._result.events += len(events)
            self.judge.hear(events, self._clock.now())
            self._look(product)
            section = product.runtime.config.poll
            wake_at = next_wake(
                await list_due_times(product.runtime),
                woke_at=woke_at,
                tick=section.tick,
                longest=section.interval,
                jitter=0.0,
            )
            self._pass_time(min(wake_at, until))

    def _pass_time(self, until):
        """Move the clock on, and let happen what happens meanwhile."""
        while self._actions and self._started + self._actions[-1][0] <= until:
            time, act = self._actions.pop()
            self._advance(self._started + time)
            act()
        self._advance(until)

    def _advance(self, moment):
        left = (moment - self._clock.now()).total_seconds()
        if left > 0:
            self._clock.advance(left)

    def _play_step(self):
        self.stage.play(self.plot.next_step())

    def _begin(self, kind):
        self._endings[kind.name] = self.stage.begin(kind)
        self.judge.touched |= kind.touches
        self.judge.kept |= kind.keeps

    def _end(self, kind):
        self._endings.pop(kind.name)()
        self._ended.add(kind.name)

    def _look(self, product):
        """Note since when the store agrees with the world, once the fault is over."""
        if len(self._ended) < len(self._kinds) or self._recovered_at is not None:
            return
        self._result.stale = self.judge.list_stale(product.ask(ROWS))
        if not self._result.stale:
            self._recovered_at = self._clock.now()
            self.judge.touched = frozenset()

    def _conclude(self):
        script, result = self.script, self._result
        start, end = (
            self._started + script.fault_from,
            self._started + script.fault_until,
        )
        result.requests = self.stage.recorder.count(start, end)
        slack = 0.0 if self.stage.is_exact else 2.0
        early = self.stage.recorder.list_early(slack=slack)
        result.findings += [f"{sent} came before {until}" for sent, until in early]
        result.findings += self.stage.list_breaches()
        bound = bound_recovery(self._kinds, script)
        if self._recovered_at is None:
            result.findings.append(f"never recovered: {result.stale}")
            return
        result.recovered_after = self._recovered_at - end
        if result.recovered_after > bound:
            text = f"recovered after {result.recovered_after}, later than {bound}"
            result.findings.append(text)


def bound_recovery(kinds, script):
    """Return within which time all must be well again."""
    return max(_bound(kind, script) for kind in kinds) + 2 * script.interval


def _bound(kind, script):
    lasted = script.fault_until - script.fault_from
    if kind.effect in {Effect.TRANSIENT, Effect.AUTH, Effect.CONFIG}:
        return longest_wait(FailureClass(kind.effect.value), lasted)
    if kind.effect is Effect.LIMIT:
        return dt.timedelta(seconds=kind.holds)
    return script.full_read if kind.effect is Effect.DISGUISE else dt.timedelta(0)


def _count_tries(kind, lasted):
    """Count how often it may be tried whether the fault is over."""
    if kind.effect is Effect.LIMIT:
        return 1 + int(lasted.total_seconds() / kind.holds)
    if kind.effect is Effect.CONFIG:
        # Each pull request, branch and list waits for itself.
        return PER_TRY * (1 + count_waits(FailureClass.CONFIG, lasted))
    return 1 + count_waits(FailureClass(kind.effect.value), lasted)


def longest_wait(failure_class, lasted):
    """Return the longest wait that can have begun while the fault lasted."""
    waits = count_waits(failure_class, lasted)
    return BACKOFFS[failure_class].delay(waits + 1, 1.0)


def count_waits(failure_class, lasted):
    """Count the waits that can have ended while the fault lasted."""
    backoff, passed, count = BACKOFFS[failure_class], dt.timedelta(0), 0
    while (passed := passed + backoff.delay(count + 1, 0.0)) <= lasted:
        count += 1
    return count
