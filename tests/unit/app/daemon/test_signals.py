"""Signals, sent to a real process."""

import signal
import subprocess
import sys

import pytest

DAEMON = """
import sys
import anyio
from prwatch.app.daemon.signals import receive_signals

async def main():
    stopped = anyio.Event()
    def stop():
        print("stop", flush=True)
        stopped.set()
    async with anyio.create_task_group() as group:
        await group.start(lambda task_status: receive_signals(
            on_stop=stop, on_reload=lambda: print("reload", flush=True),
            task_status=task_status))
        print("ready", flush=True)
        await stopped.wait()
        if sys.argv[1] == "blocks":
            sys.stdin.readline()
        elif sys.argv[1] == "waits":
            await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.fixture
def start():
    started = []

    def run(way):
        process = subprocess.Popen(
            [sys.executable, "-c", DAEMON, way],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_stops_in_good_order(start, number):
    process = start("ends")

    process.send_signal(number)
    output, _ = process.communicate(timeout=20)

    assert (output, process.returncode) == ("stop\n", 0)


@pytest.mark.parametrize("way", ["waits", "blocks"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_one_ends_the_process_at_once(start, number, way):
    """A shell shows a process that ended by signal N as 128 + N."""
    process = start(way)

    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "stop\n"
    process.send_signal(number)
    process.wait(timeout=20)

    assert process.returncode == -number


def test_hangups_reload_until_the_daemon_stops(start):
    process = start("blocks")
    lines = []

    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
        process.send_signal(number)
        lines.append(process.stdout.readline())
    process.send_signal(signal.SIGHUP)
    output, _ = process.communicate("\n", timeout=20)

    assert (lines, output, process.returncode) == (
        ["reload\n", "reload\n", "stop\n"],
        "",
        0,
    )
