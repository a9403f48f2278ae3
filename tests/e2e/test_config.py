"""The installed program, its start and its end, as a process sees them."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import CLASSIC

pytestmark = pytest.mark.e2e


def test_the_console_script_is_the_program(prwatch):
    script = Path(sys.executable).parent / "prwatch"

    result = subprocess.run(
        [script, "config", "path"],
        cwd=prwatch.folder,
        env=prwatch.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("There is no configuration file; looked for ")


def test_a_token_in_the_file_is_refused_and_not_repeated(prwatch):
    path = prwatch.folder / "inline.token"
    path.write_text(f'[[workspace]]\nname = "a"\ntoken_env = "{CLASSIC}"\n')

    for arguments in (["config", "check"], ["config", "show"], ["--cycle"]):
        result = prwatch.run("--config", path, *arguments)

        assert (result.returncode, result.stdout) == (2, "")
        assert "secret" in result.stderr


def test_a_reader_that_goes_away_is_no_error(prwatch):
    reader, writer = os.pipe()
    os.close(reader)

    result = subprocess.run(
        prwatch.command("config", "show"),
        cwd=prwatch.folder,
        env=prwatch.environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)

    assert (result.returncode, result.stderr) == (1, "")


def test_signs_that_the_terminal_lacks_are_written_out(prwatch):
    result = prwatch.run("demo", PYTHONIOENCODING="latin-1")

    assert result.returncode == 0
    assert "checks: pending \\u2192 failure" in result.stdout


def test_on_a_terminal_a_table_is_drawn(configured):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        configured.command("auth", "status"),
        cwd=configured.folder,
        env=configured.environment(TERM="xterm", COLUMNS="200"),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:  # the last writer is gone
        pass
    os.close(leader)

    assert process.wait() == 0
    configured.printed.append(shown.decode())
    assert "octocat" in shown.decode()
    assert "─" in shown.decode()
