"""How each loop of the daemon fares: the facts behind `status` and the watchdog."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from prwatch.app.daemon.failure import LoopFailure, describe_failure
from prwatch.clock import Clock
from prwatch.domain.timestamp import format_optional_time
from prwatch.telemetry.redaction import redact as redact_shapes

STEADY: Final = dt.timedelta(minutes=5)
"""A loop that has run this long since its last crash has recovered from it."""
CANCELLATION: Final = dt.timedelta(seconds=10)
"""How long a stuck loop may take to be cancelled before it counts as wedged."""


@dataclass(slots=True, kw_only=True)
class _Loop:
    """
    What is known of one loop.

    `progressed` and `ran_from` are monotonic seconds. `progressed` lies in the future
    while a crashed loop waits to be started again: its silence until then is wanted.
    """

    deadline: dt.timedelta | None
    progressed: float
    state: str = "starting"
    ran_from: float = 0.0
    last_start_at: dt.datetime | None = None
    last_success_at: dt.datetime | None = None
    lag: dt.timedelta = dt.timedelta(0)
    failed_turns: int = 0
    crashes: int = 0
    restarts: int = 0
    stuck: int = 0
    last_failure: LoopFailure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFacts:
    """
    How one loop fares.

    `lag` is how late its last turn began, and `failures` are those in a row.
    """

    name: str
    state: str
    last_success_at: dt.datetime | None
    lag: dt.timedelta
    failures: int
    restarts: int
    stuck: int
    is_stalled: bool
    failure_code: str
    """Of the failures in a row, or '' while there is none."""

    @property
    def kind(self) -> str:
        """Return what the loop is: the name of a relay holds that of its sink."""
        return self.name.partition(" ")[0]


class LoopRegistry:
    """
    Facts about loops, by name, in the order in which they were first started.

    Loops that work in turns report each turn; of the others only progress, crashes
    and restarts are known. Nothing is stored: a new process begins with nothing.
    """

    def __init__(
        self, clock: Clock, *, redact: Callable[[str], str] = redact_shapes
    ) -> None:
        self._clock = clock
        self._redact = redact
        self._loops: dict[str, _Loop] = {}

    def begin_run(self, name: str, deadline: dt.timedelta | None) -> None:
        """Note that a loop was started, or started again; that is progress."""
        now = self._clock.monotonic()
        loop = self._loops.get(name)
        if loop is None:
            loop = self._loops[name] = _Loop(deadline=deadline, progressed=now)
        elif loop.state == "waiting":
            loop.restarts += 1
        loop.deadline = deadline
        loop.state = "starting"
        loop.progressed = loop.ran_from = now
        loop.last_start_at = self._clock.now()

    def mark_ready(self, name: str) -> None:
        """Note that a started loop is ready."""
        self._loops[name].state = "running"
        self.beat(name)

    def beat(self, name: str) -> None:
        """Note progress. A turn that fails, or waits for a limit, is progress too."""
        self._loops[name].progressed = self._clock.monotonic()

    def begin_turn(self, name: str, *, late_by: dt.timedelta = dt.timedelta(0)) -> None:
        """Note that a loop begins one turn of its work, so long after it was due."""
        loop = self._loops[name]
        loop.last_start_at = self._clock.now()
        loop.lag = max(late_by, dt.timedelta(0))
        self.beat(name)

    def succeed(self, name: str) -> None:
        """
        Note a turn that did its work: failed turns before it are over.

        Crashes are not: the turn after a restart may find nothing to do, and what
        broke the last run breaks this one a minute later.
        """
        loop = self._loops[name]
        loop.last_success_at = self._clock.now()
        loop.failed_turns = 0
        self.beat(name)

    def fail(self, name: str, error: BaseException) -> None:
        """Note a turn that failed; the loop itself goes on."""
        loop = self._loops[name]
        loop.failed_turns += 1
        loop.last_failure = describe_failure(error, self._redact)
        self.beat(name)

    def crash(self, name: str, error: BaseException, *, is_stuck: bool = False) -> int:
        """
        Note that a run ended badly, and return how many did so in a row.

        A run that lasted `STEADY` begins a new row.
        """
        loop = self._loops[name]
        loop.crashes = self._count_crashes(loop) + 1
        loop.stuck += is_stuck
        loop.last_failure = describe_failure(error, self._redact)
        return loop.crashes

    def wait_for_restart(self, name: str, delay: dt.timedelta) -> None:
        """Note that a crashed loop is started again after that time."""
        loop = self._loops[name]
        loop.state = "waiting"
        loop.progressed = self._clock.monotonic() + delay.total_seconds()

    def end(self, name: str) -> None:
        """Note that a loop has ended for good, if it ever ran: it need not progress."""
        loop = self._loops.get(name)
        if loop is not None:
            loop.state = "ended"

    def list_stalled(self) -> tuple[str, ...]:
        """
        Return the loops that must run and make no progress, although they should.

        Those are the loops with a deadline that have been silent for that time, and
        were not ended by their cancellation after it.
        """
        now = self._clock.monotonic()
        return tuple(
            name
            for name, loop in self._loops.items()
            if loop.deadline is not None
            and loop.state != "ended"
            and now - loop.progressed > (loop.deadline + CANCELLATION).total_seconds()
        )

    def list_facts(self) -> tuple[LoopFacts, ...]:
        """List how each loop fares that has not ended for good."""
        stalled = self.list_stalled()
        return tuple(
            self._build_facts(name, loop, is_stalled=name in stalled)
            for name, loop in self._loops.items()
            if loop.state != "ended"
        )

    def _build_facts(self, name: str, loop: _Loop, *, is_stalled: bool) -> LoopFacts:
        failures = loop.failed_turns + self._count_crashes(loop)
        last = loop.last_failure
        return LoopFacts(
            name=name,
            state=loop.state,
            last_success_at=loop.last_success_at,
            lag=loop.lag,
            failures=failures,
            restarts=loop.restarts,
            stuck=loop.stuck,
            is_stalled=is_stalled,
            failure_code=last.code if last is not None and failures else "",
        )

    def as_json(self) -> dict[str, dict[str, Any]]:
        """Return all facts as plain JSON values, by name."""
        return {name: self._render(loop) for name, loop in self._loops.items()}

    def _render(self, loop: _Loop) -> dict[str, Any]:
        age = max(0.0, self._clock.monotonic() - loop.progressed)
        return {
            "state": loop.state,
            "last_start_at": format_optional_time(loop.last_start_at),
            "last_success_at": format_optional_time(loop.last_success_at),
            "lag_seconds": round(loop.lag.total_seconds(), 3),
            "progress_age_seconds": round(age, 3),
            "consecutive_failures": loop.failed_turns + self._count_crashes(loop),
            "last_error": loop.last_failure and loop.last_failure.as_json(),
            "restarts": loop.restarts,
            "stuck": loop.stuck,
        }

    def _count_crashes(self, loop: _Loop) -> int:
        if loop.state in {"waiting", "ended"}:
            return loop.crashes
        ran = self._clock.monotonic() - loop.ran_from
        return 0 if ran >= STEADY.total_seconds() else loop.crashes
