import os

import pytest

from prwatch.config.secrets import (
    MAX_SECRET_BYTES,
    SecretReference,
    SecretSource,
    read_secret,
)
from prwatch.errors import ConfigError

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
ENV = SecretReference(SecretSource.ENV, "ACME_TOKEN")
CREDENTIAL = SecretReference(SecretSource.CREDENTIAL, "acme-token")


@pytest.fixture
def write(tmp_path):
    def write_file(content, *, mode=0o600):
        path = tmp_path / "acme-token"
        path.write_bytes(content)
        path.chmod(mode)
        return SecretReference(SecretSource.FILE, str(path))

    return write_file


def refuse(reference, environ=None):
    """Return the error of a secret that cannot be read; it never shows the value."""
    with pytest.raises(ConfigError) as refusal:
        read_secret(reference, environ or {})
    error = refusal.value
    assert TOKEN not in f"{error!r} {error} {error.hint} {error.__cause__!r}"
    return error


def test_a_secret_comes_from_the_environment():
    assert read_secret(ENV, {"ACME_TOKEN": TOKEN}).reveal() == TOKEN


@pytest.mark.parametrize(
    "end", [b"", b"\n", b"\r\n", b"\n\n"], ids=["none", "unix", "windows", "two"]
)
def test_the_line_break_at_the_end_of_a_file_is_no_part_of_the_secret(write, end):
    assert read_secret(write(TOKEN.encode() + end), {}).reveal() == TOKEN


def test_a_secret_comes_from_a_credential_whatever_its_mode(write, tmp_path):
    write(TOKEN.encode(), mode=0o440)

    secret = read_secret(CREDENTIAL, {"CREDENTIALS_DIRECTORY": str(tmp_path)})

    assert secret.reveal() == TOKEN


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o644])
def test_a_file_that_others_may_touch_is_refused_with_the_cure(write, mode):
    reference = write(TOKEN.encode(), mode=mode)

    error = refuse(reference)

    assert (str(error), error.hint) == (
        f"file {reference.name} is open to others than its owner (mode {mode:04o})",
        f"run: chmod 600 {reference.name}",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b" \n", "is empty", id="blank"),
        pytest.param(
            f"{TOKEN}\n{TOKEN}".encode(), "holds more than one line", id="lines"
        ),
        pytest.param(f"{TOKEN}\0".encode(), "holds more than one line", id="NUL"),
        pytest.param(TOKEN.encode() + b"\xff", "is not UTF-8 text", id="bytes"),
        pytest.param(
            b"x" * (MAX_SECRET_BYTES + 1), "is longer than 65536 bytes", id="long"
        ),
    ],
)
def test_a_file_that_holds_no_secret_is_refused(write, content, reason):
    reference = write(content)

    assert str(refuse(reference)) == f"file {reference.name} {reason}"


def test_a_missing_variable_is_named():
    assert str(refuse(ENV)) == "environment variable ACME_TOKEN is not set"


def test_an_empty_variable_is_named():
    error = refuse(ENV, {"ACME_TOKEN": ""})

    assert str(error) == "environment variable ACME_TOKEN is empty"


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "none"

    error = refuse(SecretReference(SecretSource.FILE, str(path)))

    assert str(error) == f"file {path} cannot be read: No such file or directory"


def test_a_folder_is_no_secret(tmp_path):
    error = refuse(SecretReference(SecretSource.FILE, str(tmp_path)))

    assert str(error) == f"file {tmp_path} is not a regular file"


def test_a_pipe_does_not_keep_us_waiting(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path, 0o600)

    error = refuse(SecretReference(SecretSource.FILE, str(path)))

    assert str(error) == f"file {path} is not a regular file"


def test_a_credential_outside_systemd_says_what_to_do():
    error = refuse(CREDENTIAL)

    assert (str(error), error.hint) == (
        "systemd credential acme-token cannot be read: CREDENTIALS_DIRECTORY is not set",
        "add LoadCredential=acme-token:/path/to/file to the unit",
    )


def test_a_credential_that_was_not_loaded_is_named(tmp_path):
    error = refuse(CREDENTIAL, {"CREDENTIALS_DIRECTORY": str(tmp_path)})

    assert str(error) == (
        "systemd credential acme-token cannot be read: No such file or directory"
    )


KEY = "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\nc2Vj\n-----END RSA PRIVATE KEY-----\n"


def as_key(reference):
    return SecretReference(reference.source, reference.name, is_key=True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(KEY, id="as it is"),
        pytest.param(KEY.replace("\n", "\r\n"), id="windows"),
    ],
)
def test_a_key_has_several_lines(write, text):
    secret = read_secret(as_key(write(text.encode())), {})

    assert secret.reveal() == KEY.rstrip("\n")


def test_the_lines_of_a_key_in_a_variable_may_be_escaped():
    variable = as_key(SecretReference(SecretSource.ENV, "KEY"))

    secret = read_secret(variable, {"KEY": KEY.replace("\n", "\\n")})

    assert secret.reveal().strip() == KEY.strip()


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        pytest.param(
            KEY.replace("PRIVATE", "PUBLIC"),
            "holds no private key",
            "whole .pem file",
            id="a public key",
        ),
        pytest.param(
            KEY.splitlines()[0], "holds no private key", "whole .pem file", id="a line"
        ),
        pytest.param(TOKEN, "holds no private key", "whole .pem file", id="a token"),
        pytest.param(
            KEY.replace("RSA", "ENCRYPTED"),
            "holds a private key that is locked with a passphrase",
            "openssl",
            id="locked",
        ),
        pytest.param(
            KEY.replace("-\nc2", "-\nProc-Type: 4,ENCRYPTED\n\nc2"),
            "holds a private key that is locked with a passphrase",
            "openssl",
            id="locked in the old way",
        ),
    ],
)
def test_what_is_no_key_that_can_be_used_is_refused(write, text, reason, hint):
    reference = as_key(write(text.encode()))

    error = refuse(reference)

    assert str(error) == f"file {reference.name} {reason}"
    assert hint in error.hint
    assert "c2VjcmV0" not in f"{error!r} {error.hint}"


def test_gh_is_not_asked_here():
    with pytest.raises(ValueError, match="asked for its token when it is needed"):
        read_secret(SecretReference(SecretSource.GH), {})


def test_a_reference_to_gh_says_what_is_asked():
    assert str(SecretReference(SecretSource.GH)) == "gh auth token"
