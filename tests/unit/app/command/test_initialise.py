"""What a first configuration holds, and how units name the program."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from prwatch.app.command.initialise import (
    Detected,
    detect,
    find_program,
    list_unit_warnings,
    quote_word,
    render_config,
    render_unit,
    write_file,
)
from prwatch.config.loader import load_config
from prwatch.errors import ConfigError
from prwatch.git.remote import RemoteRepository

HELLO = RemoteRepository("github.com", "octo", "hello")
OWN = RemoteRepository("git.example.com", "octo", "hello")


@pytest.mark.parametrize(
    ("detected", "token", "api_url", "repository"),
    [
        pytest.param(
            Detected(), "environment variable GITHUB_TOKEN", "github.com", "", id="none"
        ),
        pytest.param(
            Detected(token_env="GH_TOKEN", has_gh=True, repository=HELLO),
            "environment variable GH_TOKEN",
            "github.com",
            "octo/hello",
            id="a variable before gh",
        ),
        pytest.param(Detected(has_gh=True), "gh auth token", "github.com", "", id="gh"),
        pytest.param(
            Detected(repository=OWN),
            "environment variable GITHUB_TOKEN",
            "git.example.com/api/v3",
            "octo/hello",
            id="Enterprise Server",
        ),
    ],
)
def test_a_first_configuration_is_accepted(detected, token, api_url, repository):
    config = load_config(render_config(detected), environ={"HOME": "/h"}).config

    (workspace,) = config.workspaces
    (watch,) = workspace.watches
    assert str(workspace.token) == token
    assert workspace.api_url.endswith(api_url)
    assert (watch.repository, watch.author) == (repository, "@me")
    assert [sink.kind for sink in config.sinks] == ["jsonl"]


def uncommented(text):
    """Return the text with every commented table of it in effect."""
    return re.sub(
        r"^# \[\[(?:.+\n)+",
        lambda table: table[0].replace("# ", "", 1).replace("\n# ", "\n"),
        text,
        flags=re.MULTILINE,
    )


def test_what_is_commented_out_is_accepted_too():
    text = uncommented(render_config(Detected(repository=HELLO)))

    config = load_config(text, environ={"HOME": "/h"}).config

    assert [watch.pull_request for watch in config.workspaces[0].watches] == [0, 12]
    assert [sink.kind for sink in config.sinks] == ["jsonl", "command"]


@pytest.fixture
def checkout(tmp_path):
    """A git repository whose origin is octo/hello."""
    folder = tmp_path / "hello"
    for arguments in (
        ["init", "-q", str(folder)],
        ["-C", str(folder), "remote", "add", "origin", "git@github.com:octo/hello.git"],
    ):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    return folder


async def test_the_surroundings_are_looked_at(checkout, tmp_path):
    (tmp_path / "gh").write_text("#!/bin/sh\n")
    (tmp_path / "gh").chmod(0o755)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}

    found = await detect({**environ, "GITHUB_TOKEN": "", "GH_TOKEN": "x"}, checkout)

    assert found == Detected(token_env="GH_TOKEN", has_gh=True, repository=HELLO)


async def test_outside_of_a_checkout_nothing_is_found(tmp_path):
    found = await detect({"HOME": str(tmp_path), "PATH": "/nowhere"}, tmp_path)

    assert found == Detected()


def test_a_file_is_written_once_and_replaced_by_force(tmp_path):
    path = tmp_path / "below" / "file"

    written = write_file(path, "a", is_forced=False)
    again = write_file(path, "a", is_forced=False)
    with pytest.raises(ConfigError, match="there is already a file"):
        write_file(path, "b", is_forced=False)
    forced = write_file(path, "c", is_forced=True)

    assert (written, again, forced) == (True, False, True)
    assert [each.name for each in path.parent.iterdir()] == ["file"]
    assert path.read_text() == "c"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be written: Is a directory"):
        write_file(tmp_path, "a", is_forced=True)


def test_a_unit_names_the_program(tmp_path):
    text = render_unit("prwatch.service", tmp_path / "my bin" / "prwatch")

    assert f'\nExecStart="{tmp_path}/my bin/prwatch" run --config ' in text


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        pytest.param(
            "/opt/prwatch/bin/prwatch", "/opt/prwatch/bin/prwatch", id="plain"
        ),
        pytest.param("/opt/50%", "/opt/50%%", id="percent"),
        pytest.param("/a b", '"/a b"', id="space"),
        pytest.param('/a"b\\c', '"/a\\"b\\\\c"', id="quote and backslash"),
        pytest.param("/größe", '"/größe"', id="letters of others"),
    ],
)
def test_a_path_is_quoted_as_systemd_reads_it(word, quoted):
    assert quote_word(word) == quoted


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "bin" / "prwatch"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_program_is_the_one_that_was_started(program, tmp_path):
    link = tmp_path / "prwatch"
    link.symlink_to(program)

    assert find_program(str(link), {"PATH": "/nowhere"}) == program.resolve()


def test_the_program_is_else_the_one_beside_the_interpreter():
    found = find_program("/x/main.py", {"PATH": "/nowhere"})

    assert found == (Path(sys.executable).parent / "prwatch").resolve()


@pytest.mark.parametrize("folder", ["/home/ada/.venv/bin", "/root/bin", "/run/user/1"])
def test_a_program_in_a_home_folder_is_warned_of(folder):
    (warning,) = list_unit_warnings(Path(folder, "prwatch"))

    assert warning.startswith(f"the service cannot see {folder}/prwatch: ")
