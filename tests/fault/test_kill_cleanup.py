"""A sweep that is killed anywhere leaves each task whole, or gone with its record."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys

import pytest

from prwatch.app.store_place import DATABASE_NAME

FIRST, SECOND, THIRD = 400, 800, 1200
"""Seconds at which sweeps begin, further apart than the time of grace."""
NAMES = {"review:octo/hello#1", "review:octo/hello#2"}


@pytest.fixture(scope="module")
def lives():
    """A program that lives lives, started once: imports cost more than they do."""
    command = [sys.executable, "-m", "tests.fault.killed_cleanup"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def live(folder, *, seconds, kill_at=-1):
            folder.mkdir(exist_ok=True)
            order = {"folder": str(folder), "kill_at": kill_at, "seconds": seconds}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield live
        process.stdin.close()


def read(folder, sql):
    with contextlib.closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return connection.execute(sql).fetchall()


def read_state(folder):
    """Return which tasks are there, have rows, a record, and a told end."""
    tasks = {row[0] for row in read(folder, "SELECT external_id FROM tasks")}
    rows = {
        f"review:octo/hello#{row[0]}"
        for row in read(folder, "SELECT pr_number FROM review_tasks")
    }
    audit = [row[0] for row in read(folder, "SELECT external_id FROM review_audit")]
    told = [
        row[0].removeprefix("acme/")
        for row in read(
            folder,
            "SELECT subject FROM events WHERE type = 'GitHubPRReviewTaskDeleted'",
        )
    ]
    return tasks, rows, sorted(audit), sorted(told)


@pytest.mark.parametrize("killed_in", [FIRST, SECOND])
def test_killed_at_any_point_nothing_is_half_done(lives, tmp_path, killed_in):
    whole = tmp_path / "whole"
    assert lives(whole, seconds=0) == 0
    if killed_in == SECOND:
        assert lives(whole, seconds=FIRST) == 0
    assert lives(whole, seconds=killed_in, kill_at=0) == 0
    points = (whole / "points.txt").read_text().splitlines()
    committed = "_note" if killed_in == FIRST else "remove_done"
    assert any("before the commit of" in p and committed in p for p in points)

    for number, point in enumerate(points, 1):
        folder = tmp_path / f"at{number}"
        assert lives(folder, seconds=0) == 0
        if killed_in == SECOND:
            assert lives(folder, seconds=FIRST) == 0
        killed = lives(folder, seconds=killed_in, kill_at=number)
        assert killed == -signal.SIGKILL, point
        tasks, rows, audit, told = read_state(folder)
        assert tasks == rows, point
        assert set(audit) == set(told) == NAMES - tasks, point
        assert killed_in == SECOND or tasks == NAMES, point
        for seconds in (SECOND + 100, THIRD + 100, THIRD + 500):
            assert lives(folder, seconds=seconds) == 0
        assert read_state(folder) == (set(), set(), sorted(NAMES), sorted(NAMES)), point
