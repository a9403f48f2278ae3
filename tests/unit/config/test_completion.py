import datetime as dt

import pytest

from prwatch.config import SecretReference, SecretSource, load_config

HOME = {"HOME": "/home/me"}
KEYS = (
    "interval",
    "hot_interval",
    "tick",
    "search_interval",
    "search_idle_interval",
    "search_rest_interval",
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("", (60, 15, 15, 60, 300, 900), id="defaults"),
        pytest.param('interval = "5s"', (5, 5, 5, 60, 300, 900), id="short interval"),
        pytest.param(
            'interval = "5s"\ntick = "1s"', (5, 5, 1, 60, 300, 900), id="own tick"
        ),
        pytest.param(
            'hot_interval = "2s"', (60, 2, 2, 60, 300, 900), id="short hot interval"
        ),
        pytest.param(
            'search_interval = "10m"', (60, 15, 15, 600, 600, 900), id="long search"
        ),
        pytest.param(
            'search_idle_interval = "1h"', (60, 15, 15, 60, 3600, 3600), id="long idle"
        ),
    ],
)
def test_intervals_that_nobody_gave_follow_those_that_somebody_gave(text, seconds):
    poll = load_config(f"[poll]\n{text}\n", environ=HOME).config.poll

    expected = tuple(dt.timedelta(seconds=each) for each in seconds)
    assert tuple(getattr(poll, key) for key in KEYS) == expected


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        pytest.param("", SecretReference(SecretSource.ENV, "GITHUB_TOKEN"), id="none"),
        pytest.param(
            'token_env = "A"', SecretReference(SecretSource.ENV, "A"), id="environment"
        ),
        pytest.param(
            'token_file = "~/a"',
            SecretReference(SecretSource.FILE, "/home/me/a"),
            id="file",
        ),
        pytest.param(
            'token_credential = "a"',
            SecretReference(SecretSource.CREDENTIAL, "a"),
            id="credential",
        ),
        pytest.param(
            'app = { id = 1, installation = 2, private_key_env = "A" }',
            SecretReference(SecretSource.ENV, "A", is_key=True),
            id="app with its key in the environment",
        ),
        pytest.param(
            'app = { id = 1, installation = 2, private_key_file = "~/a.pem" }',
            SecretReference(SecretSource.FILE, "/home/me/a.pem", is_key=True),
            id="app with its key in a file",
        ),
        pytest.param("gh = true", SecretReference(SecretSource.GH), id="gh"),
    ],
)
def test_a_workspace_says_where_its_token_is(text, reference):
    config = load_config(f'[[workspace]]\nname = "a"\n{text}\n', environ=HOME).config

    assert config.workspaces[0].token == reference


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        pytest.param("", None, id="none"),
        pytest.param(
            'secret_env = "A"', SecretReference(SecretSource.ENV, "A"), id="environment"
        ),
        pytest.param(
            'secret_file = "/a"', SecretReference(SecretSource.FILE, "/a"), id="file"
        ),
        pytest.param(
            'secret_credential = "a"',
            SecretReference(SecretSource.CREDENTIAL, "a"),
            id="credential",
        ),
    ],
)
def test_a_webhook_says_where_its_secret_is(text, reference):
    config = load_config(
        f'[[sink]]\nname = "a"\nkind = "webhook"\nurl = "https://a.example"\n{text}\n',
        environ=HOME,
    ).config

    assert config.sinks[0].secret == reference


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        pytest.param("", None, id="none"),
        pytest.param(
            'database_password_env = "A"',
            SecretReference(SecretSource.ENV, "A"),
            id="environment",
        ),
        pytest.param(
            'database_password_file = "/a"',
            SecretReference(SecretSource.FILE, "/a"),
            id="file",
        ),
        pytest.param(
            'database_password_credential = "a"',
            SecretReference(SecretSource.CREDENTIAL, "a"),
            id="credential",
        ),
    ],
)
def test_a_database_says_where_its_password_is(text, reference):
    config = load_config(
        f'database_url = "postgresql://db.example/x"\n{text}\n', environ=HOME
    ).config

    assert config.database_password == reference


def test_the_graphql_address_may_be_given():
    config = load_config(
        '[[workspace]]\nname = "a"\napi_url = "https://a.example/api/v3/"\n'
        '[[workspace]]\nname = "b"\ngraphql_url = "https://b.example/x"\n',
        environ=HOME,
    ).config

    assert [(each.api_url, each.graphql_url) for each in config.workspaces] == [
        ("https://a.example/api/v3", "https://a.example/api/graphql"),
        ("https://api.github.com", "https://b.example/x"),
    ]
