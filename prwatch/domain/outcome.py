"""What became of one thing that was asked of GitHub, judged at the edge."""

import datetime as dt
import enum
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T_co = TypeVar("T_co", covariant=True)


class FailureClass(enum.StrEnum):
    """Why something failed, and so what helps: a person, an edit, or time."""

    AUTH = "auth"
    CONFIG = "config"
    TRANSIENT = "transient"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Found(Generic[T_co]):
    """GitHub answered completely for this reference."""

    value: T_co


@dataclass(frozen=True, slots=True)
class NotFound:
    """GitHub says that it does not exist, or that we may not know it does."""

    reason: str = "not found"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """
    This credential may not read it.

    `scope` is `organisation` for SAML, IP allow lists and bans of a token kind,
    else `repository` or `record`; `code` is a stable word for health and logs.
    """

    reason: str
    scope: str = "record"
    code: str = "forbidden"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """GitHub answered for this reference with something that proves nothing."""

    reason: str
    code: str = "unreadable"


@dataclass(frozen=True, slots=True)
class Retry:
    """It could not be read this time; ask again, not before `after`."""

    reason: str
    after: dt.timedelta | None = None
    code: str = "retry"


Missing: TypeAlias = NotFound | Forbidden | Unreadable | Retry
Outcome: TypeAlias = Found[T_co] | NotFound | Forbidden | Unreadable | Retry
