"""A review queue that is killed anywhere makes one task and one event of each hit."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys

import pytest

from prwatch.app.store_place import DATABASE_NAME
from prwatch.domain.review_watch import RESERVED_FOR

EARLY = 60
LATE = EARLY + int(RESERVED_FOR.total_seconds())


@pytest.fixture(scope="module")
def lives():
    """A program that lives lives, started once: imports cost more than they do."""
    command = [sys.executable, "-m", "tests.fault.killed_review"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def live(folder, *, kill_at, seconds):
            folder.mkdir(exist_ok=True)
            order = {"folder": str(folder), "kill_at": kill_at, "seconds": seconds}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            points = (folder / "points.txt").read_text if kill_at == 0 else str
            return json.loads(process.stdout.readline()), points()

        yield live
        process.stdin.close()


def read(folder, sql):
    with contextlib.closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return connection.execute(sql).fetchall()


def test_killed_at_any_point_there_is_one_task_and_one_event_of_each(lives, tmp_path):
    code, text = lives(tmp_path / "whole", kill_at=0, seconds=EARLY)
    points = text.splitlines()
    assert code == 0
    assert any("reserve" in each for each in points)
    assert any("before the commit of taking_up._create" in each for each in points)

    found = {}
    for number, point in enumerate(points, 1):
        folder = tmp_path / f"at{number}"
        killed, _ = lives(folder, kill_at=number, seconds=EARLY)
        assert killed == -signal.SIGKILL, point
        assert lives(folder, kill_at=-1, seconds=EARLY + 60)[0] == 0
        early = read(folder, "SELECT count(*) FROM events")[0][0]
        assert lives(folder, kill_at=-1, seconds=LATE + 60)[0] == 0
        assert lives(folder, kill_at=-1, seconds=LATE + 120)[0] == 0
        found[point] = (
            early,
            read(folder, "SELECT external_id FROM tasks ORDER BY 1"),
            read(folder, "SELECT subject FROM events ORDER BY 1"),
            read(folder, "SELECT count(*) FROM review_tasks WHERE task_id <> ''"),
        )

    names = ["review:octo/hello#1", "review:octo/hello#2"]
    subjects = [f"acme/{each}" for each in names]
    for point, (_, tasks, events, rows) in found.items():
        assert [each[0] for each in tasks] == names, point
        assert [each[0] for each in events] == subjects, point
        assert rows == [(2,)], point
    # A hit that was reserved by the killed one is left alone until its time is over.
    assert {early for early, *_ in found.values()} == {1, 2}
