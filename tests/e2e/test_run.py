"""The daemon as a process: ready, reloaded, watched over, stopped."""

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.e2e

PATIENCE = 20.0
WEDGED = """
import time
import prwatch.app.polling as polling
from prwatch.cli.main import main

count = 0
real = polling.run_cycle

async def run_cycle(*arguments):
    global count
    count += 1
    if count > 1:
        time.sleep(3600)
    await real(*arguments)

polling.run_cycle = run_cycle
main()
"""


class NotifySocket:
    """What systemd would hear."""

    def __init__(self, path):
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self.heard = []

    def hear(self, seconds):
        """Return the next message, or None when none comes in time."""
        self._socket.settimeout(seconds)
        try:
            message = self._socket.recv(4096).decode()
        except TimeoutError:
            return None
        self.heard.append(message)
        return message

    def wait_for(self, text):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.hear(PATIENCE)
            if message is not None and text in message:
                return message
        pytest.fail(f"systemd never heard {text}: {self.heard}")

    def close(self):
        self._socket.close()


@pytest.fixture
def notify(tmp_path_factory):
    # Socket paths are short, whatever the test is called.
    heard = NotifySocket(tmp_path_factory.mktemp("n") / "s")
    yield heard
    heard.close()


@contextmanager
def started(program, notify, *, command=None, **variables):
    """Run the daemon until the block ends; it is told to stop then."""
    log = program.folder / "daemon.log"
    out = program.folder / "daemon.out"
    with log.open("wb") as stderr, out.open("wb") as stdout:
        process = subprocess.Popen(
            command or program.command("run"),
            cwd=program.folder,
            env=program.environment(NOTIFY_SOCKET=str(notify.path), **variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(PATIENCE)


def wait_for_line(path, wanted):
    """Wait until the file has a line with that text, and return it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        lines = path.read_text().splitlines() if path.exists() else []
        found = [line for line in lines if wanted in line]
        if found:
            return found[0]
        select_nothing(0.02)
    pytest.fail(f"no line with {wanted} in {path.read_text()}")


def select_nothing(seconds):
    """Give the other process a moment."""
    import select

    select.select([], [], [], seconds)


def test_it_is_ready_tells_a_change_and_stops_in_good_order(hub, configured, notify):
    opened = hub.world.open_pull_request(
        "octo/hello", branch="other", title="Other", number=13
    )
    text = configured.config.read_text().replace(
        "pull_request = 12", "pull_request = 13"
    )
    configured.config.write_text(text + 'interval = "1s"\n')
    with started(configured, notify) as process:
        notify.wait_for("READY=1")
        wait_for_line(configured.folder / "daemon.out", '"associated"')
        hub.world.close(opened)
        line = wait_for_line(configured.folder / "daemon.out", "GitHubPRFeedback")
        process.send_signal(signal.SIGTERM)
        notify.wait_for("STOPPING=1")

        assert process.wait(PATIENCE) == 0
        assert json.loads(line)["data"]["changes"] == [
            {"field": "state", "previous": "OPEN", "current": "CLOSED"}
        ]


def test_a_second_daemon_is_refused_with_the_pid_of_the_first(configured, notify):
    with started(configured, notify) as process:
        notify.wait_for("READY=1")

        second = configured.run("run")
        beside = configured.run("--cycle")

    assert (second.returncode, beside.returncode) == (3, 3)
    assert f"pid {process.pid}" in second.stderr
    assert f"pid {process.pid}" in beside.stderr


def test_a_reload_takes_a_good_file_and_refuses_a_bad_one(hub, configured, notify):
    hub.world.open_pull_request("octo/hello", branch="other", title="O", number=13)
    good = configured.config.read_text()
    with started(configured, notify) as process:
        notify.wait_for("READY=1")
        configured.config.write_text("nonsense = 1\n" + good)
        process.send_signal(signal.SIGHUP)
        notify.wait_for("RELOADING=1")
        notify.wait_for("READY=1")
        refused = wait_for_line(configured.folder / "daemon.log", "refused")

        watch = '[[workspace.watch]]\nrepository = "octo/hello"\npull_request = 13\n'
        configured.config.write_text(good.replace("[poll]", watch + "[poll]"))
        process.send_signal(signal.SIGHUP)
        line = wait_for_line(configured.folder / "daemon.out", "octo/hello#13")

    assert "nonsense" in refused
    assert json.loads(line)["data"]["pull_request"]["number"] == 13


def test_a_reload_without_the_file_changes_nothing(configured, notify):
    elsewhere = configured.folder / "home" / ".config" / "prwatch"
    elsewhere.mkdir(parents=True)
    (elsewhere / "prwatch.toml").write_text(configured.config.read_text())
    with started(configured, notify) as process:
        notify.wait_for("READY=1")
        configured.config.rename(configured.folder / "away")
        process.send_signal(signal.SIGHUP)
        refused = wait_for_line(configured.folder / "daemon.log", "refused")

    assert json.loads(refused)["message"] == (
        f"there is no configuration file {configured.config}"
    )


def test_the_watchdog_is_fed_while_github_is_down(hub, configured, notify):
    import datetime as dt

    hub.world.go_down(for_=dt.timedelta(hours=1))
    with started(configured, notify, WATCHDOG_USEC="600000"):
        notify.wait_for("READY=1")

        fed = [notify.wait_for("WATCHDOG=1") for _ in range(5)]

    assert len(fed) == 5


def test_a_wedged_loop_is_not_fed_for(configured, notify):
    configured.config.write_text(configured.config.read_text() + 'interval = "1s"\n')
    command = [sys.executable, "-c", WEDGED, "run"]
    with started(configured, notify, command=command, WATCHDOG_USEC="600000"):
        notify.wait_for("WATCHDOG=1")
        # Three messages fit into the interval that systemd waits for: five intervals
        # of silence are no accident.
        silent = False
        for _ in range(200):
            if notify.hear(3.0) is None:
                silent = True
                break

    assert silent


def test_a_killed_daemon_leaves_no_obstacle(configured, notify):
    with started(configured, notify) as process:
        notify.wait_for("READY=1")
        process.kill()
        process.wait(PATIENCE)

    assert configured.read("--cycle")["failures"] == []
