"""
What PostgreSQL's error classes mean to us.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

import contextlib
from collections.abc import Iterator
from typing import Final

import asyncpg

from prwatch.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from prwatch.store.database import DatabaseBusy

# Most specific first.
_ERRORS: Final[tuple[tuple[type[BaseException], type[StoreError], str], ...]] = (
    (asyncpg.SerializationError, DatabaseBusy, "somebody changed the same rows"),
    (asyncpg.DeadlockDetectedError, DatabaseBusy, "two transactions waited in a ring"),
    (asyncpg.LockNotAvailableError, DatabaseBusy, "a row is locked"),
    (
        asyncpg.IntegrityConstraintViolationError,
        StoreConflict,
        "a constraint refused the row",
    ),
    (asyncpg.DataCorruptedError, StoreCorrupt, "the database is damaged"),
    (asyncpg.IndexCorruptedError, StoreCorrupt, "an index is damaged"),
    (
        asyncpg.InsufficientResourcesError,
        StoreUnavailable,
        "the server has no room or connections left",
    ),
    (
        asyncpg.InvalidAuthorizationSpecificationError,
        StoreUnavailable,
        "the server does not let us in",
    ),
    (asyncpg.InvalidCatalogNameError, StoreUnavailable, "there is no such database"),
    (asyncpg.PostgresConnectionError, StoreUnavailable, "the connection broke"),
    (asyncpg.OperatorInterventionError, StoreUnavailable, "the server stopped us"),
    (
        asyncpg.ReadOnlySQLTransactionError,
        StoreUnavailable,
        "the database cannot be written",
    ),
    (asyncpg.DataError, StoreError, "a value does not fit its column"),
    (asyncpg.PostgresError, StoreError, "PostgreSQL refused"),
    (asyncpg.InterfaceError, StoreUnavailable, "the connection cannot be used"),
    (TimeoutError, StoreUnavailable, "the server did not answer in time"),
    (OSError, StoreUnavailable, "the server cannot be reached"),
)


def translate(error: BaseException) -> StoreError:
    """Return our error for the driver's, without details that could hold values."""
    for foreign, ours, message in _ERRORS:
        if isinstance(error, foreign):
            code = getattr(error, "sqlstate", None)
            return ours(f"{message} ({code})" if code else message)
    return StoreError("PostgreSQL refused")


@contextlib.contextmanager
def map_errors() -> Iterator[None]:
    """Let no exception of the driver out."""
    try:
        yield
    except asyncpg.ClientConfigurationError:
        raise
    except (
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
        OSError,
        TimeoutError,
    ) as error:
        raise translate(error) from error
