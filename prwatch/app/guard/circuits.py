"""
The circuits of polling: what is left out for now, why, and until when.

They live in memory. A restart begins with all closed, and with what was last told
about them, so that it tells nothing twice and a recovery that nobody saw once.
"""

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from prwatch.app.walk.cycle_report import Failure
from prwatch.clock import Clock
from prwatch.domain.circuit import (
    Cause,
    Circuit,
    CircuitKind,
    CircuitState,
    begin_probe,
    give_back,
    is_abandoned,
    is_open,
    trip,
)
from prwatch.domain.outcome import FailureClass

MAX_FAILURES = 50
"""Failures that one circuit keeps to be shown while it is open."""


@dataclass(frozen=True, slots=True)
class CircuitKey:
    """
    Which circuit.

    `workspace_id` is '' for a host. `name` is the host, the organisation in lower
    case or what a record is remembered by; a workspace's is ''.
    """

    kind: CircuitKind
    workspace_id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """A circuit opened, or closed with `circuit` None."""

    key: CircuitKey
    circuit: Circuit | None


_PARTS: Final = frozenset({CircuitKind.ORGANISATION, CircuitKind.RECORD})
"""What may be watched no more while its workspace is."""

Counts: TypeAlias = Counter[tuple[CircuitKind, FailureClass]]


class News:
    """
    What is to be told of circuits above records: that they opened, that they closed.

    `told` are those that were last told to be open, by this process or an earlier
    one. A recovery is news where the failure was told, whoever saw it.
    """

    def __init__(self) -> None:
        self.told: set[CircuitKey] = set()
        self._fresh: list[Transition] = []

    def add(self, key: CircuitKey, circuit: Circuit | None) -> None:
        """Note that a circuit opened, or closed with None."""
        if key.kind is CircuitKind.RECORD:
            return
        if circuit is None:
            self.told.discard(key)
        else:
            self.told.add(key)
        self._fresh.append(Transition(key, circuit))

    def keep_workspaces(self, workspace_ids: Collection[str]) -> None:
        """Forget what was told of workspaces that are gone."""
        self.told = {
            key
            for key in self.told
            if not key.workspace_id or key.workspace_id in workspace_ids
        }

    def take(self) -> list[Transition]:
        """Return what became news since the last call."""
        fresh, self._fresh = self._fresh, []
        return fresh


class Circuits:
    """
    All circuits of polling, the counts of what became of them, and what is news.

    A key that is not known is a closed circuit. `skips`, `opens`, `resets` and
    `failures` are counts by kind and class since the start of the process.
    """

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self.skips: Counts = Counter()
        self.opens: Counts = Counter()
        self.resets: Counts = Counter()
        self.failures: Counts = Counter()
        self.news = News()
        self.failed_accounts: defaultdict[str, set[str]] = defaultdict(set)
        """By host, the accounts that failed since it last spoke."""
        self._clock = clock
        self._chance = chance
        self._circuits: dict[CircuitKey, Circuit] = {}
        self._shown: dict[CircuitKey, dict[Failure, None]] = {}
        self._subjects: dict[CircuitKey, int] = {}
        self._fingerprints: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._circuits)

    @property
    def is_quiet(self) -> bool:
        """Return whether all are closed, and were last told to be."""
        return not self._circuits and not self.news.told

    def begin_cycle(
        self, fingerprints: Mapping[str, str], *, busy: Collection[str] = ()
    ) -> None:
        """
        Look at the connections of all present workspaces, once before each cycle.

        A workspace whose fingerprint changed begins anew, and what belonged to one
        that is gone is forgotten. A probe that nobody reported on may go again, but
        not for workspaces and hosts in `busy`: theirs are still on their way.
        """
        for key, circuit in list(self._circuits.items()):
            is_busy = (key.workspace_id or key.name) in busy
            if circuit.state is CircuitState.HALF_OPEN and not is_busy:
                self._circuits[key] = give_back(circuit)
            if key.workspace_id and key.workspace_id not in fingerprints:
                self._forget(key)
            elif fingerprints.get(key.workspace_id) != self._fingerprints.get(
                key.workspace_id
            ):
                self.reset(key)
        self.news.keep_workspaces(fingerprints)
        self._fingerprints = dict(fingerprints)

    def keep_only(self, kind: CircuitKind, names: Collection[str]) -> None:
        """
        Forget the circuits of that kind whose names exist no more.

        Of a record that was found (`list#node`) the finder's name counts.
        """
        for key in list(self._circuits):
            if key.kind is kind and key.name.partition("#")[0] not in names:
                self._forget(key)
        self.news.told -= {
            key for key in self.news.told if key.kind is kind and key.name not in names
        }

    def find(self, key: CircuitKey) -> Circuit | None:
        """Return a circuit that is not closed, or None."""
        return self._circuits.get(key)

    def admit(self, key: CircuitKey, *, subject: int = 0) -> bool:
        """
        Return whether it may be asked now, and count it if not.

        The first to come after its time is the probe; of a record everybody is, who
        asks in that cycle. A record whose `subject` is not the one that it failed
        with was edited: it begins anew.
        """
        circuit = self._circuits.get(key)
        if circuit is None:
            return True
        if self._subjects.get(key, subject) != subject:
            self.reset(key)
            return True
        if circuit.state is CircuitState.HALF_OPEN and key.kind is CircuitKind.RECORD:
            return True
        if circuit.state is CircuitState.HALF_OPEN or is_open(
            circuit, self._clock.now()
        ):
            self.skips[key.kind, circuit.cause.failure_class] += 1
            return False
        self._circuits[key] = begin_probe(circuit)
        return True

    def trip(
        self,
        key: CircuitKey,
        cause: Cause,
        *,
        failures: Iterable[Failure] = (),
        subject: int = 0,
    ) -> None:
        """Note a failure. `failures` are how it is shown while the circuit is open."""
        before = self._circuits.get(key)
        after = trip(
            before, cause, now=self._clock.now(), chance_value=self._chance.random()
        )
        self.failures[key.kind, cause.failure_class] += 1
        shown = self._shown.setdefault(key, {})
        if before is not None and after is not before:
            shown.clear()
        for failure in failures:
            if len(shown) < MAX_FAILURES:
                shown[failure] = None
        if after is before:
            return
        self._circuits[key] = after
        self._subjects[key] = subject
        if before is None:
            self.opens[key.kind, cause.failure_class] += 1
            self.news.add(key, after)

    def succeed(self, key: CircuitKey) -> None:
        """Note a success: the circuit is closed."""
        if key in self._circuits:
            self.reset(key)
        elif key in self.news.told:
            self.news.add(key, None)

    def reset(self, key: CircuitKey) -> bool:
        """Close a circuit; return whether it was not closed."""
        circuit = self._circuits.get(key)
        if circuit is None:
            return False
        self._forget(key)
        self.resets[key.kind, circuit.cause.failure_class] += 1
        self.news.add(key, None)
        return True

    def items(self) -> Iterator[tuple[CircuitKey, Circuit]]:
        """Yield the circuits that are not closed, widest first."""
        order = list(CircuitKind)
        yield from sorted(
            self._circuits.items(),
            key=lambda item: (
                order.index(item[0].kind),
                item[0].workspace_id,
                item[0].name,
            ),
        )

    def describe(self, key: CircuitKey) -> str:
        """Return how people know a record: what was asked when it failed."""
        return next((each.reference for each in self._shown.get(key, ())), key.name)

    def list_shown(self) -> list[Failure]:
        """List the failures that stand until their circuits are closed."""
        return [failure for shown in self._shown.values() for failure in shown]

    def count_open(self) -> Counts:
        """Count the circuits that are not closed, by kind and class."""
        return Counter(
            (key.kind, circuit.cause.failure_class)
            for key, circuit in self._circuits.items()
        )

    def _forget(self, key: CircuitKey) -> None:
        del self._circuits[key]
        self._shown.pop(key, None)
        self._subjects.pop(key, None)


def close_abandoned(circuits: Circuits, now: dt.datetime) -> None:
    """Close, after a cycle, what nobody asks for any more."""
    for key, circuit in list(circuits.items()):
        if key.kind in _PARTS and is_abandoned(circuit, now):
            circuits.reset(key)
