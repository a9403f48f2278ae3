"""
The circuit of a folder of watch files: stored, so that a restart keeps it.

It holds for one state of the entry and of the connection. At the start of a process
each that is open lets one probe through.
"""

import hashlib

from prwatch.app.runtime import Runtime
from prwatch.app.sync.memory import Followed
from prwatch.config.durations import format_duration
from prwatch.domain.circuit import Cause, Circuit, begin_probe, is_open, trip
from prwatch.domain.connection import Connection
from prwatch.store import watch_files
from prwatch.store.database import Transaction
from prwatch.store.watch_files import StoredCircuit


def build_fingerprint(followed: Followed, connection: Connection) -> str:
    """Return what changes when somebody edits the entry, or the connection changes."""
    entry = followed.entry
    text = "\n".join(
        (
            connection.fingerprint,
            format_duration(entry.interval),
            str(entry.poll_enabled),
        )
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def holds_back(
    runtime: Runtime, followed: Followed, stored: StoredCircuit | None, fingerprint: str
) -> bool:
    """Return whether the folder is not to be asked for before its time."""
    if stored is None or stored.fingerprint != fingerprint:
        return False
    # A start lets one probe through: a token of the environment may have been replaced,
    # which no fingerprint tells. A process that dies again and again asks once each
    # time, and each probe that fails makes the wait of those that stay alive longer.
    if followed.folder.id not in runtime.sync_memory.looked_at:
        return False
    return is_open(stored.circuit, runtime.clock.now())


async def open_circuit(
    runtime: Runtime,
    followed: Followed,
    before: StoredCircuit | None,
    cause: Cause,
    fingerprint: str,
) -> Circuit:
    """Store that a folder could not be read, and return until when it is left out."""
    is_same = before is not None and before.fingerprint == fingerprint
    circuit = trip(
        begin_probe(before.circuit) if before is not None and is_same else None,
        cause,
        now=runtime.clock.now(),
        chance_value=runtime.surroundings.chance.random(),
    )

    async def write(tx: Transaction) -> None:
        stored = StoredCircuit(fingerprint=fingerprint, circuit=circuit)
        await watch_files.put_circuit(tx, followed.folder.id, stored)

    await runtime.database.transact(write)
    return circuit


async def close_circuit(runtime: Runtime, followed: Followed) -> None:
    """Store that a folder was read."""

    async def write(tx: Transaction) -> None:
        await watch_files.remove_circuit(tx, followed.folder.id)

    await runtime.database.transact(write)
