"""The daemon as a process that answers over HTTP, and what keeps it from starting."""

import contextlib
import http.client
import re
import signal
import socket

import pytest

from tests.e2e.test_run import NotifySocket, started, wait_for_line

pytestmark = pytest.mark.e2e


@pytest.fixture
def notify(tmp_path_factory):
    heard = NotifySocket(tmp_path_factory.mktemp("n") / "s")
    yield heard
    heard.close()


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def run_with(program, *options):
    return [*program.command("run"), *options]


def test_the_three_pages_are_answered_while_the_daemon_runs(configured, notify):
    command = run_with(configured, "--metrics-listen", "127.0.0.1:0")
    with started(configured, notify, command=command) as process:
        notify.wait_for("READY=1")
        line = wait_for_line(configured.folder / "daemon.log", "metrics.listening")
        port = int(re.search(r"127\.0\.0\.1:(\d+)", line)[1])
        wait_for_line(configured.folder / "daemon.out", '"associated"')
        pages = {path: get(port, path) for path in ("/healthz", "/readyz", "/metrics")}
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        code = process.returncode

    assert code == 0
    assert pages["/healthz"] == (200, "ok\n")
    assert pages["/readyz"][0] == pages["/metrics"][0] == 200
    assert 'prwatch_changes_total{field="associated"} 1.0' in pages["/metrics"][1]


def test_a_port_in_use_ends_the_start_with_the_configurations_exit_code(configured):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = configured.run("run", "--metrics-listen", f"127.0.0.1:{port}")

    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        f"prwatch: cannot listen for metrics at 127.0.0.1:{port}: Address already in use",
        "hint: choose another port with --metrics-listen or daemon.metrics_listen",
    ]


def test_an_address_that_others_reach_ends_it_too(configured):
    result = configured.run("run", "--metrics-listen", "0.0.0.0:9464")

    assert result.returncode == 2
    assert "--metrics-listen" in result.stderr
    assert "without authentication" in result.stderr


def test_systemd_is_told_what_is_watched_once_for_each_change(hub, configured, notify):
    configured.config.write_text(configured.config.read_text() + 'interval = "1s"\n')
    with started(configured, notify, WATCHDOG_USEC="300000"):
        notify.wait_for("STATUS=watching 1 pull request")
        hub.world.exhaust_rate_limit()
        paused = notify.wait_for("paused until")
        for _ in range(20):
            notify.wait_for("WATCHDOG=1")

    told = [each for each in notify.heard if each.startswith("STATUS=")]
    assert re.fullmatch(
        r"STATUS=watching 1 pull request; 1 workspace paused until \d\d:\d\d"
        r" \(rate limit\)(; .*)?",
        paused,
    )
    assert len(told) == len(set(told)) <= 5
    assert not [each for each in told if "octo" in each or "acme" in each]
