"""What a place that events are delivered to must do."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from prwatch.domain.outbox import Delivery, DeliveryOutcome
from prwatch.telemetry.redaction import redact


class Sink(Protocol):
    """
    A place that events are delivered to, at least once each.

    A sink holds no queue: what it did not take is kept and tried again by its
    caller, so it never tries twice by itself.
    """

    @property
    def name(self) -> str:
        """The name that deliveries are remembered under."""
        ...

    @property
    def kind(self) -> str:
        """`stdout`, `jsonl`, `webhook` or `command`."""
        ...

    @property
    def limit(self) -> int:
        """How many deliveries may be under way at a time."""
        ...

    async def deliver(self, delivery: Delivery) -> DeliveryOutcome:
        """
        Try once to hand over the event, as its CloudEvents envelope in JSON.

        `Delivered` is returned only after the destination has the whole event. A
        repeated delivery carries the same id. Whatever the destination does, the
        answer is an outcome and no exception, and it comes within the sink's
        timeout, but where a disk hangs. A reason is one line of at most 300
        characters without secrets. Up to `limit` calls may run at the same time;
        none mixes its text into another's. A call may be cancelled, and the sink
        can be used after that. After `close` the outcome is `Retry`.
        """
        ...

    async def close(self) -> None:
        """Release what the sink opened. It may be called again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkSettings:
    """
    What every sink has.

    `timeout` bounds one delivery as a whole. `redact` masks secrets in the texts
    of others before they become part of a reason.
    """

    name: str
    limit: int = 8
    timeout: dt.timedelta = dt.timedelta(seconds=10)
    redact: Callable[[str], str] = redact
