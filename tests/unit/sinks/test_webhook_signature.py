import datetime as dt

import pytest

from prwatch.errors import ConfigError
from prwatch.sinks.webhook_signature import build_webhook_headers, parse_signing_key
from prwatch.telemetry.secret import Secret

SENT_AT = dt.datetime.fromtimestamp(1614265330.9, dt.UTC)


def test_the_signature_is_that_of_the_published_example():
    """The example of the Standard Webhooks libraries."""
    key = parse_signing_key(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))

    headers = build_webhook_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", SENT_AT, b'{"test": 2432232314}', key
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_without_a_key_nothing_is_signed():
    assert build_webhook_headers("e-1", SENT_AT, b"{}", None) == {
        "webhook-id": "e-1",
        "webhook-timestamp": "1614265330",
    }


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        pytest.param("whsec_YWJj", b"abc", id="base64"),
        pytest.param("plain secret ä", "plain secret ä".encode(), id="its own bytes"),
        pytest.param("YWJj", b"YWJj", id="without the prefix nothing is decoded"),
    ],
)
def test_the_key_is_read_from_the_secret(secret, key):
    assert parse_signing_key(Secret(secret)) == key


@pytest.mark.parametrize("secret", ["whsec_YWJ", "whsec_a b!", ""])
def test_a_secret_that_holds_no_key_is_refused_without_being_shown(secret):
    with pytest.raises(ConfigError) as caught:
        parse_signing_key(Secret(secret))

    assert "signing secret" in str(caught.value)
    assert not secret or secret not in f"{caught.value} {caught.value.hint}"


def test_a_prefix_alone_is_no_key():
    with pytest.raises(ConfigError, match="empty"):
        parse_signing_key(Secret("whsec_"))
