import os

import pytest

from prwatch.errors import AuthenticationFailed, ConfigError
from prwatch.github.credentials import (
    FileCredential,
    GhCredential,
    TokenCredential,
)
from prwatch.telemetry.secret import Secret

TOKEN = "ghp_never_to_be_seen"


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"  {TOKEN}\n")
    path.chmod(0o600)
    return path


async def test_a_given_token_is_given_out_and_never_shown():
    credential = TokenCredential(Secret(TOKEN), source="env:GITHUB_TOKEN")

    assert (await credential.token()).reveal() == TOKEN
    assert not await credential.reload(was_refused=True)
    assert TOKEN not in repr(vars(credential))


async def test_an_empty_token_is_no_token():
    with pytest.raises(AuthenticationFailed, match="env:GITHUB_TOKEN"):
        await TokenCredential(Secret(""), source="env:GITHUB_TOKEN").token()


async def test_a_file_gives_its_content_without_white_space(token_file):
    credential = FileCredential(token_file)

    assert (await credential.token()).reveal() == TOKEN
    assert credential.source == f"file:{token_file}"
    assert credential.generation == 1


async def test_a_file_that_others_may_read_is_refused(token_file):
    token_file.chmod(0o640)

    with pytest.raises(ConfigError) as caught:
        await FileCredential(token_file).token()

    assert "chmod 600" in caught.value.hint


async def test_a_file_in_a_guarded_directory_may_have_any_mode(token_file):
    token_file.chmod(0o644)

    credential = FileCredential(token_file, is_private=False)

    assert (await credential.token()).reveal() == TOKEN


async def test_what_is_no_file_or_no_token_is_refused(tmp_path):
    empty = tmp_path / "empty"
    empty.touch(mode=0o600)
    missing = FileCredential(tmp_path / "missing")

    with pytest.raises(AuthenticationFailed, match="No such file"):
        await missing.token()
    with pytest.raises(AuthenticationFailed, match="holds no token"):
        await FileCredential(empty).token()
    with pytest.raises(AuthenticationFailed, match="Is a directory"):
        await FileCredential(tmp_path).token()


async def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)

    with pytest.raises(ConfigError, match="no regular file"):
        await FileCredential(tmp_path / "pipe").token()


async def test_a_generation_grows_only_with_new_content(token_file):
    credential = FileCredential(token_file)
    await credential.token()

    unchanged = await credential.reload()
    os.utime(token_file, (1, 1))
    touched = await credential.reload()
    token_file.write_text("ghp_the_next")
    replaced = await credential.reload()

    assert (unchanged, touched, replaced) == (False, False, True)
    assert credential.generation == 2
    assert (await credential.token()).reveal() == "ghp_the_next"


class FakeProgram:
    def __init__(self, *outputs):
        self.outputs = list(outputs)
        self.calls = []

    async def __call__(self, argv):
        self.calls.append(tuple(argv))
        return self.outputs.pop(0)


async def test_gh_is_asked_once_and_again_only_after_a_refusal():
    program = FakeProgram(b"one\n", b"one\n", b"two\n")
    credential = GhCredential("git.example", run=program)

    tokens = [(await credential.token()).reveal() for _ in range(3)]
    quiet = await credential.reload()
    same = await credential.reload(was_refused=True)
    renewed = await credential.reload(was_refused=True)

    assert tokens == ["one"] * 3
    assert (quiet, same, renewed) == (False, False, True)
    assert credential.generation == 2
    assert (await credential.token()).reveal() == "two"
    assert program.calls == [("gh", "auth", "token", "--hostname", "git.example")] * 3


async def test_gh_without_a_token_says_what_to_do():
    with pytest.raises(AuthenticationFailed) as caught:
        await GhCredential("git.example", run=FakeProgram(b"\n")).token()

    assert caught.value.hint == "gh auth login --hostname git.example"


@pytest.mark.parametrize(
    ("script", "mode", "token"),
    [
        pytest.param('echo "$4"', 0o700, "git.example", id="prints"),
        pytest.param("echo secret; exit 1", 0o700, None, id="fails"),
        pytest.param("echo secret", 0o600, None, id="may not be run"),
        pytest.param(None, 0, None, id="is not there"),
    ],
)
async def test_the_real_program_is_run_without_questions(
    tmp_path, monkeypatch, script, mode, token
):
    monkeypatch.setenv("PATH", str(tmp_path))
    if script:
        program = tmp_path / "gh"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(mode)
    credential = GhCredential("git.example")

    if token:
        assert (await credential.token()).reveal() == token
    else:
        with pytest.raises(AuthenticationFailed):
            await credential.token()
