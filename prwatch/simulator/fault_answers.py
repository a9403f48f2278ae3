"""The answers that stand in the place of good ones, in GitHub's words and shapes."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from prwatch.simulator.answer import (
    HTML,
    UNICORN,
    Answer,
    build_failure,
    build_json,
    build_secondary,
)
from prwatch.simulator.faults import Fault

SECONDARY_IN_GRAPHQL: Final = 200
ABUSE_TEXT: Final = (
    "You have triggered an abuse detection mechanism. Please wait a few minutes "
    "before you try again."
)
SAML_TEXT: Final = (
    "Resource protected by organization SAML enforcement. You must grant your "
    "Personal Access token access to this organization."
)
IP_TEXT: Final = (
    "Although you appear to have the correct authorization credentials, the "
    "`{organization}` organization has an IP allow list enabled, and your IP address "
    "is not permitted to access this resource."
)
SCOPES_TEXT: Final = (
    "Your token has not been granted the required scopes to execute this query. The "
    "'login' field requires one of the following scopes: ['read:org']."
)
TIMEOUT_TEXT: Final = (
    "Something went wrong while executing your query. This may be the result of a "
    "timeout, or it could be a GitHub bug. Please include `{request_id}` when "
    "reporting this issue."
)
SLOW_TEXT: Final = "We couldn't respond to your request in time. Please try again."
NODES_TEXT: Final = (
    "By the time this query traverses to the contexts connection, it is requesting "
    "up to 1,000,000 possible nodes which exceeds the maximum limit of 500,000."
)
NO_TEXT: Final = "Could not resolve to a Repository with the name given."
NOT_ACCESSIBLE_TEXT: Final = "Resource not accessible by personal access token"


def build_replacement(fault: Fault, request_id: str, *, is_graphql: bool) -> Answer:
    """Return the answer that stands in the place of the good one."""
    if fault.kind in _FAILURES:
        status, message = _FAILURES[fault.kind]
        return build_failure(status, message)
    if fault.kind in _PAGES:
        return Answer(_PAGES[fault.kind], UNICORN, content_type=HTML)
    if fault.kind in _BODIES:
        status, body = _BODIES[fault.kind]
        return build_json(status, body)
    return _BUILDERS[fault.kind](fault, request_id, is_graphql)


def _build_secondary(fault: Fault, request_id: str, _: bool) -> Answer:
    answer = build_secondary(request_id, fault.retry_after)
    if fault.status == SECONDARY_IN_GRAPHQL:
        refused = build_secondary(request_id, fault.retry_after)
        text = "You have exceeded a secondary rate limit."
        error = {"type": "RATE_LIMITED", "message": text}
        answer = build_json(200, {"data": None, "errors": [error]})
        answer.headers = refused.headers
    answer.status = fault.status or answer.status
    return answer


def _build_abuse(fault: Fault, _: str, __: bool) -> Answer:
    return build_failure(403, ABUSE_TEXT, retry_after=str(fault.retry_after or 60))


def _build_sso(fault: Fault, _: str, __: bool) -> Answer:
    place = f"https://github.com/orgs/{fault.organization}/sso"
    return build_failure(403, SAML_TEXT, x_github_sso=f"required; url={place}")


def _build_ip_allow_list(fault: Fault, _: str, __: bool) -> Answer:
    return build_failure(403, IP_TEXT.format(organization=fault.organization))


def _build_not_accessible(_: Fault, __: str, is_graphql: bool) -> Answer:
    if is_graphql:
        return _build_null_repository("FORBIDDEN", NOT_ACCESSIBLE_TEXT)
    return build_failure(403, NOT_ACCESSIBLE_TEXT)


def _build_no_repository(_: Fault, __: str, is_graphql: bool) -> Answer:
    if is_graphql:
        return _build_null_repository("NOT_FOUND", NO_TEXT)
    return build_failure(404, "Not Found")


def _build_null_repository(kind: str, message: str) -> Answer:
    error = {"type": kind, "path": ["repository"], "message": message}
    return build_json(200, {"data": {"repository": None}, "errors": [error]})


def _build_typeless(fault: Fault, request_id: str, _: bool) -> Answer:
    errors = [{"message": TIMEOUT_TEXT.format(request_id=request_id)}]
    return build_json(fault.status or 200, {"data": None, "errors": errors})


_BUILDERS: Final[Mapping[str, Callable[[Fault, str, bool], Answer]]] = {
    "secondary": _build_secondary,
    "abuse": _build_abuse,
    "sso": _build_sso,
    "ip_allow_list": _build_ip_allow_list,
    "not_accessible": _build_not_accessible,
    "no_repository": _build_no_repository,
    "something_went_wrong": _build_typeless,
    "empty200": lambda *_: Answer(200, b""),
}
_FAILURES: Final[Mapping[str, tuple[int, str]]] = {
    "bad_credentials": (401, "Bad credentials"),
    "max_login_attempts": (
        403,
        "Maximum number of login attempts exceeded. Please try again later.",
    ),
    "account_suspended": (403, "Sorry. Your account was suspended."),
    "suspended_installation": (403, "This installation has been suspended"),
    "gone410": (410, "Issues are disabled for this repo"),
    "server_error_400": (400, "Problems parsing JSON"),
}
_PAGES: Final[Mapping[str, int]] = {
    "html502": 502,
    "html503": 503,
    "html504": 504,
    "hang": 504,
    "not_json": 200,
}


def _build_typed(kind: str, message: str, **members: Any) -> tuple[int, Any]:
    errors = [{"type": kind, "message": message}]
    return 200, {**members, "errors": errors}


_BODIES: Final[Mapping[str, tuple[int, Any]]] = {
    "json500": (500, {"message": "Server Error"}),
    "json502": (502, {"message": "Server Error"}),
    "json503": (503, {"message": "Service unavailable", "code": "503"}),
    "timeout504": (504, {"message": SLOW_TEXT}),
    "null_data": (200, {"data": None}),
    "service_unavailable": _build_typed(
        "SERVICE_UNAVAILABLE", "Service unavailable. Please try again.", data=None
    ),
    "internal": _build_typed("INTERNAL", "Something went wrong", data=None),
    "max_nodes": _build_typed("MAX_NODE_LIMIT_EXCEEDED", NODES_TEXT),
    "insufficient_scopes": _build_typed("INSUFFICIENT_SCOPES", SCOPES_TEXT),
    "dmca451": (
        451,
        {"message": "Repository access blocked", "block": {"reason": "dmca"}},
    ),
    "blocked403": (
        403,
        {"message": "Repository access blocked", "block": {"reason": "tos"}},
    ),
}
