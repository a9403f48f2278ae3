"""What the model of the configuration says about itself."""

import msgspec

from prwatch.config.entries import App, Workspace
from prwatch.config.loader import load_config
from prwatch.config.model import Config
from prwatch.config.secrets import SecretReference, SecretSource
from prwatch.config.sink import Sink

TEXT = """
database_url = "postgresql://p@db.example/p"
database_password_env = "DB_KEY"
[[workspace]]
name = "a"
token_file = "/k/token"
[[workspace]]
name = "b"
gh = true
[[workspace]]
name = "c"
app = { id = 1, installation = 2, private_key_credential = "app-key" }
[[sink]]
name = "out"
[[sink]]
name = "hook"
kind = "webhook"
url = "https://h.example/"
secret_credential = "hook-key"
"""


def test_every_reference_to_a_secret_is_listed_under_its_owner():
    config = load_config(TEXT, environ={"HOME": "/h"}).config

    assert config.list_secrets() == (
        ("workspace a", SecretReference(SecretSource.FILE, "/k/token")),
        ("workspace b", SecretReference(SecretSource.GH)),
        (
            "workspace c",
            SecretReference(SecretSource.CREDENTIAL, "app-key", is_key=True),
        ),
        ("sink hook", SecretReference(SecretSource.CREDENTIAL, "hook-key")),
        ("database", SecretReference(SecretSource.ENV, "DB_KEY")),
    )


def test_only_a_workspace_with_an_installation_signs_in_as_an_app():
    config = load_config(TEXT, environ={"HOME": "/h"}).config

    assert [name for name in ("a", "b", "c", "d") if config.is_app(name)] == ["c"]


def test_no_other_keys_name_secrets_than_those_that_are_listed():
    """One that is not listed would be neither checked nor masked in logs."""
    naming = {
        f"{kind.__name__}.{field.name}"
        for kind in (Config, Workspace, App, Sink)
        for field in msgspec.structs.fields(kind)
        if field.name.endswith("_credential")
    }

    assert naming == {
        "Config.database_password_credential",
        "Workspace.token_credential",
        "App.private_key_credential",
        "Sink.secret_credential",
    }
