"""The signed token of an app, and what is said when it cannot be signed."""

import datetime as dt
import subprocess
import sys

import jwt
import pytest

from prwatch.errors import AuthenticationFailed
from prwatch.github.app_jwt import build_app_jwt
from prwatch.telemetry.secret import Secret
from tests.app_keys import make_key

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
UNCHECKED = {"verify_exp": False, "verify_iat": False}


@pytest.mark.parametrize("issuer", ["4242", "Iv23liAbCdEf"])
def test_it_is_signed_for_nine_minutes_and_backdated_by_one(issuer):
    private, public = make_key()

    signed = build_app_jwt(issuer=issuer, key=Secret(private), now=NOON)

    text = signed.reveal()
    claims = jwt.decode(text, public, algorithms=["RS256"], options=UNCHECKED)
    noon = int(NOON.timestamp())
    assert claims == {"iat": noon - 60, "exp": noon + 540, "iss": issuer}
    assert jwt.get_unverified_header(text) == {"alg": "RS256", "typ": "JWT"}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("nothing of the kind", id="no PEM"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----",
            id="no key in it",
        ),
        pytest.param(make_key()[1], id="a public key"),
    ],
)
def test_what_is_no_private_key_is_refused_and_not_quoted(key):
    with pytest.raises(AuthenticationFailed) as caught:
        build_app_jwt(issuer="4242", key=Secret(key), now=NOON)

    error = caught.value
    assert str(error) == "the private key of the app is no RSA key that can be used"
    assert (error.scope, error.__cause__) == ("installation", None)
    assert error.__suppress_context__


def test_what_is_not_installed_is_named_by_its_extra():
    script = (
        "import sys; sys.modules['jwt'] = None\n"
        "from prwatch.errors import ConfigError\n"
        "from prwatch.github.app_jwt import require_extra\n"
        "try: require_extra()\n"
        "except ConfigError as error: print(error, error.hint, sep='|')\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout == (
        "signing in as a GitHub App needs the extra `app`|pip install 'prwatch[app]'\n"
    )
