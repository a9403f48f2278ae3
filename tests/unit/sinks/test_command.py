import datetime as dt
import json
import os
import sys
from pathlib import Path

import anyio
import pytest

from prwatch.domain.outbox import Dead, Delivered, Retry
from prwatch.sinks.command import CommandSink
from prwatch.sinks.payload import encode_event
from prwatch.sinks.sink import SinkSettings
from tests.deliveries import make_delivery, make_event

SETTINGS = SinkSettings(name="out")
PYTHON = Path(sys.executable).name
TOKEN = "ghp_" + "a1B2" * 10


def make_sink(program, *arguments, settings=SETTINGS, environ=None):
    argv = (sys.executable, "-c", program, *map(str, arguments))
    return CommandSink(settings, argv, environ=environ or {})


@pytest.fixture
def witness(tmp_path):
    """A pipe with a name: it ends when every process that holds it is gone."""
    path = tmp_path / "witness"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, reading
    os.close(reading)


async def wait_for_the_end(reading):
    with anyio.fail_after(20):
        while True:
            await anyio.wait_readable(reading)
            if not os.read(reading, 1000):
                return


async def test_the_event_is_on_stdin_and_its_head_in_the_environment(tmp_path):
    program = (
        "import json, os, sys;"
        "json.dump([sys.stdin.read(), dict(os.environ)], open(sys.argv[1], 'w'))"
    )
    sink = make_sink(
        program, tmp_path / "out", environ={"LANG": "C.UTF-8", "GH_TOKEN": TOKEN}
    )

    assert await sink.deliver(make_delivery()) == Delivered()

    text, environ = json.loads((tmp_path / "out").read_text())
    assert text.encode() == encode_event(make_delivery())
    assert environ["LANG"] == "C.UTF-8"
    assert environ["PRWATCH_EVENT_NUMBER"] == "12"
    assert "GH_TOKEN" not in environ


async def test_no_shell_reads_the_arguments(tmp_path):
    program = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"

    await make_sink(program, tmp_path / "out", "$(id); *").deliver(make_delivery())

    assert (tmp_path / "out").read_text() == "$(id); *"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(0, Delivered(), id="delivered"),
        pytest.param(75, Retry(f"{PYTHON} exited with 75: sorry"), id="try again"),
        pytest.param(1, Dead(f"{PYTHON} exited with 1: sorry"), id="dead"),
        pytest.param(127, Dead(f"{PYTHON} exited with 127: sorry"), id="any other"),
    ],
)
async def test_the_exit_code_decides(code, expected):
    program = f"import sys; sys.stderr.write('sorry\\n'); sys.exit({code})"

    assert await make_sink(program).deliver(make_delivery()) == expected


async def test_a_program_that_a_signal_ended_is_tried_again():
    program = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"

    outcome = await make_sink(program).deliver(make_delivery())

    assert outcome == Retry(f"{PYTHON} was ended by SIGTERM")


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        pytest.param(
            ("no-such-program-anywhere",),
            "no-such-program-anywhere cannot be run: No such file or directory",
            id="missing",
        ),
        pytest.param(
            ("/etc/passwd",), "passwd cannot be run: Permission denied", id="no program"
        ),
        pytest.param(
            ("/bin/true", "x" * 3_000_000),
            "true cannot be run: Argument list too long",
            id="too long",
        ),
    ],
)
async def test_a_program_that_cannot_be_run_is_tried_again(argv, reason):
    sink = CommandSink(SETTINGS, argv, environ={"PATH": "/usr/bin:/bin"})

    assert await sink.deliver(make_delivery()) == Retry(reason)


async def test_a_program_is_found_by_the_path_that_is_passed_on(tmp_path):
    (tmp_path / "notify").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "notify").chmod(0o755)
    sink = CommandSink(SETTINGS, ("notify",), environ={"PATH": str(tmp_path)})

    assert await sink.deliver(make_delivery()) == Delivered()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("pass", id="never reads"),
        pytest.param("import os; os.close(0)", id="closes it"),
        pytest.param("import sys; sys.stdin.read(1)", id="reads a little"),
    ],
)
async def test_a_program_need_not_read_its_input(program):
    event = make_event(data={"text": "x" * 1_000_000})

    outcome = await make_sink(program).deliver(make_delivery(event=event))

    assert outcome == Delivered()


async def test_output_without_end_is_thrown_away():
    program = "import sys; sys.stdout.write('x' * 5_000_000)"

    assert await make_sink(program).deliver(make_delivery()) == Delivered()


async def test_the_end_of_stderr_is_the_reason_without_secrets():
    program = (
        "import sys; w = sys.stderr.write;"
        f"w('{TOKEN}' * 500); w(' {TOKEN} ' * 500); w('\\x1b[1mat last'); sys.exit(1)"
    )

    outcome = await make_sink(program).deliver(make_delivery())

    assert outcome.reason.startswith(f"{PYTHON} exited with 1: …")
    assert outcome.reason.endswith(" *** [1mat last")
    assert "a1B2" not in outcome.reason
    assert len(outcome.reason) <= 300


async def test_half_a_secret_at_the_cut_is_not_shown():
    program = f"import sys; sys.stderr.write('{TOKEN}' * 500); sys.exit(1)"

    outcome = await make_sink(program).deliver(make_delivery())

    assert outcome == Dead(f"{PYTHON} exited with 1")


async def test_a_program_that_takes_too_long_is_killed_with_its_children(witness):
    path, reading = witness
    program = 'trap "" TERM; exec 9>"$0"; echo waiting >&2; sleep 600 & wait'
    sink = CommandSink(
        SinkSettings(name="out", timeout=dt.timedelta(seconds=1)),
        ("/bin/sh", "-c", program, str(path)),
        environ={"PATH": "/usr/bin:/bin"},
    )

    outcome = await sink.deliver(make_delivery())

    assert outcome == Retry("sh was killed after 1 s: waiting")
    await wait_for_the_end(reading)


async def test_a_cancelled_delivery_kills_its_program(witness):
    path, reading = witness
    program = "import sys, time; f = open(sys.argv[1], 'wb', 0); f.write(b'x'); time.sleep(600)"
    sink = make_sink(program, path)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sink.deliver, make_delivery())
            await anyio.wait_readable(reading)
            tasks.cancel_scope.cancel()

    await wait_for_the_end(reading)


async def test_a_child_in_the_background_is_neither_waited_for_nor_killed(tmp_path):
    go, done = tmp_path / "go", tmp_path / "done"
    os.mkfifo(go)
    os.mkfifo(done)
    program = (
        "import os, sys\n"
        "if os.fork(): os._exit(0)\n"
        "open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(b'alive')"
    )

    outcome = await make_sink(program, go, done).deliver(make_delivery())

    assert outcome == Delivered()
    reading = os.open(done, os.O_RDONLY | os.O_NONBLOCK)
    writing = await anyio.to_thread.run_sync(os.open, go, os.O_WRONLY)
    os.close(writing)
    with anyio.fail_after(20):
        await anyio.wait_readable(reading)
    assert os.read(reading, 100) == b"alive"
    os.close(reading)
