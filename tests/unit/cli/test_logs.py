"""What a command logs knows the secrets of its configuration."""

import click
import pytest
import structlog

from prwatch.cli.logs import read_secrets, start_logging
from prwatch.cli.options import Options
from prwatch.config.loader import load_config

CONFIG = """
database_url = "postgresql://p@db.example/p"
database_password_env = "DB_KEY"
[log]
format = "json"
[[workspace]]
name = "a"
token_env = "ACME_TOKEN"
[[workspace]]
name = "b"
gh = true
[[workspace]]
name = "c"
token_env = "MISSING"
[[sink]]
name = "hook"
kind = "webhook"
url = "https://h.example/"
secret_env = "HOOK_KEY"
"""
ENVIRON = {"HOME": "/h", "DB_KEY": "db-pass", "ACME_TOKEN": "t0ken", "HOOK_KEY": "h00k"}


@pytest.fixture
def context():
    return click.Context(click.Command("look"), obj=Options(environ=ENVIRON))


@pytest.fixture
def loaded():
    return load_config(CONFIG, environ=ENVIRON)


@pytest.fixture(autouse=True)
def restored(call):
    """The fixture of the command line puts logging back as it was."""


def test_all_secrets_that_can_be_read_are_known(loaded):
    secrets = [each.reveal() for each in read_secrets(loaded.config, ENVIRON)]

    assert secrets == ["t0ken", "h00k", "db-pass"]


def test_what_is_logged_goes_to_stderr_without_secrets(context, loaded, capsys):
    redactor = start_logging(context, loaded)
    structlog.get_logger().info("asked", url="https://h/?x=t0ken")

    out, err = capsys.readouterr()
    assert out == ""
    assert '"url":"https://h/?x=***"' in err
    assert context.obj.redactor is redactor


@pytest.mark.parametrize(
    ("asked", "level", "is_logged"),
    [
        pytest.param("", "", True, id="as the file says"),
        pytest.param("", "warning", False, id="a quiet command"),
        pytest.param("info", "warning", True, id="the person wins"),
    ],
)
def test_the_level_is_that_of_the_person(context, capsys, asked, level, is_logged):
    context.obj.log_level = asked
    loaded = load_config("", environ=ENVIRON, flags=context.obj.flags)

    start_logging(context, loaded, level=level)
    structlog.get_logger().info("said")

    assert ("said" in capsys.readouterr().err) is is_logged
