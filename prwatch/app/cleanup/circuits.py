"""
The circuits of cleaning up review tasks: what is left out for now, and until when.

They are apart from those of polling, and no success of polling or of a search closes
one. They live in memory: a restart begins with all closed.
"""

import datetime as dt
import enum
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from prwatch.clock import Clock
from prwatch.domain.circuit import Cause, Circuit, trip
from prwatch.domain.outcome import FailureClass

LIMIT_WAIT: Final = dt.timedelta(minutes=1)
"""How long a limit holds that names no end."""


class CleanupCircuit(enum.StrEnum):
    """What a circuit stands for: a workspace's connection, or one row."""

    SHARED = "shared"
    RECORD = "record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """A failure as circuits are told of it; `until` is what a limit names."""

    failure_class: FailureClass
    code: str
    message: str
    until: dt.datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A circuit that is not closed: why, since when and until when."""

    blow: Blow
    opened_at: dt.datetime
    open_until: dt.datetime
    circuit: Circuit | None = None
    """How often it failed running; None of a limit."""
    subject: int = 0
    """Under which settings of its review watch a row failed."""

    def is_open(self, now: dt.datetime) -> bool:
        """Return whether it holds back. A clock that was set back opens the way."""
        return self.opened_at <= now < self.open_until


Counts: TypeAlias = Counter[tuple[CleanupCircuit, FailureClass]]


class CleanupCircuits:
    """
    One shared circuit a workspace's connection, one circuit a row, by their ids.

    A key that is not known is a closed circuit. After its time the next to come is
    let through. `skips`, `opens`, `resets` and `failures` are counts since the start.
    """

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self.skips: Counts = Counter()
        self.opens: Counts = Counter()
        self.resets: Counts = Counter()
        self.failures: Counts = Counter()
        self._clock = clock
        self._chance = chance
        self._shared: dict[str, Standing] = {}
        self._records: dict[str, dict[str, Standing]] = {}
        self._fingerprints: dict[str, str] = {}

    def begin_sweep(self, fingerprints: Mapping[str, str]) -> None:
        """
        Look at the connections of all present workspaces, once before each sweep.

        One whose fingerprint changed begins anew; what belonged to one that is gone
        is forgotten.
        """
        for key in list(self._shared):
            if fingerprints.get(key) != self._fingerprints.get(key):
                self._reset(CleanupCircuit.SHARED, self._shared, key)
        for key in self._records.keys() - fingerprints.keys():
            del self._records[key]
        self._fingerprints = dict(fingerprints)

    def keep_records(self, connection_id: str, row_ids: Collection[str]) -> None:
        """Forget the circuits of rows of a connection that are gone."""
        records = self._records.get(connection_id, {})
        for row_id in records.keys() - set(row_ids):
            del records[row_id]

    def admits_record(self, connection_id: str, row_id: str, subject: int) -> bool:
        """
        Return whether a row may be asked about; else it is counted.

        One that failed under other settings of its review watch begins anew.
        """
        records = self._records.get(connection_id, {})
        standing = records.get(row_id)
        if standing is None:
            return True
        if standing.subject != subject:
            self._reset(CleanupCircuit.RECORD, records, row_id)
            return True
        if not standing.is_open(self._clock.now()):
            return True
        self.count_skips(CleanupCircuit.RECORD, standing.blow.failure_class, 1)
        return False

    def count_skips(
        self, kind: CleanupCircuit, failure_class: FailureClass, count: int
    ) -> None:
        """Count rows that were left out, such as for a limit that polling has met."""
        self.skips[kind, failure_class] += count

    def fail(self, connection_id: str, blow: Blow) -> None:
        """Note that a request failed as a whole: the connection's circuit opens."""
        self._trip(CleanupCircuit.SHARED, self._shared, connection_id, blow, 0)

    def fail_record(
        self, connection_id: str, row_id: str, blow: Blow, subject: int
    ) -> None:
        """Note that one row alone could not be read: its circuit opens."""
        records = self._records.setdefault(connection_id, {})
        self._trip(CleanupCircuit.RECORD, records, row_id, blow, subject)

    def succeed(self, connection_id: str) -> None:
        """Note that a request was answered: the connection's circuit is closed."""
        self._reset(CleanupCircuit.SHARED, self._shared, connection_id)

    def succeed_record(self, connection_id: str, row_id: str) -> None:
        """Note that a row was read: its circuit is closed."""
        records = self._records.get(connection_id, {})
        self._reset(CleanupCircuit.RECORD, records, row_id)

    def find(self, connection_id: str) -> Standing | None:
        """Return a connection's circuit while it holds back, or None."""
        return self._find_open(self._shared.get(connection_id))

    def find_record(self, connection_id: str, row_id: str) -> Standing | None:
        """Return a row's circuit while it holds back, or None."""
        return self._find_open(self._records.get(connection_id, {}).get(row_id))

    def items(self) -> Iterator[tuple[CleanupCircuit, str, Standing]]:
        """Yield the circuits that hold back: whose, with their ids."""
        now = self._clock.now()
        for key, standing in sorted(self._shared.items()):
            if standing.is_open(now):
                yield CleanupCircuit.SHARED, key, standing
        for records in self._records.values():
            for key, standing in sorted(records.items()):
                if standing.is_open(now):
                    yield CleanupCircuit.RECORD, key, standing

    def count_open(self) -> Counts:
        """Count the circuits that hold back, by kind and class."""
        return Counter(
            (kind, standing.blow.failure_class) for kind, _, standing in self.items()
        )

    def _find_open(self, standing: Standing | None) -> Standing | None:
        is_open = standing is not None and standing.is_open(self._clock.now())
        return standing if is_open else None

    def _trip(
        self,
        kind: CleanupCircuit,
        standings: dict[str, Standing],
        key: str,
        blow: Blow,
        subject: int,
    ) -> None:
        now = self._clock.now()
        before = standings.get(key)
        self.failures[kind, blow.failure_class] += 1
        circuit: Circuit | None = None
        until = blow.until or now + LIMIT_WAIT
        if blow.failure_class is not FailureClass.LIMIT:
            circuit = trip(
                before.circuit if before else None,
                Cause(
                    failure_class=blow.failure_class,
                    code=blow.code,
                    message=blow.message,
                ),
                now=now,
                chance_value=self._chance.random(),
            )
            until = circuit.open_until
        standings[key] = Standing(
            blow=blow,
            opened_at=now,
            open_until=until,
            circuit=circuit,
            subject=subject,
        )
        if before is None:
            self.opens[kind, blow.failure_class] += 1

    def _reset(
        self, kind: CleanupCircuit, standings: dict[str, Standing], key: str
    ) -> None:
        standing = standings.pop(key, None)
        if standing is not None:
            self.resets[kind, standing.blow.failure_class] += 1
