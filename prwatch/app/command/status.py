"""What `prwatch status` shows: what the store knows, and what the daemon says."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from prwatch.app.command.needs import NeedGroup, group_by_need
from prwatch.app.command.outlook import find_silent
from prwatch.app.command.watch_listing import list_watches
from prwatch.app.command.watch_row import WatchList
from prwatch.app.command.workbench import Workbench
from prwatch.app.refused_fields import read_refused
from prwatch.domain.capability import Capability, tell
from prwatch.domain.outbox import DeliveryState
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.errors import PrwatchError
from prwatch.store import events, rate_limit
from prwatch.store.database import Transaction
from prwatch.store.events import EventRecord
from prwatch.store.rate_limit import RateLimitBlock

Counts: TypeAlias = Mapping[tuple[str, DeliveryState], int]

LIMIT: Final = 10
"""How many pull requests of each kind are named."""

WATCH_STATES: Final = ("searching", "resting", "unread", "OPEN", "CLOSED", "MERGED")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStatus:
    """
    One workspace: its watches by state, its open pull requests by checks and review.

    `is_configured` is false for one that only the store knows. `observed_at` is when
    the last change was seen, `unreadable` what its token or server does not give.
    """

    name: str
    host: str
    is_configured: bool
    watches: Mapping[str, int]
    checks: Mapping[str, int]
    review: Mapping[str, int]
    adoptions: int
    observed_at: dt.datetime | None
    unreadable: tuple[Capability, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "name": self.name,
            "host": self.host,
            "configured": self.is_configured,
            "watches": dict(self.watches),
            "checks": dict(self.checks),
            "review": dict(self.review),
            "repository_watches": self.adoptions,
            "last_change_at": format_optional_time(self.observed_at),
            "unreadable": [each.as_json() for each in self.unreadable],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkStatus:
    """The deliveries of one sink by state; a sink may be gone from the file."""

    name: str
    is_configured: bool
    deliveries: Mapping[DeliveryState, int]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "name": self.name,
            "configured": self.is_configured,
            **{state.value: self.deliveries.get(state, 0) for state in DeliveryState},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonStatus:
    """
    The daemon that uses this state folder.

    `facts` is its own answer; without one `problem` says why, and the rest of the
    status is what the store knows.
    """

    pid: int
    facts: Mapping[str, Any] | None = None
    problem: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {"pid": self.pid, "problem": self.problem or None, "facts": self.facts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """
    Everything at one moment.

    `needs` are the open pull requests by what they need, and `blocks` the limits that
    forbid calls now.
    """

    at: dt.datetime
    daemon: DaemonStatus | None
    workspaces: tuple[WorkspaceStatus, ...]
    needs: tuple[NeedGroup, ...]
    sinks: tuple[SinkStatus, ...]
    blocks: tuple[RateLimitBlock, ...]
    last_event_at: dt.datetime | None

    @property
    def known_at(self) -> dt.datetime | None:
        """Return how new the newest fact of the store is, None without any."""
        times = [each.observed_at for each in self.workspaces if each.observed_at]
        if self.last_event_at:
            times.append(self.last_event_at)
        return max(times, default=None)

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "at": format_time(self.at),
            "daemon": self.daemon.as_json() if self.daemon else None,
            "store_known_at": format_optional_time(self.known_at),
            "workspaces": [each.as_json() for each in self.workspaces],
            "needs": [each.as_json() for each in self.needs],
            "sinks": [each.as_json() for each in self.sinks],
            "rate_limits": [
                {
                    "bucket": block.bucket,
                    "blocked_until": format_time(block.blocked_until),
                }
                for block in self.blocks
            ],
            "last_event_at": format_optional_time(self.last_event_at),
        }


async def read_status(bench: Workbench, *, limit: int = LIMIT) -> Status:
    """
    Read the store, and ask the daemon if one runs.

    A daemon that does not answer is told, not raised. Of what needs one thing up to
    `limit` pull requests are named.

    Raises:
        StoreError: The store could not be read.
    """
    now = bench.surroundings.clock.now()

    async def read(
        tx: Transaction,
    ) -> tuple[Counts, list[EventRecord], list[RateLimitBlock]]:
        counts = await events.count_deliveries(tx)
        newest = await events.list_events(tx, limit=1, newest=True)
        return counts, newest, await rate_limit.list_blocks(tx, now)

    counts, newest, blocks = await bench.database.read(read)
    daemon, listed = await _ask_daemon(bench), await list_watches(bench)
    silent = await find_silent(bench) if daemon and daemon.facts else {}
    return Status(
        at=now,
        daemon=daemon,
        workspaces=await _read_workspaces(bench, listed),
        needs=group_by_need(listed.watches, limit=limit, silent=silent),
        sinks=_count_sinks(bench, counts),
        blocks=tuple(blocks),
        last_event_at=newest[0].event.time if newest else None,
    )


async def _ask_daemon(bench: Workbench) -> DaemonStatus | None:
    info = bench.find_daemon()
    if info is None:
        return None
    try:
        facts = await bench.ask_daemon("status")
    except PrwatchError as error:
        return DaemonStatus(pid=info.pid, problem=str(error))
    if facts is None:
        return None
    return DaemonStatus(pid=info.pid, facts=facts)


async def _read_workspaces(
    bench: Workbench, listed: WatchList
) -> tuple[WorkspaceStatus, ...]:
    stored = {row.name: row for row in await bench.list_workspaces()}
    configured = [entry.name for entry in bench.config.workspaces]
    names: Sequence[str] = list(dict.fromkeys([*configured, *sorted(stored)]))
    found: list[WorkspaceStatus] = []
    for name in names:
        rows = [row for row in listed.watches if row.workspace == name]
        opened = [row for row in rows if row.state == "OPEN"]
        states = Counter(row.state for row in rows)
        times = [row.observed_at for row in rows if row.observed_at]
        found.append(
            WorkspaceStatus(
                name=name,
                host=bench.get_host(name),
                is_configured=name in configured,
                watches={state: states[state] for state in WATCH_STATES},
                checks=_count([row.read("checks") for row in opened]),
                review=_count([row.read("review") for row in opened]),
                adoptions=sum(row.workspace == name for row in listed.adoptions),
                observed_at=max(times, default=None),
                unreadable=tell(await read_refused(bench.database, stored[name]))
                if name in stored
                else (),
            )
        )
    return tuple(found)


def _count(words: Sequence[object]) -> dict[str, int]:
    """Count known words; what this token cannot read counts as `unobserved`."""
    return dict(sorted(Counter(str(word or "unobserved") for word in words).items()))


def _count_sinks(bench: Workbench, counts: Counts) -> tuple[SinkStatus, ...]:
    configured = [sink.name for sink in bench.config.sinks]
    names = dict.fromkeys([*configured, *sorted({sink for sink, _ in counts})])
    return tuple(
        SinkStatus(
            name=name,
            is_configured=name in configured,
            deliveries={
                state: count for (sink, state), count in counts.items() if sink == name
            },
        )
        for name in names
    )
