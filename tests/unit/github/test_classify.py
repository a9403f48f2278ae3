"""Every shape in which GitHub refuses, and what it must mean."""

import datetime as dt
import json
from pathlib import Path

import pytest

from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProtocolViolation,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
)
from prwatch.github.classify import UnknownField, judge
from prwatch.github.exchange import Exchange, parse_errors, parse_http_date
from tests.github_answers import NOW

SAMPLES = Path(__file__).parents[2] / "samples"
UNDEFINED = {
    "path": ["query N", "nodes", "... on PullRequest", "mergeQueueEntry"],
    "extensions": {
        "code": "undefinedField",
        "typeName": "PullRequest",
        "fieldName": "mergeQueueEntry",
    },
    "message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'",
}


def make_exchange(status=200, *, errors=(), message="", **facts):
    headers = {
        name.replace("_", "-"): value
        for name, value in facts.pop("headers", {}).items()
    }
    return Exchange(
        status=status,
        headers=headers,
        message=message,
        errors=parse_errors(list(errors)),
        received_at=NOW,
        **facts,
    )


def graphql(*errors, status=200, **facts):
    return make_exchange(status, errors=errors, is_graphql=True, **facts)


def rest(status, message="", **headers):
    return make_exchange(status, message=message, headers=headers)


ABUSE = "You have triggered an abuse detection mechanism. Please wait a few minutes."
SECONDARY = "You have exceeded a secondary rate limit. Request ID AB:12."
ALLOW_LIST = (
    "Although you appear to have the correct authorization credentials, the `octo` "
    "organization has an IP allow list enabled, and 1.2.3.4 is not permitted"
)
CLASSIC_BANNED = (
    "`octo` forbids access via a personal access token (classic). Please use a GitHub "
    "App, OAuth App, or a personal access token with fine-grained permissions."
)


@pytest.mark.parametrize(
    ("exchange", "error", "scope"),
    [
        pytest.param(rest(401, "Bad credentials"), AuthenticationFailed, "token", id="bad token"),
        pytest.param(graphql(status=401), AuthenticationFailed, "token", id="no token for graphql"),
        pytest.param(
            rest(403, "Maximum number of login attempts exceeded. Please try again later."),
            AuthenticationFailed,
            "token",
            id="too many bad logins",
        ),
        pytest.param(
            rest(403, "Resource protected by organization SAML enforcement."),
            AuthenticationFailed,
            "organisation",
            id="saml by words",
        ),
        pytest.param(
            rest(403, "", x_github_sso="required; url=https://github.com/orgs/o/sso"),
            AuthenticationFailed,
            "organisation",
            id="saml by header",
        ),
        pytest.param(rest(403, ALLOW_LIST), AuthenticationFailed, "organisation", id="ip allow list"),
        pytest.param(rest(403, CLASSIC_BANNED), AuthenticationFailed, "organisation", id="classic tokens banned"),
        pytest.param(
            rest(403, "Although…, the `o` organization has enabled OAuth App access restrictions"),
            AuthenticationFailed,
            "organisation",
            id="oauth apps restricted",
        ),
        pytest.param(
            rest(403, "This installation has been suspended"),
            AuthenticationFailed,
            "installation",
            id="installation suspended",
        ),
        pytest.param(
            rest(403, "Sorry. Your account was suspended."),
            AuthenticationFailed,
            "token",
            id="account suspended",
        ),
        pytest.param(
            graphql({"type": "INSUFFICIENT_SCOPES", "message": "requires one of: ['repo']"}),
            AuthenticationFailed,
            "token",
            id="classic scope missing",
        ),
        pytest.param(
            graphql({"type": "FORBIDDEN", "extensions": {"saml_failure": True}}),
            AuthenticationFailed,
            "organisation",
            id="saml in graphql without data",
        ),
        pytest.param(
            rest(403, "Resource not accessible by personal access token"),
            PermissionDenied,
            "record",
            id="permission missing",
        ),
        pytest.param(
            rest(403, "Resource not accessible by integration", x_ratelimit_remaining="0"),
            PermissionDenied,
            "record",
            id="permission missing while the bucket is empty",
        ),
        pytest.param(rest(403, "Repository access blocked"), PermissionDenied, "repository", id="blocked"),
        pytest.param(graphql({"type": "FORBIDDEN"}), PermissionDenied, "token", id="query forbidden"),
        pytest.param(rest(404, "Not Found"), ResourceGone, "record", id="not found"),
        pytest.param(rest(410, "Gone"), ResourceGone, "record", id="gone"),
        pytest.param(rest(451), ResourceGone, "record", id="legal reasons"),
        pytest.param(rest(502), ProviderUnavailable, "host", id="bad gateway"),
        pytest.param(rest(500), ProviderUnavailable, "host", id="server error"),
        pytest.param(rest(408), ProviderUnavailable, "host", id="request timeout"),
        pytest.param(
            make_exchange(200, is_json=False), ProviderUnavailable, "host", id="html with 200"
        ),
        pytest.param(
            graphql(is_json=False), ProviderUnavailable, "host", id="html with 200 for graphql"
        ),
        *(
            pytest.param(
                make_exchange(status, is_json=False, is_graphql=is_graphql),
                ProtocolViolation,
                "host",
                id=f"a page of somebody in between, {status}",
            )
            for status in (403, 404, 410, 451)
            for is_graphql in (False, True)
        ),
        pytest.param(graphql(), ProviderUnavailable, "host", id="data null without errors"),
        pytest.param(
            graphql({"message": "Something went wrong while executing your query."}),
            ProviderUnavailable,
            "host",
            id="internal timeout without a type",
        ),
        pytest.param(graphql({"type": "SERVICE_UNAVAILABLE"}), ProviderUnavailable, "host", id="unavailable"),
        pytest.param(
            graphql({"type": "RESOURCE_LIMITS_EXCEEDED"}), ProviderUnavailable, "host", id="too heavy"
        ),
        pytest.param(graphql({"message": "x"}, status=502), ProviderUnavailable, "host", id="502 with errors"),
        pytest.param(graphql(UNDEFINED), UnknownField, "host", id="unknown field"),
        pytest.param(graphql({"type": "NOT_FOUND"}), ResourceGone, "record", id="whole query not found"),
        pytest.param(graphql({"type": "MAX_NODE_LIMIT_EXCEEDED"}), ProtocolViolation, "host", id="too many nodes"),
        pytest.param(graphql({"type": "ARGUMENT_LIMIT"}), ProtocolViolation, "host", id="101 ids"),
        pytest.param(rest(400, "Problems parsing JSON"), ProtocolViolation, "host", id="bad request"),
        pytest.param(rest(302), ProtocolViolation, "host", id="a redirect nobody expects"),
        pytest.param(graphql(status=404), ProtocolViolation, "host", id="no graphql there"),
    ],
)  # fmt: skip
def test_a_refusal_means_one_error_with_one_scope(exchange, error, scope):
    judged = judge(exchange)

    assert type(judged) is error
    assert judged.scope == scope
    assert len(str(judged)) <= 300


@pytest.mark.parametrize(
    ("exchange", "bucket", "wait"),
    [
        pytest.param(
            graphql({"type": "RATE_LIMITED"}, headers={"x_ratelimit_reset": "1796040100"}),
            "graphql",
            dt.datetime.fromtimestamp(1796040100, dt.UTC) - NOW,
            id="primary in a 200",
        ),
        pytest.param(graphql({"type": "RATE_LIMIT"}), "graphql", None, id="the other spelling"),
        pytest.param(graphql({"type": "rate_limited"}), "graphql", None, id="in lower case"),
        pytest.param(
            graphql({"code": "graphql_rate_limit"}), "graphql", None, id="by code"
        ),
        pytest.param(
            rest(403, "API rate limit exceeded for user ID 1.", x_ratelimit_resource="search"),
            "search",
            None,
            id="primary of a bucket",
        ),
        pytest.param(rest(429, "API rate limit exceeded"), "core", None, id="primary as 429"),
        pytest.param(
            rest(403, SECONDARY, retry_after="7", x_ratelimit_remaining="5000"),
            "secondary",
            dt.timedelta(seconds=7),
            id="secondary with remaining left",
        ),
        pytest.param(rest(403, ABUSE, retry_after="60"), "secondary", dt.timedelta(seconds=60), id="old wording"),
        pytest.param(rest(429), "secondary", None, id="secondary without words"),
        pytest.param(rest(403, x_ratelimit_remaining="0"), "core", None, id="primary without words"),
        pytest.param(
            rest(403, "", retry_after="60", x_ratelimit_remaining="4000"),
            "secondary",
            dt.timedelta(seconds=60),
            id="403 that only names a wait",
        ),
        pytest.param(graphql({"message": SECONDARY}), "secondary", None, id="secondary in a 200"),
        pytest.param(
            rest(403, SECONDARY, retry_after="Mon, 30 Nov 2026 12:01:30 GMT"),
            "secondary",
            dt.timedelta(seconds=90),
            id="wait until a date",
        ),
        pytest.param(rest(403, SECONDARY, retry_after="soon"), "secondary", None, id="wait that is nonsense"),
        pytest.param(graphql({"code": "RATE_LIMITED"}), "graphql", None, id="the type as a code"),
        pytest.param(
            graphql({"message": "API rate limit already exceeded for user ID 1."}), "graphql", None, id="words alone in a 200"
        ),
        pytest.param(
            graphql({"type": "RATE_LIMITED"}, headers={"retry_after": "9"}),
            "graphql",
            dt.timedelta(seconds=9),
            id="primary that names a wait",
        ),
        pytest.param(
            rest(429, "API rate limit exceeded", x_ratelimit_resource="dependency_snapshots"),
            "core",
            None,
            id="a bucket that nobody asked for",
        ),
        pytest.param(rest(429, SECONDARY.upper()), "secondary", None, id="secondary in upper case"),
        pytest.param(
            graphql({"message": SECONDARY}, status=403, headers={"retry_after": "7"}),
            "secondary",
            dt.timedelta(seconds=7),
            id="secondary as 403 of graphql",
        ),
    ],
)  # fmt: skip
def test_a_limit_names_its_bucket_and_when_to_come_back(exchange, bucket, wait):
    judged = judge(exchange)

    assert isinstance(judged, RateLimited)
    assert judged.bucket == bucket
    assert judged.retry_at == (None if wait is None else NOW + wait)


@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(rest(200), id="good"),
        pytest.param(rest(304), id="not modified"),
        pytest.param(rest(200, x_ratelimit_remaining="0"), id="the last paid call"),
        pytest.param(
            graphql({"type": "NOT_FOUND", "path": ["r0"]}, has_data=True), id="partial"
        ),
        pytest.param(
            graphql({"type": "RATE_LIMITED"}, has_data=True), id="partial and limited"
        ),
    ],
)
def test_what_can_be_read_is_no_error(exchange):
    assert judge(exchange) is None


@pytest.mark.parametrize(
    ("name", "error", "is_graphql"),
    [
        pytest.param("not_found", ResourceGone, False, id="404"),
        pytest.param("unauthorized", AuthenticationFailed, False, id="401"),
        pytest.param("graphql_parse_error", ProtocolViolation, True, id="parse error"),
        pytest.param(
            "graphql_missing_variable", ProtocolViolation, True, id="variable"
        ),
    ],
)
def test_recorded_refusals_are_understood(name, error, is_graphql):
    recorded = json.loads((SAMPLES / f"{name}.json").read_text())["response"]
    headers = {key.lower(): value for key, value in recorded["headers"].items()}

    judged = judge(
        Exchange(
            status=recorded["status"],
            headers=headers,
            is_graphql=is_graphql,
            message=recorded["body"].get("message", ""),
            errors=parse_errors(recorded["body"].get("errors")),
        )
    )

    assert type(judged) is error


def test_a_wait_in_seconds_counts_from_the_answer_or_not_at_all():
    limit = judge(Exchange(status=429, headers={"retry-after": "7"}))

    assert limit.retry_at is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Mon, 30 Nov 2026 12:00:00 GMT", NOW, id="as it should be"),
        pytest.param("Mon, 30 Nov 2026 12:00:00 -0000", NOW, id="without a zone"),
        pytest.param("Fri, 01 Nov 2019 13-36-03 GMT", None, id="as a recording has it"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_date_is_parsed_to_utc_or_not_at_all(text, expected):
    assert parse_http_date(text) == expected


def test_strange_errors_are_kept_as_errors_without_a_type():
    errors = parse_errors([None, {"message": 5, "path": [None, "a", 1.5, 2]}, "text"])

    assert [each.type for each in errors] == ["", "", ""]
    assert errors[1].path == ("a", 2)
    assert len(parse_errors({"message": "no list"})) == 1
    assert parse_errors(None) == ()
