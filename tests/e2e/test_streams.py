"""Standard streams that are closed, full, or left by their reader."""

import subprocess

import pytest

pytestmark = pytest.mark.e2e

PATIENCE = 50


def run_in_shell(prwatch, words):
    """Run a line of shell in which `prwatch` is the program; return what it said."""
    program = " ".join(prwatch.command())
    return subprocess.run(
        ["bash", "-c", f'prwatch() {{ {program} "$@"; }}; {words}'],
        cwd=prwatch.folder,
        env=prwatch.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("prwatch status --state-dir s >&-", id="no output"),
        pytest.param("prwatch cycle --state-dir s >&-", id="no output of a cycle"),
        pytest.param("prwatch status --state-dir s <&-", id="no input"),
        pytest.param("prwatch status --state-dir s 2>&-", id="no errors"),
        pytest.param("prwatch status --state-dir s <&- >&- 2>&-", id="nothing"),
    ],
)
def test_a_closed_stream_is_like_nothing_at_its_end(prwatch, words):
    result = run_in_shell(prwatch, words)

    assert (result.returncode, "Traceback" in result.stderr) == (0, False)


@pytest.mark.parametrize(
    "words",
    ["prwatch version", "prwatch --help", "prwatch demo --fast", "prwatch status"],
)
def test_a_full_disk_behind_the_output_is_one_line(prwatch, words):
    result = run_in_shell(prwatch, f"{words} > /dev/full")

    assert (result.returncode, result.stderr) == (
        1,
        "prwatch: the output cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("words", ["demo --fast", "demo --fast --json"])
def test_a_reader_that_leaves_ends_the_story_in_silence(prwatch, words):
    result = run_in_shell(
        prwatch, f"prwatch {words} | head -1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    )

    assert (result.returncode, result.stderr) == (1, "")
