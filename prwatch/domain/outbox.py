"""Deliveries of events to sinks: their states, when to try again, when to give up."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prwatch.domain.events import Event


class DeliveryState(enum.StrEnum):
    """
    Where a delivery stands.

    PENDING waits for its due time. ACQUIRED is held by one worker until its lease
    ends; after a crash it is taken again then. DELIVERED, DROPPED and DEAD are
    settled: DROPPED was superseded and its sink asked for that, DEAD was refused
    for good or tried for too long, and only a person sends it again.
    """

    PENDING = "pending"
    ACQUIRED = "acquired"
    DELIVERED = "delivered"
    DROPPED = "dropped"
    DEAD = "dead"


TRANSITIONS: Final[Mapping[DeliveryState, frozenset[DeliveryState]]] = {
    DeliveryState.PENDING: frozenset({DeliveryState.ACQUIRED}),
    DeliveryState.ACQUIRED: frozenset(
        {
            DeliveryState.DELIVERED,
            DeliveryState.DROPPED,
            DeliveryState.PENDING,
            DeliveryState.DEAD,
        }
    ),
    DeliveryState.DELIVERED: frozenset(),
    DeliveryState.DROPPED: frozenset(),
    DeliveryState.DEAD: frozenset({DeliveryState.PENDING}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """
    One event on its way to one sink, held under a lease.

    `attempt` counts from 1. `is_superseded` says whether the watch's head has
    moved on since the event; a terminal event never is.
    """

    event: Event
    sink: str
    position: int
    attempt: int
    first_due_at: dt.datetime
    lease_token: str
    is_superseded: bool


@dataclass(frozen=True, slots=True)
class Delivered:
    """The sink has the event."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The sink may take it later; `after` is what it asked for, or None."""

    reason: str
    after: dt.timedelta | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """The sink will never take it."""

    reason: str


DeliveryOutcome = Delivered | Retry | Dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How one held delivery ends: the row's next state, and when it is due again."""

    event_id: str
    sink: str
    lease_token: str
    state: DeliveryState
    due_at: dt.datetime | None = None
    error: str = ""
