"""The answers that GitHub gives to any request, whatever was asked."""

import datetime as dt
import email.utils
from dataclasses import dataclass, field
from typing import Any

import msgspec

from prwatch.simulator.limits import Budget

DOCS = "https://docs.github.com/rest"
JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
UNICORN = (
    b"<!DOCTYPE html><html><head><title>Unicorn! &middot; GitHub</title></head>"
    b"<body><p>This page is taking too long to load.</p></body></html>"
)
SECONDARY_TEXT = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you "
    "try again. If you reach out to GitHub Support for help, please include the "
    "request ID {request_id}."
)


@dataclass(slots=True)
class Answer:
    """A status, a body and what is to be counted for it."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = JSON
    cost: int = 0
    ids_count: int = 0


def build_json(status: int, value: Any, **headers: str) -> Answer:
    """Return a JSON answer; an underscore in a header's name is a hyphen."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, msgspec.json.encode(value), named)


def build_failure(status: int, message: str, **headers: str) -> Answer:
    """Return a REST failure in GitHub's shape; its status is text there."""
    body = {"message": message, "documentation_url": DOCS, "status": str(status)}
    return build_json(status, body, **headers)


def build_secondary(request_id: str, retry_after: int | None) -> Answer:
    """Return the refusal by the secondary limit."""
    answer = build_failure(403, SECONDARY_TEXT.format(request_id=request_id))
    if retry_after is not None:
        answer.headers["retry-after"] = str(retry_after)
    return answer


def build_primary(
    login: str, number: int, *, is_graphql: bool, status: int = 403
) -> Answer:
    """Return the refusal by an empty bucket; GraphQL's has status 200."""
    text = f"API rate limit exceeded for user ID {number}."
    if not login:
        text = "API rate limit exceeded for 127.0.0.1."
    if is_graphql:
        return build_json(200, {"errors": [{"type": "RATE_LIMITED", "message": text}]})
    return build_failure(status, text)


def build_rate_headers(budget: Budget, bucket: str) -> dict[str, str]:
    """Return the headers that tell a client what is left."""
    return {
        "x-ratelimit-limit": str(budget.limit),
        "x-ratelimit-remaining": str(budget.remaining),
        "x-ratelimit-used": str(min(budget.used, budget.limit)),
        "x-ratelimit-reset": str(int(budget.reset_at.timestamp())),
        "x-ratelimit-resource": bucket,
    }


def render_http_date(at: dt.datetime) -> str:
    """Return the time as RFC 9110 wants it in `Date`."""
    return email.utils.format_datetime(at, usegmt=True)
