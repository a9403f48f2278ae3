"""
Events about the watching itself: a circuit opened or closed, a limit was reached.

They belong to no watch, and each workspace is told for itself. A notice says what
became true; one that was the last thing told about its subject is not told again.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from prwatch.domain.circuit import Circuit, CircuitKind
from prwatch.domain.events import Event, EventType
from prwatch.domain.task import Workspace
from prwatch.domain.timestamp import format_optional_time, format_time

CIRCUIT_TYPES = frozenset(
    {EventType.PROVIDER_CIRCUIT_OPENED, EventType.PROVIDER_CIRCUIT_CLOSED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitNotice:
    """
    A circuit opened, or closed with `circuit` None.

    `name` is the host or the organisation; that of a workspace's circuit is ''.
    """

    workspace: Workspace
    kind: CircuitKind
    name: str = ""
    circuit: Circuit | None = None

    @property
    def type(self) -> EventType:
        """Return the type of its event."""
        if self.circuit is None:
            return EventType.PROVIDER_CIRCUIT_CLOSED
        return EventType.PROVIDER_CIRCUIT_OPENED

    @property
    def subject(self) -> str:
        """Return what it is about: `acme/circuit/organisation/octo`."""
        parts = (self.workspace.name, "circuit", self.kind.value, self.name)
        return "/".join(part for part in parts if part)

    @property
    def is_end(self) -> bool:
        """Return whether it says that something is over."""
        return self.circuit is None

    def build_data(self) -> dict[str, object]:
        """Return the members of the event's `data`."""
        circuit = self.circuit
        return {
            "workspace": self.workspace.name,
            "circuit": self.kind.value,
            "name": self.name,
            "state": "open" if circuit else "closed",
            "class": circuit.cause.failure_class.value if circuit else None,
            "code": circuit.cause.code if circuit else None,
            "message": circuit.cause.message if circuit else None,
            "retry_at": format_time(circuit.open_until) if circuit else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitNotice:
    """A rate limit of the account that pays for a workspace was reached, or ended."""

    workspace: Workspace
    bucket: str
    blocked_until: dt.datetime | None = None
    """None when calls are allowed again."""

    @property
    def type(self) -> EventType:
        """Return the type of its event."""
        return EventType.RATE_LIMIT_CHANGED

    @property
    def subject(self) -> str:
        """Return what it is about: `acme/rate_limit/graphql`."""
        return f"{self.workspace.name}/rate_limit/{self.bucket}"

    @property
    def is_end(self) -> bool:
        """Return whether it says that something is over."""
        return self.blocked_until is None

    def build_data(self) -> dict[str, object]:
        """Return the members of the event's `data`."""
        return {
            "workspace": self.workspace.name,
            "bucket": self.bucket,
            "state": "recovered" if self.is_end else "exhausted",
            "blocked_until": format_optional_time(self.blocked_until),
        }


Notice: TypeAlias = CircuitNotice | LimitNotice


def build_notice(
    notice: Notice, *, event_id: str, source: str, now: dt.datetime
) -> Event:
    """Return the event of a notice."""
    return Event(
        id=event_id,
        type=notice.type,
        source=source,
        subject=notice.subject,
        time=now,
        workspace_id=notice.workspace.id,
        task_id="",
        repository_id="",
        pr_number=0,
        watch_id="",
        revision=0,
        head_ref_oid="",
        is_terminal=False,
        data=notice.build_data(),
    )


def is_news(notice: Notice, last_told: Mapping[str, object] | None) -> bool:
    """
    Return whether a notice says something else than what was told last.

    `last_told` is the data of the last event with its subject. That something ended
    is no news where it was never told to begin.
    """
    if last_told is None:
        return not notice.is_end
    return last_told.get("state") != notice.build_data()["state"]
