"""
When something that failed is tried again: circuits, their states and their waits.

A circuit is closed while all goes well, open until a time after a failure, and half
open while one probe is on its way. What is closed is not kept: a missing circuit is
a closed one. Rate limits open no circuit, they have their own times.
"""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from prwatch.domain.backoff import Backoff
from prwatch.domain.outcome import FailureClass


class CircuitKind(enum.StrEnum):
    """What a circuit stands for, from wide to narrow."""

    HOST = "host"
    """A host that answers nobody: name resolution, connections, 5xx."""
    WORKSPACE = "workspace"
    """The polling of one workspace: its token, or every request made with it."""
    ORGANISATION = "organisation"
    """What one organisation refuses a workspace: single sign-on, IP allow list."""
    RECORD = "record"
    """One pull request, branch or list."""


class CircuitState(enum.StrEnum):
    """
    Where a circuit stands.

    `closed` is entered by a success, by a changed connection and by hand, and left
    by a failure. `open` is entered by a failure and left when its time is over.
    `half_open` is entered by whoever then asks first, and left by what became of
    that probe; one that nobody reports on is open again in the next cycle. Circuits
    of polling live in memory: after a crash all are closed.
    """

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


TRANSITIONS: Final[Mapping[CircuitState, frozenset[CircuitState]]] = {
    CircuitState.CLOSED: frozenset({CircuitState.OPEN}),
    CircuitState.OPEN: frozenset({CircuitState.HALF_OPEN, CircuitState.CLOSED}),
    CircuitState.HALF_OPEN: frozenset({CircuitState.OPEN, CircuitState.CLOSED}),
}

_MINUTE: Final = dt.timedelta(minutes=1)

BACKOFFS: Final[Mapping[FailureClass, Backoff]] = {
    FailureClass.TRANSIENT: Backoff(
        base=_MINUTE / 2, factor=2, cap=10 * _MINUTE, jitter=0.25
    ),
    FailureClass.CONFIG: Backoff(
        base=10 * _MINUTE, factor=2, cap=360 * _MINUTE, jitter=0.25
    ),
    FailureClass.AUTH: Backoff(
        base=5 * _MINUTE, factor=2, cap=60 * _MINUTE, jitter=0.25
    ),
}
"""How long a circuit stays open, by what would help: time, an edit, or a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """
    Why a circuit opened. `code` is a stable word, `message` is for people.

    Raises:
        ValueError: A rate limit is no cause.
    """

    failure_class: FailureClass
    code: str
    message: str

    def __post_init__(self) -> None:
        if self.failure_class not in BACKOFFS:
            raise ValueError(f"{self.failure_class} opens no circuit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """
    A circuit that is not closed.

    `failures` counts those of one class in a row. `opened_at` is when the first of
    the row came, `open_until` when the next probe may go.
    """

    state: CircuitState
    cause: Cause
    failures: int
    opened_at: dt.datetime
    open_until: dt.datetime


def trip(
    circuit: Circuit | None, cause: Cause, *, now: dt.datetime, chance_value: float
) -> Circuit:
    """
    Return the circuit after a failure.

    A failure that comes while it is open, from a request that was on its way, says
    nothing new. One of another class begins a new row.
    """
    if circuit is not None and is_open(circuit, now):
        return circuit
    is_same = circuit is not None and (
        circuit.cause.failure_class is cause.failure_class
    )
    failures = circuit.failures + 1 if circuit is not None and is_same else 1
    wait = BACKOFFS[cause.failure_class].delay(failures, chance_value)
    return Circuit(
        state=CircuitState.OPEN,
        cause=cause,
        failures=failures,
        opened_at=circuit.opened_at if circuit is not None else now,
        open_until=now + wait,
    )


def is_open(circuit: Circuit, now: dt.datetime) -> bool:
    """
    Return whether it lets nothing through before its time.

    One that is open for longer than any wait was opened before the clock was set
    back: nobody knows any more how long it is still to wait.
    """
    if circuit.state is not CircuitState.OPEN:
        return False
    longest = BACKOFFS[circuit.cause.failure_class].longest
    return dt.timedelta() < circuit.open_until - now <= longest


def is_abandoned(circuit: Circuit, now: dt.datetime) -> bool:
    """
    Return whether nobody has asked, although its time was over for long.

    What it stands for is watched no more.
    """
    longest = BACKOFFS[circuit.cause.failure_class].longest
    is_waiting = circuit.state is CircuitState.OPEN
    return is_waiting and now - circuit.open_until > longest


def begin_probe(circuit: Circuit) -> Circuit:
    """Return the circuit of which one probe is on its way."""
    return replace(circuit, state=CircuitState.HALF_OPEN)


def give_back(circuit: Circuit) -> Circuit:
    """Return a half-open circuit whose probe was never reported on, to be asked."""
    return replace(circuit, state=CircuitState.OPEN)
