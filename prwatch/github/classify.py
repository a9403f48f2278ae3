"""
Judges a whole answer: the one place that turns wire facts into our errors.

What one alias or field of a partial GraphQL answer means is `path_errors`' matter.
Messages are ours, never GitHub's, so that nothing secret or changing gets into a
state; the request's id travels beside them. Rules: GitHub's "Rate limits and query
limits for the GraphQL API" and "Troubleshooting the REST API".
"""

import datetime as dt
from typing import Final

from prwatch.domain.rate_limit import SECONDARY
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProtocolViolation,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
)
from prwatch.github.exchange import Exchange, GraphQLError
from prwatch.github.plausible import is_plausible
from prwatch.github.wording import (
    NOT_ACCESSIBLE,
    PRIMARY_LIMIT,
    REPOSITORY_BLOCKED,
    SECONDARY_LIMIT,
    SSO,
    Refusal,
    find_hint,
    find_refusal,
)
from prwatch.http.retry_after import parse_retry_after

LIMIT_TYPES: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT"})
LIMIT_CODES: Final = LIMIT_TYPES | {"GRAPHQL_RATE_LIMIT"}
_LONGEST_WAIT: Final = dt.timedelta(days=1)
_OUR_FAULT: Final = frozenset(
    {
        "MAX_NODE_LIMIT_EXCEEDED",
        "ARGUMENT_LIMIT",
        "EXCESSIVE_PAGINATION",
        "MISSING_PAGINATION_BOUNDARIES",
        "UNPROCESSABLE",
    }
)


class UnknownField(ProtocolViolation):
    """
    The server's schema lacks a field.

    `path` leads through the document to it; `field` is `Type.field`, '' where the
    server does not say.
    """

    path: tuple[str, ...] = ()
    field: str = ""


class NoGraphQL(ProtocolViolation):
    """The host is an Enterprise Server without a GraphQL interface."""


def judge(exchange: Exchange) -> ProviderError | None:
    """
    Return the error that the whole answer means, or None when it can be read.

    A GraphQL answer with data and `errors` can be read: its errors are judged path
    by path. That holds for an exhausted limit as well (see `find_limit`).
    """
    if exchange.is_graphql and exchange.status == 200 and exchange.has_data:
        return None
    limit = find_limit(exchange)
    if limit is not None:
        return limit
    if exchange.status == 200 and exchange.is_graphql:
        return _judge_without_data(exchange)
    return _judge_status(exchange)


def find_limit(exchange: Exchange) -> RateLimited | None:
    """
    Return the rate limit that the answer speaks of, or None.

    `retry_at` is on GitHub's clock, and None when GitHub names no time. An empty
    bucket on a good answer is no limit: the last call that is paid looks like that.
    """
    words = " ".join([exchange.message, *(each.message for each in exchange.errors)])
    may_refuse = exchange.status in {403, 429}
    may_say = may_refuse or exchange.is_graphql
    if may_say and SECONDARY_LIMIT.search(words):
        return _limited(exchange, SECONDARY)
    is_named = any(is_limit(each) for each in exchange.errors)
    if is_named or (may_say and PRIMARY_LIMIT.search(words)):
        return _limited(exchange, exchange.bucket)
    if not may_refuse or _is_permission(words):
        return None
    if exchange.headers.get("x-ratelimit-remaining") == "0":
        return _limited(exchange, exchange.bucket)
    if exchange.status == 429 or "retry-after" in exchange.headers:
        return _limited(exchange, SECONDARY)
    return None


def is_limit(error: GraphQLError) -> bool:
    """Tell whether an error speaks of a limit: by its type, its code or its words."""
    if error.type in LIMIT_TYPES or error.code in LIMIT_CODES:
        return True
    words = error.message
    return bool(SECONDARY_LIMIT.search(words) or PRIMARY_LIMIT.search(words))


def _is_permission(words: str) -> bool:
    known = find_refusal(words) or NOT_ACCESSIBLE.search(words)
    return bool(known or REPOSITORY_BLOCKED.search(words))


def _limited(exchange: Exchange, bucket: str) -> RateLimited:
    retry_at = _parse_retry_after(exchange)
    if retry_at is None and bucket != SECONDARY:
        retry_at = parse_epoch(exchange.headers.get("x-ratelimit-reset", ""))
    return RateLimited(
        "GitHub's secondary rate limit is reached"
        if bucket == SECONDARY
        else f"the {bucket} rate limit is used up",
        bucket=bucket,
        retry_at=retry_at,
        operation=exchange.operation,
        request_id=exchange.request_id,
        status=exchange.status,
    )


def _parse_retry_after(exchange: Exchange) -> dt.datetime | None:
    """Return the end of the wait that is asked for, on GitHub's clock, or None."""
    now = exchange.date
    if now is None:
        return None
    wait = parse_retry_after(exchange.headers.get("retry-after", ""), now)
    return None if wait is None else now + min(wait, _LONGEST_WAIT)


def parse_epoch(text: str) -> dt.datetime | None:
    """Parse epoch seconds to UTC; None for nonsense."""
    if not (text.isascii() and text.isdigit()) or len(text) > 11:
        return None
    moment = dt.datetime.fromtimestamp(int(text), dt.UTC)
    return moment if is_plausible(moment) else None


def _judge_status(exchange: Exchange) -> ProviderError | None:
    status = exchange.status
    if status == 304 or (200 <= status < 300 and exchange.is_json):
        return None
    if status == 401:
        return _error(AuthenticationFailed, exchange, "the token is refused", "token")
    if status == 403 and exchange.is_json:
        return _judge_forbidden(exchange)
    is_about_it = exchange.is_json and not exchange.is_graphql
    if status in {404, 410, 451} and is_about_it:
        said = {404: "not found", 410: "gone", 451: "blocked for legal reasons"}
        return _error(ResourceGone, exchange, said[status], "record")
    if status >= 500 or status == 408 or 200 <= status < 300:
        said_5xx = "GitHub answered with something that is no JSON"
        if not 200 <= status < 300:
            said_5xx = f"GitHub answered {status}"
        return _error(ProviderUnavailable, exchange, said_5xx, "host")
    return _judge_violation(exchange)


def _judge_violation(exchange: Exchange) -> ProviderError:
    status = exchange.status
    # Only a server says its version: a proxy's 404 is a mistake in an address.
    is_old = status == 404 and "x-github-enterprise-version" in exchange.headers
    kind = NoGraphQL if is_old and exchange.is_graphql else ProtocolViolation
    said = f"GitHub answered {status} to our request"
    error = _error(kind, exchange, said, "host")
    error.hint = find_hint(said)
    return error


def _judge_forbidden(exchange: Exchange) -> ProviderError:
    words = " ".join([exchange.message, *(each.message for each in exchange.errors)])
    refusal = find_refusal(words)
    if refusal is None and "required" in exchange.headers.get("x-github-sso", ""):
        refusal = SSO
    if refusal is not None:
        return _refused(exchange, refusal)
    if REPOSITORY_BLOCKED.search(words):
        return _error(
            PermissionDenied,
            exchange,
            "GitHub has blocked the repository",
            "repository",
        )
    return _error(
        PermissionDenied,
        exchange,
        "this token may not read it",
        "token" if exchange.is_graphql else "record",
    )


def _judge_without_data(exchange: Exchange) -> ProviderError:
    """Judge a GraphQL answer of status 200 that carries no data at all."""
    for error in exchange.errors:
        judged = _judge_error(exchange, error)
        if judged is not None:
            return judged
    said = "GitHub could not answer the query this time"
    if not exchange.is_json:
        said = "GitHub answered with something that is no GraphQL answer"
    elif not exchange.errors:
        said = "GitHub answered without data"
    return _error(ProviderUnavailable, exchange, said, "host")


def _judge_error(  # noqa: PLR0911 - one row of the table each
    exchange: Exchange, error: GraphQLError
) -> ProviderError | None:
    if error.code == "UNDEFINEDFIELD":
        unknown = UnknownField(
            "the server does not know a field that we ask for",
            operation=exchange.operation,
            request_id=exchange.request_id,
            scope="host",
            status=exchange.status,
        )
        unknown.path = tuple(str(each) for each in error.path)
        if error.type_name and error.field_name:
            unknown.field = f"{error.type_name}.{error.field_name}"
        return unknown
    refusal = SSO if error.is_saml else find_refusal(error.message)
    if refusal is not None:
        return _refused(exchange, refusal)
    if error.type == "INSUFFICIENT_SCOPES":
        judged = _error(
            AuthenticationFailed, exchange, "the token lacks a scope", "token"
        )
        judged.hint = "a classic token needs `repo` and `read:org`"
        return judged
    if error.type == "FORBIDDEN" and error.path == ("viewer",):
        # It is asked beside every question, and must not cost the answer.
        unknown = UnknownField(
            "this token may not say whose it is",
            operation=exchange.operation,
            request_id=exchange.request_id,
            status=exchange.status,
        )
        unknown.field = "Query.viewer"
        return unknown
    if error.type == "FORBIDDEN":
        return _error(PermissionDenied, exchange, "this token may not read it", "token")
    if error.type == "NOT_FOUND":
        return _error(ResourceGone, exchange, "not found", "record")
    if error.type in _OUR_FAULT or error.has_problems or _is_static(error):
        return _error(
            ProtocolViolation, exchange, "GitHub refuses our query as written", "host"
        )
    return None


def _is_static(error: GraphQLError) -> bool:
    """Tell whether the document itself was refused: parse and validation errors."""
    is_parse_error = error.message.startswith("Parse error")
    return not error.type and (is_parse_error or bool(error.code))


def _refused(exchange: Exchange, refusal: Refusal) -> ProviderError:
    error = _error(AuthenticationFailed, exchange, refusal.said, refusal.scope)
    error.hint = refusal.hint
    return error


def _error(
    kind: type[ProviderError], exchange: Exchange, message: str, scope: str
) -> ProviderError:
    return kind(
        message,
        operation=exchange.operation,
        request_id=exchange.request_id,
        scope=scope,
        status=exchange.status,
    )
