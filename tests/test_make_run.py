"""`make run`: a real pull request with a token, the demo without one."""

import os
import subprocess
from pathlib import Path

import pytest

from prwatch.config.loader import load_config

ROOT = Path(__file__).parent.parent
TOKEN = "ghp_" + "0" * 36
PULL_REQUEST = "https://github.com/octo/hello.world/pull/12"


@pytest.fixture
def make_run(tmp_path):
    """Return a function that runs `make run` with a program that prints its words."""
    program = tmp_path / "bin/prwatch"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "prwatch $*"\n')
    program.chmod(0o755)

    def run(**variables):
        # The environment counts as made: -o takes its stamp as up to date.
        return subprocess.run(
            [
                "make",
                *("-f", ROOT / "Makefile", "-o", ".venv/.installed"),
                *("run", "BIN=bin", "VENV=.venv"),
            ],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/.installed").touch()
    return run


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        pytest.param(
            {}, "There is no token in GITHUB_TOKEN or GH_TOKEN.", id="nothing"
        ),
        pytest.param(
            {"GITHUB_TOKEN": "", "GH_TOKEN": "", "PR": PULL_REQUEST},
            "There is no token in GITHUB_TOKEN or GH_TOKEN.",
            id="an empty token",
        ),
        pytest.param({"GH_TOKEN": TOKEN}, "No pull request is named", id="no PR"),
    ],
)
def test_without_a_token_or_a_pull_request_the_demo_is_played(
    make_run, variables, reason
):
    result = make_run(**variables)

    assert result.returncode == 0, result.stderr
    said, ran = result.stdout.splitlines()
    assert said.startswith(reason)
    assert ran == "prwatch demo"


@pytest.mark.parametrize(
    ("variables", "token_env", "api_url"),
    [
        pytest.param(
            {"GITHUB_TOKEN": TOKEN, "PR": PULL_REQUEST},
            "GITHUB_TOKEN",
            "https://api.github.com",
            id="github.com",
        ),
        pytest.param(
            {
                "GH_TOKEN": TOKEN,
                "PR": "https://git.example.com/octo/hello.world/pull/12/files",
            },
            "GH_TOKEN",
            "https://git.example.com/api/v3",
            id="Enterprise Server",
        ),
    ],
)
def test_a_pull_request_is_read_once(make_run, tmp_path, variables, token_env, api_url):
    result = make_run(**variables)

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == (
        "prwatch --cycle --config .state/run/prwatch.toml"
    )
    file = tmp_path / ".state/run/prwatch.toml"
    assert TOKEN not in file.read_text()
    loaded = load_config(file, environ={"HOME": str(tmp_path)})
    (workspace,) = loaded.config.workspaces
    (watch,) = workspace.watches
    assert (workspace.token_env, workspace.api_url) == (token_env, api_url)
    assert (watch.repository, watch.pull_request) == ("octo/hello.world", 12)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("octo/hello#12", id="no address"),
        pytest.param("https://github.com/octo/hello/issues/12", id="an issue"),
        pytest.param('https://github.com/octo/h"\n[x]/pull/12', id="a quote"),
        pytest.param("https://github.com/octo/$(id)/pull/12", id="a command"),
    ],
)
def test_anything_else_is_refused(make_run, tmp_path, address):
    result = make_run(GITHUB_TOKEN=TOKEN, PR=address)

    assert result.returncode == 2
    assert "PR must be the address of a pull request" in result.stderr
    assert not (tmp_path / ".state").exists()
