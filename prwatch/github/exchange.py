"""What stood on the wire: the typed facts that every judgement starts from."""

import datetime as dt
import email.utils
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from prwatch.domain.rate_limit import BUCKETS
from prwatch.github.plausible import is_plausible
from prwatch.github.text import clean_text

PathStep: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class GraphQLError:
    """One member of a GraphQL answer's `errors`. `type` and `code` are upper case."""

    message: str = ""
    type: str = ""
    code: str = ""
    path: tuple[PathStep, ...] = ()
    is_saml: bool = False
    type_name: str = ""
    field_name: str = ""
    has_problems: bool = False
    """Whether a variable was refused."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """
    One answer of GitHub to one request.

    `message` is the body's own `message`, `has_data` says that a GraphQL answer
    carried some. `headers` have lower-case names. `asked_bucket` is the bucket that
    the request was expected to use, '' when nobody said.
    """

    status: int
    headers: Mapping[str, str]
    operation: str = ""
    is_graphql: bool = False
    is_json: bool = True
    has_data: bool = False
    message: str = ""
    errors: tuple[GraphQLError, ...] = ()
    received_at: dt.datetime | None = None
    asked_bucket: str = ""

    @property
    def bucket(self) -> str:
        """Return the bucket that paid: the one that GitHub names, if it is known."""
        told = self.headers.get("x-ratelimit-resource", "")
        if told in BUCKETS:
            return told
        return self.asked_bucket or ("graphql" if self.is_graphql else "core")

    @property
    def request_id(self) -> str:
        """Return GitHub's own id of the request, or ''."""
        return self.headers.get("x-github-request-id", "")

    @property
    def date(self) -> dt.datetime | None:
        """Return GitHub's time of the answer (its `Date` header), else our own."""
        return parse_http_date(self.headers.get("date", "")) or self.received_at


def parse_http_date(text: str) -> dt.datetime | None:
    """Parse an HTTP date (RFC 9110, 5.6.7) to UTC; None when it is none we believe."""
    try:
        moment = email.utils.parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        moment = moment.astimezone(dt.UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if is_plausible(moment) else None


def parse_errors(value: Any) -> tuple[GraphQLError, ...]:
    """Parse the `errors` of an answer; one of a strange shape is kept as typeless."""
    if not isinstance(value, list):
        return (GraphQLError(),) if value else ()
    return tuple(_parse_error(each) for each in value)


def _parse_error(value: Any) -> GraphQLError:
    if not isinstance(value, dict):
        return GraphQLError()
    extensions = value.get("extensions")
    if not isinstance(extensions, dict):
        extensions = {}
    path = value.get("path")
    steps = path if isinstance(path, list) else []
    return GraphQLError(
        message=_text(value.get("message")),
        type=_text(value.get("type")).upper(),
        code=(_text(value.get("code")) or _text(extensions.get("code"))).upper(),
        path=tuple(each for each in steps if isinstance(each, str | int)),
        is_saml=extensions.get("saml_failure") is True,
        type_name=_text(extensions.get("typeName")),
        field_name=_text(extensions.get("fieldName")),
        has_problems="problems" in extensions,
    )


def _text(value: Any) -> str:
    return clean_text(value) if isinstance(value, str) else ""
