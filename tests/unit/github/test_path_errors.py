import pytest

from prwatch.domain.outcome import Forbidden, NotFound, Retry, Unreadable
from prwatch.errors import (
    AuthenticationFailed,
    PermissionDenied,
    ProviderUnavailable,
    RateLimited,
    ResourceGone,
)
from prwatch.github.exchange import parse_errors
from prwatch.github.path_errors import (
    NULL_WITHOUT_ERROR,
    judge_error,
    map_faults,
    outcome_of,
    retry_of,
)

MISSING = NotFound("GitHub does not know it, or this token may not see it")
REFUSED = Forbidden("this token may not read it")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param({"type": "NOT_FOUND"}, MISSING, id="not found"),
        pytest.param({"type": "FORBIDDEN"}, REFUSED, id="forbidden"),
        pytest.param(
            {"type": "FORBIDDEN", "extensions": {"saml_failure": True}},
            Forbidden(
                "the organisation asks for single sign-on with this token",
                "organisation",
                "sso",
            ),
            id="saml",
        ),
        pytest.param(
            {"type": "FORBIDDEN", "message": "…has an IP allow list enabled…"},
            Forbidden(
                "the organisation's IP allow list refuses this machine",
                "organisation",
                "ip_allow_list",
            ),
            id="ip allow list",
        ),
        pytest.param(
            {
                "type": "FORBIDDEN",
                "message": "`o` forbids access via a personal access",
            },
            Forbidden(
                "the organisation forbids this kind of token",
                "organisation",
                "token_kind_banned",
            ),
            id="token kind",
        ),
        pytest.param(
            {"type": "INSUFFICIENT_SCOPES"},
            Forbidden("the token lacks a scope", code="insufficient_scopes"),
            id="scope",
        ),
        pytest.param(
            {"type": "RATE_LIMIT"},
            Retry("a rate limit is reached", code="rate_limited"),
            id="limit",
        ),
        pytest.param(
            {"message": "You have exceeded a secondary rate limit"},
            Retry("a rate limit is reached", code="rate_limited"),
            id="secondary limit",
        ),
        pytest.param(
            {"type": "RESOURCE_LIMITS_EXCEEDED"},
            Retry("the request was too heavy for GitHub", code="resource_limits"),
            id="too heavy",
        ),
        pytest.param(
            {"message": "Something went wrong"},
            Retry("GitHub could not read it this time", code="transient"),
            id="without a type",
        ),
        pytest.param(
            {"type": "UNPROCESSABLE"},
            Unreadable("GitHub could not read it", "unprocessable"),
            id="any other type",
        ),
    ],
)
def test_an_error_says_what_became_of_its_reference(error, expected):
    assert judge_error(parse_errors([error])[0]) == expected


def test_errors_touch_only_what_their_path_names():
    errors = parse_errors(
        [
            {"type": "NOT_FOUND", "path": ["n0", 1]},
            {"type": "FORBIDDEN", "path": ["n0", 2, "reviews", "nodes", 0]},
            {"type": "FORBIDDEN", "path": ["other", 2]},
        ]
    )

    faults = map_faults(errors, [("n0", 0), ("n0", 1), ("n0", 2)])

    assert faults.explain_null(("n0", 0)) == NULL_WITHOUT_ERROR
    assert faults.explain_null(("n0", 1)) == MISSING
    assert dict(faults.references) == {("n0", 1): MISSING}
    assert [fault.fields for fault in faults.fields["n0", 2]] == [
        ("reviews", "nodes", 0)
    ]
    assert faults.explain_null(("n0", 2)) == REFUSED


def test_an_error_above_touches_everything_below_it():
    errors = parse_errors([{"type": "NOT_FOUND", "path": ["r0"]}])

    faults = map_faults(errors, [("r0", "pullRequest"), ("r1", "pullRequest")])

    assert faults.explain_null(("r0", "pullRequest")) == MISSING
    assert faults.explain_null(("r1", "pullRequest")) == NULL_WITHOUT_ERROR


def test_an_error_without_a_path_explains_the_nulls_that_no_other_does():
    errors = parse_errors(
        [{"type": "RATE_LIMITED"}, {"type": "NOT_FOUND", "path": ["n0", 0]}]
    )

    faults = map_faults(errors, [("n0", 0), ("n0", 1)])

    assert faults.explain_null(("n0", 0)) == MISSING
    assert faults.explain_null(("n0", 1)) == Retry(
        "a rate limit is reached", code="rate_limited"
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(ResourceGone("x", status=404), MISSING, id="404"),
        pytest.param(
            ResourceGone("x", status=410),
            NotFound("GitHub says that it is gone"),
            id="410",
        ),
        pytest.param(
            ResourceGone("x", status=451),
            Forbidden("blocked for legal reasons", "repository", "blocked"),
            id="451",
        ),
        pytest.param(
            PermissionDenied("no", scope="record"),
            Forbidden("no", "record"),
            id="record",
        ),
        pytest.param(PermissionDenied("no", scope="token"), None, id="whole token"),
        pytest.param(
            AuthenticationFailed(
                "the organisation's IP allow list refuses this machine",
                scope="organisation",
            ),
            Forbidden(
                "the organisation's IP allow list refuses this machine",
                "organisation",
                "ip_allow_list",
            ),
            id="organisation",
        ),
        pytest.param(AuthenticationFailed("no", scope="token"), None, id="bad token"),
        pytest.param(ProviderUnavailable("no"), None, id="unavailable"),
    ],
)
def test_only_a_failure_about_one_reference_is_its_outcome(error, expected):
    assert outcome_of(error) == expected


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(
            RateLimited("x", bucket="c", retry_at=None), "rate_limited", id="l"
        ),
        pytest.param(ProviderUnavailable("x"), "transient", id="unavailable"),
        pytest.param(AuthenticationFailed("x"), "authentication_failed", id="auth"),
    ],
)
def test_a_failed_further_page_is_asked_for_again(error, code):
    assert retry_of(error).code == code
