"""What starts quickly because it leaves heavy libraries alone until they are needed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

METRICS = "prometheus_client"
ROOT = Path(__file__).parent.parent

IMPORT_ALL = """
import importlib, pkgutil
room = importlib.import_module({room!r})
for module in pkgutil.walk_packages(room.__path__, {room!r} + "."):
    if module.name not in {without!r}:
        importlib.import_module(module.name)
"""
RUN_COMMAND = """
import sys
sys.argv = ["prwatch", *{arguments!r}]
from prwatch.cli.main import main
try:
    main()
except SystemExit as end:
    if end.code:
        raise
"""
CONFIGURATION = """
state_dir = "state"

[[workspace]]
name = "acme"
token_env = "ACME_GITHUB_TOKEN"
"""
REPORT = """
import json as _json, sys as _sys
_names = sorted({name.partition(".")[0] for name in _sys.modules})
_sys.stderr.write("\\nMODULES " + _json.dumps(_names) + "\\n")
"""


def loaded_by(script, *, folder):
    """Return the top-level modules that a fresh interpreter holds after a script."""
    keep = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ACME_GITHUB_TOKEN": "ghp_" + "0" * 36,
    }
    result = subprocess.run(
        [sys.executable, "-c", script + REPORT],
        cwd=folder,
        env=keep,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return set(json.loads(result.stderr.rpartition("MODULES ")[2]))


@pytest.mark.parametrize(
    ("room", "without", "heavy"),
    [
        pytest.param("prwatch.config", [], {"httpx", "gql", "graphql"}, id="config"),
        pytest.param(
            "prwatch.domain", [], {"anyio", "msgspec", "httpx", "gql"}, id="domain"
        ),
        pytest.param(
            "prwatch.store",
            ["prwatch.store.postgres", "prwatch.store.postgres_errors"],
            {"asyncpg", "httpx", "gql", "rich"},
            id="store without PostgreSQL",
        ),
        pytest.param("prwatch.github", [], {"jwt", "cryptography"}, id="github"),
        pytest.param("prwatch.git", [], {"httpx", "gql", "aiosqlite"}, id="git"),
    ],
)
def test_a_room_leaves_heavy_libraries_alone(room, without, heavy, tmp_path):
    loaded = loaded_by(IMPORT_ALL.format(room=room, without=without), folder=tmp_path)

    assert loaded & heavy == set()


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        pytest.param(
            ["--help"],
            {"anyio", "httpx", "gql", "aiosqlite", "asyncpg", "rich", "jwt", METRICS},
            id="--help",
        ),
        pytest.param(
            ["version"],
            {"anyio", "httpx", "gql", "asyncpg", "rich", METRICS},
            id="version",
        ),
        pytest.param(
            ["config", "check"],
            {"httpx", "gql", "asyncpg", "rich", "jwt", METRICS},
            id="config check",
        ),
        pytest.param(["cycle"], {METRICS, "asyncpg", "jwt"}, id="cycle"),
    ],
)
def test_a_command_leaves_heavy_libraries_alone(arguments, heavy, tmp_path):
    (tmp_path / "prwatch.toml").write_text(CONFIGURATION)

    loaded = loaded_by(RUN_COMMAND.format(arguments=arguments), folder=tmp_path)

    assert loaded & heavy == set()


def test_the_library_that_gql_would_prefer_to_httpx_is_not_installed():
    """gql takes httpx2 over httpx where it finds it, and tests would miss it."""
    assert importlib.util.find_spec("httpx2") is None
