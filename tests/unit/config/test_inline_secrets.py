import pytest

from prwatch.config.inline_secrets import holds_secret, list_secret_lines

HEX = "0123456789abcdef" * 3


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"ghp_{HEX}", id="personal token"),
        pytest.param(f"gho_{HEX}", id="OAuth token"),
        pytest.param(f"ghu_{HEX}", id="user token of an app"),
        pytest.param(f"ghr_{HEX}", id="refresh token"),
        pytest.param(f"ghs_{HEX}.{HEX}-{HEX}", id="installation token"),
        pytest.param(f"github_pat_{HEX}", id="fine-grained token"),
        pytest.param("whsec_c2VjcmV0Cg==", id="webhook secret"),
        pytest.param(f"Authorization: Bearer {HEX}", id="header"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----", id="key of an app"),
        pytest.param("postgresql://me:pw@db.example/x", id="password in a URL"),
        pytest.param("https://:pw@a.example", id="password without a user"),
        pytest.param("https://a.example/?x=1&access_token=pw", id="secret parameter"),
    ],
)
def test_what_looks_like_a_secret_is_seen_inside_other_text(text):
    assert holds_secret(f'key = "{text}" # comment')


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ACME_GITHUB_TOKEN", id="name of a variable"),
        pytest.param("github-token", id="name of a credential"),
        pytest.param("git@github.com:octo/hello.git", id="address of a repository"),
        pytest.param("https://a.example:8443/x@y", id="at sign in a path"),
        pytest.param("postgresql://prwatch@db.example/x", id="user without a password"),
        pytest.param("the bearer authentication-scheme", id="sentence"),
        pytest.param("ghp_", id="prefix alone"),
        pytest.param("https://a.example/?id=1&page=2", id="plain parameters"),
    ],
)
def test_names_and_addresses_are_no_secrets(text):
    assert not holds_secret(text)


def test_each_line_with_a_secret_is_counted_from_one():
    text = f"a\n# ghp_{HEX}\nb\nwhsec_c2VjcmV0Cg==\n"

    assert list_secret_lines(text) == (2, 4)
