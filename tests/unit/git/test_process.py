import os
import select

import anyio
import pytest

from prwatch.git.process import Git, GitFailure, GitOutput
from tests.checkouts import ENVIRON, make_checkout, make_program


async def test_git_answers_with_its_output_and_exit_code(tmp_path):
    folder = make_checkout(tmp_path / "a")

    asked = await Git(ENVIRON).ask(str(folder), "symbolic-ref", "HEAD")
    failed = await Git(ENVIRON).ask(str(folder), "symbolic-ref", "-q", "NONE")

    assert asked == GitOutput("refs/heads/fix\n", 0)
    assert failed == GitOutput("", 1)


async def test_git_runs_without_hooks_locks_prompts_and_other_repositories(tmp_path):
    program = make_program(
        tmp_path / "git", 'echo "$@"', 'env | grep "^GIT_" | sort', "cat"
    )
    environ = {
        **ENVIRON,
        "GIT_DIR": "/elsewhere",
        "GIT_ASKPASS": "/bin/asks",
        "GIT_CONFIG_GLOBAL": "/mine",
    }
    environ = {
        name: value
        for name, value in environ.items()
        if not name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))
    }

    output = await Git(environ, program=program).ask("/src", "status")

    assert output.text.splitlines() == [
        "-c core.fsmonitor=false -c core.hooksPath=/dev/null -C /src status",
        "GIT_CONFIG_GLOBAL=/mine",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
    ]


async def test_complaints_of_git_stay_out_of_our_own_stderr(tmp_path, capfd):
    program = make_program(tmp_path / "git", "echo told", "echo fatal >&2", "exit 128")

    output = await Git(ENVIRON, program=program).ask("/")

    assert output == GitOutput("told\n", 128)
    assert capfd.readouterr() == ("", "")


async def test_output_that_is_no_utf8_is_escaped(tmp_path):
    program = make_program(tmp_path / "git", "printf '\\377'")

    output = await Git(ENVIRON, program=program).ask("/")

    assert output == GitOutput("\udcff", 0)


async def test_a_missing_program_is_a_failure_of_its_own():
    git = Git(ENVIRON, program="/nonexistent/git")

    assert await git.ask("/") == GitFailure("git is not installed", is_missing=True)


@pytest.mark.parametrize(
    ("argument", "name"), [("a\0b", "ValueError"), ("", "PermissionError")]
)
async def test_a_program_that_cannot_start_is_a_failure(tmp_path, argument, name):
    program = tmp_path / "git"
    program.write_text("no program")
    program.chmod(0o700 if argument else 0o600)

    failure = await Git(ENVIRON, program=str(program)).ask("/", argument)

    assert failure == GitFailure(f"git could not be started: {name}")


async def test_a_git_that_hangs_is_killed_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    program = make_program(
        tmp_path / "git", "sleep 600 &", f'echo "$! $$" > "{pids}"', "wait"
    )
    git = Git(ENVIRON, program=program, timeout_seconds=1.5)

    failure = await git.ask("/")

    assert failure == GitFailure("git took longer than 1.5 s")
    for pid in pids.read_text().split():
        assert is_gone(int(pid))


async def test_a_child_that_outlives_git_is_killed_too(tmp_path):
    pids = tmp_path / "pids"
    program = make_program(
        tmp_path / "git", "sleep 600 >/dev/null &", f'echo "$!" > "{pids}"', "exit 0"
    )

    output = await Git(ENVIRON, program=program).ask("/")

    assert output == GitOutput("", 0)
    assert is_gone(int(pids.read_text()))


async def test_a_flood_of_output_is_stopped(tmp_path):
    program = make_program(tmp_path / "git", "exec yes")

    assert await Git(ENVIRON, program=program).ask("/") == GitFailure(
        "git printed too much"
    )


async def test_a_cancelled_question_leaves_no_process(tmp_path):
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    program = make_program(tmp_path / "git", f'echo "$$" > "{pids}"', "exec sleep 600")
    git = Git(ENVIRON, program=program)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(git.ask, "/")
        pid = int(await anyio.Path(pids).read_text())
        tasks.cancel_scope.cancel()

    assert is_gone(pid)


async def test_two_at_a_time_are_enough(tmp_path):
    running = tmp_path / "running"
    running.mkdir()
    seen = tmp_path / "seen"
    program = make_program(
        tmp_path / "git",
        f'touch "{running}/$$"',
        f'ls "{running}" | wc -l >> "{seen}"',
        "sleep 0.05",
        f'rm "{running}/$$"',
    )
    git = Git(ENVIRON, program=program)

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(git.ask, "/")

    counts = [int(line) for line in seen.read_text().split()]
    assert len(counts) == 6
    assert max(counts) == 2


def is_gone(pid):
    """Return whether a process ends, for which it has five seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)
