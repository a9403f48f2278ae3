import time

import pytest

from prwatch.telemetry.redaction import redact
from prwatch.telemetry.secret_shape import is_secret_name

BODY = "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"with ghp_{BODY}.", "with ***", id="personal token"),
        pytest.param(f"gho_{BODY}", "***", id="OAuth token"),
        pytest.param(f"(ghu_{BODY})", "(***)", id="user token"),
        pytest.param(f"ghr_{BODY}", "***", id="refresh token"),
        pytest.param(f"ghs_{BODY}", "***", id="installation token"),
        pytest.param("ghs_" + "a.b-c_D9" * 64 + "Zend", "***", id="520 characters"),
        pytest.param(f"x=github_pat_11AA_{BODY}", "x=***", id="fine-grained token"),
        pytest.param(f"b'ghp_{BODY}'", "b'***'", id="repr of bytes"),
        pytest.param("whsec_MfKQ9r8GKYqrTwjU+/=", "***", id="signing secret"),
        pytest.param("Bearer abc.def-1", "Bearer ***", id="bearer"),
        pytest.param("basic dXNlcjpwYXNz==", "basic ***", id="basic"),
        pytest.param(
            "Authorization: token 0123abcd, next",
            "Authorization: ***, next",
            id="authorization header",
        ),
        pytest.param(
            "('authorization', 'hunter2')",
            "('authorization', '***')",
            id="header as a pair",
        ),
        pytest.param(
            "{b'Proxy-Authorization': b'Digest abc'}",
            "{b'Proxy-Authorization': b'***'}",
            id="header in bytes",
        ),
        pytest.param(
            "https://me:p@ss@example.org/x@y",
            "https://***@example.org/x@y",
            id="user and password in an address",
        ),
        pytest.param(
            "git clone https://abc@example.org",
            "git clone https://***@example.org",
            id="token as the user",
        ),
        pytest.param(
            "/hook?a=1&access_token=abc%20d&b=2#f",
            "/hook?a=1&access_token=***&b=2#f",
            id="query parameter",
        ),
        pytest.param(
            "/x?X-Amz-Signature=12ab&key=q", "/x?X-Amz-Signature=***&key=***", id="sig"
        ),
        pytest.param(
            "access_token=abc&scope=repo", "access_token=***&scope=repo", id="form"
        ),
        pytest.param(
            "sent eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOjF9.c2ln-_ to",
            "sent *** to",
            id="web token",
        ),
        pytest.param('{"device_code":"3584d8"}', '{"device_code":"***"}', id="JSON"),
        pytest.param(
            r'{"client_secret": "a\"b", "x": 1}',
            '{"client_secret": "***", "x": 1}',
            id="JSON with an escaped quote",
        ),
        pytest.param("login(password='it')", "login(password='***')", id="repr"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
            "*** RSA PRIVATE KEY-----",
            id="private key",
        ),
        pytest.param("-----BEGIN PRIVATE KEY-----\nMII", "***", id="half a key"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text, expected):
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://github.com/octo/hello/pull/12?x=1", id="address"),
        pytest.param("a" * 40, id="commit"),
        pytest.param("PR_kwDOABCD1234", id="node id"),
        pytest.param("3 tokens, 2 secrets, token_env is missing", id="prose"),
        pytest.param("mail me@example.org", id="mail address"),
        pytest.param("01936f2e-7c00-7abc-8def-0123456789ab", id="our id"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("Authorization", True, id="header"),
        pytest.param(b"authorization", True, id="header in bytes"),
        pytest.param("set-cookie", True, id="cookie"),
        pytest.param("access_token", True, id="token"),
        pytest.param("clientSecret", True, id="camel case"),
        pytest.param("x-hub-signature-256", True, id="signature"),
        pytest.param("token_env", False, id="name of a variable"),
        pytest.param("tokens", False, id="count"),
        pytest.param("credential", False, id="name of a credential"),
        pytest.param(7, False, id="number"),
    ],
)
def test_telling_names_are_known(name, expected):
    assert is_secret_name(name) is expected


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "token",
        'token="',
        "://",
        "?",
        "&a.",
        "-",
        "-----BEGIN ",
        "bearer ",
        "ghp_",
        "eyJ",
        "eyJabcdefgh.",
        "secret",
        "\\",
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length_allows(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()

    redact(text)

    assert time.process_time() - started < 2.0
