"""The daemon's lock, held by this process and by others that are killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prwatch.app.daemon.daemon_lock import (
    LOCK_NAME,
    DaemonInfo,
    acquire_daemon_lock,
    read_daemon_lock,
)
from prwatch.errors import StoreUnavailable

HOLDER = """
import sys
from pathlib import Path
from prwatch.app.daemon.daemon_lock import acquire_daemon_lock

with acquire_daemon_lock(Path(sys.argv[1]), socket_path=Path("/run/prwatch.sock")):
    print("held", flush=True)
    sys.stdin.readline()
"""
SOCKET = Path("/run/prwatch/prwatch.sock")


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_holder_is_told_with_its_socket(tmp_path):
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        found = read_daemon_lock(tmp_path)

    assert found == DaemonInfo(os.getpid(), SOCKET)


def test_after_the_daemon_nobody_is_told(tmp_path):
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        pass

    assert read_daemon_lock(tmp_path) is None


def test_without_a_file_nobody_is_told_and_none_is_made(tmp_path):
    assert read_daemon_lock(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_for_its_owner_alone_and_holds_json(tmp_path):
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        file = tmp_path / LOCK_NAME
        mode, content = file.stat().st_mode & 0o777, json.loads(file.read_text())

    assert (mode, content) == (0o600, {"pid": os.getpid(), "socket": str(SOCKET)})


def test_a_second_daemon_is_refused_with_the_process_of_the_first(tmp_path, holder):
    with (
        pytest.raises(StoreUnavailable) as caught,
        acquire_daemon_lock(tmp_path, socket_path=SOCKET),
    ):
        pytest.fail("two daemons hold one lock")

    assert str(caught.value) == (
        f"another prwatch daemon (pid {holder.pid}) uses this database"
    )
    assert read_daemon_lock(tmp_path) == DaemonInfo(
        holder.pid, Path("/run/prwatch.sock")
    )


def test_a_second_lock_of_one_process_is_refused_too(tmp_path):
    with (
        acquire_daemon_lock(tmp_path, socket_path=SOCKET),
        pytest.raises(StoreUnavailable, match=f"pid {os.getpid()}"),
        acquire_daemon_lock(tmp_path, socket_path=SOCKET),
    ):
        pytest.fail("one process holds the lock twice")


def test_looking_at_the_lock_does_not_take_it_from_its_holder(tmp_path):
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        looks = [read_daemon_lock(tmp_path) for _ in range(3)]
        with pytest.raises(StoreUnavailable):
            acquire_daemon_lock(tmp_path, socket_path=SOCKET).__enter__()

    assert looks == [DaemonInfo(os.getpid(), SOCKET)] * 3


def test_what_a_killed_daemon_leaves_is_no_obstacle(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait(20)
    left = (tmp_path / LOCK_NAME).read_text()

    seen = read_daemon_lock(tmp_path)
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        found = read_daemon_lock(tmp_path)

    assert json.loads(left)["pid"] == holder.pid
    assert (seen, found) == (None, DaemonInfo(os.getpid(), SOCKET))


def test_a_stopped_process_still_holds_the_lock(tmp_path, holder):
    holder.send_signal(signal.SIGSTOP)

    assert read_daemon_lock(tmp_path) == DaemonInfo(
        holder.pid, Path("/run/prwatch.sock")
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"not json", id="no JSON"),
        pytest.param(b"[1]", id="no object"),
        pytest.param(b'{"pid": 1}', id="no socket"),
        pytest.param(b'{"pid": "x", "socket": "/s"}', id="no number"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_a_file_that_says_nothing_useful_still_says_that_a_daemon_runs(
    tmp_path, content
):
    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        (tmp_path / LOCK_NAME).write_bytes(content)
        found = read_daemon_lock(tmp_path)
        with (
            pytest.raises(StoreUnavailable, match="pid unknown"),
            acquire_daemon_lock(tmp_path, socket_path=SOCKET),
        ):
            pytest.fail("two daemons hold one lock")

    assert found == DaemonInfo(0, Path())


def test_a_shorter_content_leaves_nothing_of_a_longer_one(tmp_path):
    (tmp_path / LOCK_NAME).write_text("x" * 2000)

    with acquire_daemon_lock(tmp_path, socket_path=SOCKET):
        content = (tmp_path / LOCK_NAME).read_text()

    assert json.loads(content)["socket"] == str(SOCKET)


def test_a_folder_that_is_not_there_is_an_error_of_the_store(tmp_path):
    with (
        pytest.raises(StoreUnavailable, match="No such file"),
        acquire_daemon_lock(tmp_path / "none", socket_path=SOCKET),
    ):
        pytest.fail("a lock without a folder")


def test_a_lock_that_cannot_be_read_is_an_error_of_the_store(tmp_path):
    (tmp_path / LOCK_NAME).symlink_to(LOCK_NAME)

    with pytest.raises(StoreUnavailable, match="cannot open"):
        read_daemon_lock(tmp_path)
