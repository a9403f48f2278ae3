"""
Every error that prwatch raises on purpose.

::

    PrwatchError
    ├── ConfigError                     exit 2
    ├── StoreError                      exit 3
    │   ├── StoreUnavailable            busy, locked, connection lost      retryable
    │   ├── StoreConflict               somebody changed the row first     retryable
    │   ├── StoreCorrupt                a check failed
    │   └── SchemaMismatch              found and expected version
    ├── NotFound (also LookupError)
    │   ├── WatchNotFound
    │   ├── TaskNotFound
    │   └── EventNotFound
    ├── ProviderError                   exit 4
    │   ├── ProviderUnavailable         5xx, timeout, network              retryable
    │   │   └── NoProgress              no request finished for minutes
    │   ├── RateLimited                 primary or secondary; retry_at     retryable
    │   │   └── ReserveKept             what is left is for people
    │   ├── AuthenticationFailed        bad token, missing scope, SSO, IP allow list
    │   ├── PermissionDenied            one resource is not granted
    │   ├── ResourceGone                404, 410, 451
    │   └── ProtocolViolation           an answer that we do not understand
    └── DaemonError                     the running daemon refused; its reason

Messages are ours: lower case, no trailing period, never a secret.
"""

import datetime as dt
from typing import ClassVar


class PrwatchError(Exception):
    """The base of all errors that a caller of prwatch may meet."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1
    hint: str = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def __str__(self) -> str:
        return self.message


class ConfigError(PrwatchError):
    """
    Something in the configuration cannot be used.

    `problems` holds one line each, ready to print: `file:line: key: what was
    found, what is allowed, the nearest valid name`.
    """

    code = "config_invalid"
    exit_code = 2

    def __init__(
        self, message: str, *, problems: tuple[str, ...] = (), hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class StoreError(PrwatchError):
    """The database could not do what was asked."""

    code = "store_failed"
    exit_code = 3


class StoreUnavailable(StoreError):
    """The database is busy, locked, unwritable or not reachable."""

    code = "store_unavailable"
    retryable = True


class StoreConflict(StoreError):
    """Somebody changed the row first, again and again."""

    code = "store_conflict"
    retryable = True


class StoreCorrupt(StoreError):
    """The database file failed a check."""

    code = "store_corrupt"


class SchemaMismatch(StoreError):
    """The database was written by another version of prwatch."""

    code = "schema_mismatch"

    def __init__(
        self, message: str, *, found: int, expected: int, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.found = found
        self.expected = expected


class NotFound(PrwatchError, LookupError):
    """What was named does not exist."""

    code = "not_found"


class WatchNotFound(NotFound):
    """No watch has that name or id."""

    code = "watch_not_found"


class TaskNotFound(NotFound):
    """No task has that id."""

    code = "task_not_found"


class EventNotFound(NotFound):
    """No event has that id."""

    code = "event_not_found"


class ProviderError(PrwatchError):
    """
    GitHub did not give what was asked.

    `scope` is the widest thing that the failure explains: `host`, `token`,
    `installation`, `organisation`, `repository` or `record`. `status` is the
    HTTP status, or 0 when no answer came.
    """

    code = "provider_failed"
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        operation: str = "",
        request_id: str = "",
        scope: str = "token",
        status: int = 0,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.operation = operation
        self.request_id = request_id
        self.scope = scope
        self.status = status


class ProviderUnavailable(ProviderError):
    """GitHub, or the way to it, is down, slow or answering nonsense."""

    code = "provider_unavailable"
    retryable = True


class NoProgress(ProviderUnavailable):
    """No request finished within the cycle's deadline."""

    code = "no_progress"


class RateLimited(ProviderError):
    """
    GitHub refuses calls until `retry_at`.

    `bucket` is `core`, `graphql` or `search` for the primary limit and
    `secondary` for the secondary one. `retry_at` is None when GitHub named no
    time; the caller then waits 60 s, doubling.
    """

    code = "rate_limited"
    retryable = True

    def __init__(
        self,
        message: str,
        *,
        bucket: str,
        retry_at: dt.datetime | None,
        operation: str = "",
        request_id: str = "",
        status: int = 0,
    ) -> None:
        super().__init__(
            message, operation=operation, request_id=request_id, status=status
        )
        self.bucket = bucket
        self.retry_at = retry_at


class ReserveKept(RateLimited):
    """What is left of a bucket is for people; polling waits until `retry_at`."""

    code = "reserve_kept"


class AuthenticationFailed(ProviderError):
    """The credential is refused as a whole, or by one organisation."""

    code = "authentication_failed"


class PermissionDenied(ProviderError):
    """The credential is good, but this one resource is not granted."""

    code = "permission_denied"


class ResourceGone(ProviderError):
    """The resource does not exist, or this credential may not know that it does."""

    code = "resource_gone"


class ProtocolViolation(ProviderError):
    """GitHub answered in a way that we do not understand."""

    code = "protocol_violation"


class DaemonError(PrwatchError):
    """
    The running daemon did not do what it was asked over its control socket.

    `reason` is the code in its answer, such as that of one of these errors,
    `unknown_command`, `busy`, `forbidden` or `timeout`.
    """

    code = "daemon_failed"

    def __init__(self, message: str, *, reason: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
