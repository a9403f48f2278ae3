"""Deliveries of events to sinks: their states, when to try again, when to give up."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from prwatch.domain.backoff import Backoff
from prwatch.domain.events import Event

_ERROR_LENGTH: Final = 500
_BACKOFF: Final = Backoff(
    base=dt.timedelta(seconds=5),
    factor=2,
    cap=dt.timedelta(minutes=30),
    jitter=0.25,
)


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
"""Where a delivery may go. Tests hold the rules and the documented diagram to it."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPolicy:
    """
    How long a delivery is tried.

    A sink's own wish for a wait (`Retry.after`) is honoured up to `longest_wait`.
    An attempt that fails `give_up_after` the first due time was the last one.
    """

    backoff: Backoff = _BACKOFF
    longest_wait: dt.timedelta = dt.timedelta(hours=6)
    give_up_after: dt.timedelta = dt.timedelta(hours=72)


DEFAULT_POLICY: Final = DeliveryPolicy()


def decide(
    outcome: DeliveryOutcome,
    delivery: Delivery,
    now: dt.datetime,
    *,
    chance_value: float,
    policy: DeliveryPolicy = DEFAULT_POLICY,
) -> Settlement:
    """
    Return how a held delivery ends after the sink's answer.

    `Delivered` and `Dead` settle it. `Retry` makes it due again after the longer
    of the backoff and the sink's bounded wish, and settles it as dead when it has
    been tried for too long. `chance_value` lies between 0 and 1.
    """
    match outcome:
        case Delivered():
            return _settle(delivery, DeliveryState.DELIVERED)
        case Dead(reason):
            return _settle(delivery, DeliveryState.DEAD, error=reason)
        case Retry(reason, after):
            if now - delivery.first_due_at >= policy.give_up_after:
                return _settle(delivery, DeliveryState.DEAD, error=reason)
            wait = policy.backoff.delay(delivery.attempt, chance_value)
            if after is not None:
                wait = max(wait, min(after, policy.longest_wait))
            return _settle(
                delivery, DeliveryState.PENDING, due_at=now + wait, error=reason
            )
        case _:
            assert_never(outcome)


def drop_superseded(delivery: Delivery, *, is_dropping: bool) -> Settlement | None:
    """
    Return the end of a delivery that need not be sent, or None when it must be.

    Only a sink that asked for it (`is_dropping`) loses superseded events, and a
    terminal event is always sent.
    """
    if is_dropping and delivery.is_superseded and not delivery.event.is_terminal:
        return _settle(delivery, DeliveryState.DROPPED)
    return None


def _settle(
    delivery: Delivery,
    state: DeliveryState,
    *,
    due_at: dt.datetime | None = None,
    error: str = "",
) -> Settlement:
    return Settlement(
        event_id=delivery.event.id,
        sink=delivery.sink,
        lease_token=delivery.lease_token,
        state=state,
        due_at=due_at,
        error=error[:_ERROR_LENGTH],
    )
