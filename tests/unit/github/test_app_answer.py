"""What each answer to an app that asks for a token means."""

import datetime as dt

import httpx
import pytest

from prwatch.errors import (
    AuthenticationFailed,
    ProtocolViolation,
    ProviderUnavailable,
    RateLimited,
)
from prwatch.github.app_answer import InstallationToken, read_answer
from prwatch.telemetry.secret import Secret

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
ONE = "2026-11-30T13:00:00Z"


def answer(status, body, **headers):
    return httpx.Response(status, json=body, headers=headers)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("ghs_" + "a" * 36, id="old shape"),
        pytest.param(("ghs_4242_eyJ" + "b" * 250 + ".c" * 2).ljust(520, "d"), id="new"),
    ],
)
def test_a_token_is_taken_as_it_is(token):
    response = answer(201, {"token": token, "expires_at": ONE, "permissions": {}})

    assert read_answer(response, NOON) == InstallationToken(
        Secret(token), NOON + dt.timedelta(hours=1)
    )


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        pytest.param(
            401,
            "A JSON web token could not be decoded",
            "GitHub does not accept the signature of the app",
            id="signature",
        ),
        pytest.param(
            401,
            "'Expiration time' claim ('exp') is too far in the future",
            "GitHub refuses the times in the app's signed token",
            id="times",
        ),
        pytest.param(
            401,
            "'Issuer' claim ('iss') must be an Integer",
            "GitHub does not know the app",
            id="issuer",
        ),
        pytest.param(
            404, "Integration not found", "GitHub does not know the app", id="no app"
        ),
        pytest.param(401, "Hm", "GitHub refuses the app", id="another reason"),
        pytest.param(
            403,
            "This installation has been suspended",
            "the app's installation is suspended",
            id="suspended",
        ),
        pytest.param(
            403,
            "Hm",
            "GitHub gives the app no token for this installation",
            id="forbidden",
        ),
        pytest.param(
            404,
            "Not Found",
            "the app has no such installation, or not any more",
            id="removed",
        ),
    ],
)
def test_a_refusal_is_one_of_the_installation_and_says_what_to_do(
    status, message, said
):
    response = answer(status, {"message": message}, **{"x-github-request-id": "A:1"})

    with pytest.raises(AuthenticationFailed) as caught:
        read_answer(response, NOON)

    error = caught.value
    assert str(error) == said
    assert error.hint
    assert (error.scope, error.status, error.request_id, error.operation) == (
        "installation",
        status,
        "A:1",
        "create installation token",
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"token": "ghs_hidden"}, id="no end"),
        pytest.param({"token": "", "expires_at": ONE}, id="an empty token"),
        pytest.param({"token": "ghs_hidden", "expires_at": "soon"}, id="no time"),
        pytest.param(
            {"token": "ghs_hidden", "expires_at": "9999-12-31T23:59:59Z"},
            id="the end of the calendar",
        ),
    ],
)
def test_an_answer_without_a_token_that_can_be_used_is_no_answer(body):
    with pytest.raises(ProtocolViolation) as caught:
        read_answer(answer(201, body), NOON)

    assert str(caught.value) == "GitHub's answer holds no installation token"
    assert caught.value.__cause__ is None
    assert "ghs_" not in repr(caught.value.__context__)


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        pytest.param(
            httpx.Response(502, html="<html>"), ProviderUnavailable, id="down"
        ),
        pytest.param(
            answer(403, {"message": "You have exceeded a secondary rate limit"}),
            RateLimited,
            id="secondary limit",
        ),
        pytest.param(
            answer(301, {"message": "Moved"}), ProtocolViolation, id="redirect"
        ),
        pytest.param(
            httpx.Response(403, html="<html>"), ProtocolViolation, id="a firewall"
        ),
        pytest.param(
            httpx.Response(404, html="<html>"), ProtocolViolation, id="another server"
        ),
    ],
)
def test_what_is_no_refusal_of_the_app_keeps_its_meaning(response, kind):
    with pytest.raises(kind):
        read_answer(response, NOON)
