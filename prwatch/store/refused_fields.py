"""Rows of what connections cannot read, so that a restart does not try it again."""

from collections.abc import Iterable

from prwatch.domain.capability import RefusalReason, RefusedField
from prwatch.domain.connection import Connection
from prwatch.store.columns import from_microseconds, to_microseconds
from prwatch.store.database import Transaction
from prwatch.store.query import load_queries

_QUERIES = load_queries("refused_fields")


async def list_refused(
    tx: Transaction, connection: Connection
) -> tuple[RefusedField, ...]:
    """Return what the connection as it is now cannot read, by field and repository."""
    rows = await tx.fetch(
        _QUERIES["list_refused"],
        connection_id=connection.id,
        fingerprint=connection.fingerprint,
    )
    return tuple(
        RefusedField(
            field=row["field"],
            repository=row["repository"],
            reason=RefusalReason(row["reason"]),
            version=row["version"],
            learnt_at=from_microseconds(row["learnt_at"]),
        )
        for row in rows
    )


async def replace_refused(
    tx: Transaction, connection: Connection, refused: Iterable[RefusedField]
) -> None:
    """
    Let just these be what the connection cannot read.

    Rows that are as they should be are not written, and what an earlier state of the
    connection could not read is removed.
    """
    owner = {"connection_id": connection.id, "fingerprint": connection.fingerprint}
    await tx.execute(_QUERIES["remove_outdated"], **owner)
    stored = {
        (each.field, each.repository) for each in await list_refused(tx, connection)
    }
    kept = {(each.field, each.repository): each for each in refused}
    for field, repository in sorted(stored - kept.keys()):
        await tx.execute(
            _QUERIES["remove_refused"],
            connection_id=connection.id,
            field=field,
            repository=repository,
        )
    for each in kept.values():
        await tx.execute(
            _QUERIES["put_refused"],
            **owner,
            field=each.field,
            repository=each.repository,
            reason=each.reason.value,
            version=each.version,
            learnt_at=to_microseconds(each.learnt_at),
        )
