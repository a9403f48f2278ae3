"""Faults of the machine at start and while it runs, met by the real program."""

import contextlib
import json
import resource
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest

from tests.e2e.test_run import PATIENCE, NotifySocket, started, wait_for_line

pytestmark = pytest.mark.e2e

DATABASE = "prwatch.db"


@pytest.fixture
def notify(tmp_path_factory):
    heard = NotifySocket(tmp_path_factory.mktemp("n") / "s")
    yield heard
    heard.close()


def settle_file(path):
    """Put everything that was committed into the one file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def find_page(path, table):
    """Return where a table's first page begins, and how long pages are."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (page,) = connection.execute(sql, (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return (page - 1) * size, size


def replace_all(path):
    path.write_bytes(b"no database at all" * 1_000)


def spoil_header(path):
    with path.open("r+b") as file:
        file.write(b"\xff" * 100)


def spoil_table(path):
    at, size = find_page(path, "pr_watches")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xff" * size)


def cut_in_half(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def cut_to_the_header(path):
    with path.open("r+b") as file:
        file.truncate(100)


def become_a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = [
    *(replace_all, spoil_header, cut_in_half, cut_to_the_header, become_a_folder),
]


@pytest.mark.parametrize(
    ("command", "damage"),
    [
        *(("--cycle", each) for each in (*DAMAGES, spoil_table)),
        # A daemon finds a bad page when it reads it, and lives on.
        *(("run", each) for each in DAMAGES),
    ],
)
def test_a_damaged_database_is_named_ends_with_3_and_is_left_as_it_is(
    configured, command, damage
):
    assert configured.run("--cycle").returncode == 0
    path = configured.state_dir / DATABASE
    settle_file(path)
    damage(path)
    before = path.read_bytes() if path.is_file() else None

    result = configured.run(command)

    first, *rest = result.stderr.splitlines()[-2:]
    assert result.returncode == 3, result.stderr
    assert first.startswith("prwatch: the ")
    assert rest
    assert rest[0].startswith("hint: ")
    assert "Traceback" not in result.stderr
    if before is not None:
        assert path.read_bytes() == before


def limit_files(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def run_limited(program, size, *arguments):
    """Run it where no file may become larger than that."""
    return subprocess.run(
        program.command(*arguments),
        cwd=program.folder,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        preexec_fn=limit_files(size),
    )


@pytest.mark.parametrize("size", [0, 4_096, 40_000])
def test_a_disk_without_room_at_the_first_start_ends_with_3(configured, size):
    result = run_limited(configured, size, "--cycle")
    after = configured.run("--cycle")

    assert result.returncode == 3, result.stderr
    assert "prwatch: the " in result.stderr
    assert "Traceback" not in result.stderr
    assert after.returncode == 0
    assert len(after.stdout.splitlines()) == 1  # adopted once, and told


@pytest.mark.parametrize("room", [0, 9_000])
def test_a_disk_that_is_full_later_loses_and_doubles_no_event(configured, hub, room):
    assert configured.run("--cycle").returncode == 0
    settle_file(configured.state_dir / DATABASE)
    (one,) = hub.world.pull_requests.values()
    hub.world.set_check(one, "test", conclusion="FAILURE")

    full = run_limited(configured, room, "--cycle")
    again = run_limited(configured, room, "--cycle")
    after = configured.run("--cycle")
    last = configured.run("--cycle")

    lines = [*full.stdout.splitlines(), *again.stdout.splitlines()]
    lines += [*after.stdout.splitlines(), *last.stdout.splitlines()]
    events = [json.loads(line) for line in lines]
    assert (full.returncode, again.returncode) == (3, 3), full.stderr
    assert "prwatch: the " in full.stderr
    assert (after.returncode, last.returncode) == (0, 0)
    assert sorted(each["type"] for each in events) == [
        "GitHubPRFeedback",
        "GitHubTaskPRUpdated",
    ]
    assert len({each["id"] for each in events}) == 2


def test_a_name_that_does_not_resolve_keeps_no_daemon_from_being_ready(
    configured, hub, notify
):
    text = configured.config.read_text()
    configured.config.write_text(
        text.replace(hub.api_url, "https://hub.invalid/api/v3")
    )
    with started(configured, notify) as process:
        notify.wait_for("READY=1")
        wait_for_line(configured.folder / "daemon.log", "reference.failed")

        health = configured.run("health", "--json")
        process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE)

    told = json.loads(health.stdout)
    assert (health.returncode, told["verdict"], told["ready"]) == (1, "degraded", True)
    assert [each["reason"] for each in told["reasons"]] == ["github_unreachable"]
    assert code == 0


class Silence:
    """A server that takes every connection and says nothing, or a byte at a time."""

    def __init__(self, *, is_dripping):
        self._is_dripping = is_dripping
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = []
        self.taken = threading.Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/api/v3"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                if self._is_dripping:
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"
                    )
                self.taken.set()

    def close(self):
        self._listener.close()
        for each in self._open:
            each.close()


@pytest.mark.parametrize("is_dripping", [False, True], ids=["silent", "dripping"])
def test_a_socket_that_hangs_holds_nobody_up(configured, hub, notify, is_dripping):
    silence = Silence(is_dripping=is_dripping)
    text = configured.config.read_text().replace(hub.api_url, silence.url)
    configured.config.write_text(text)
    try:
        with started(configured, notify, WATCHDOG_USEC="600000") as process:
            notify.wait_for("READY=1")
            assert silence.taken.wait(PATIENCE)

            health = configured.run("health", "--json")
            fed = [notify.wait_for("WATCHDOG=1") for _ in range(3)]
            process.send_signal(signal.SIGTERM)
            code = process.wait(PATIENCE)
    finally:
        silence.close()

    assert json.loads(health.stdout)["ready"]
    assert len(fed) == 3
    assert code == 0
