"""A sweep that is killed anywhere leaves each task whole, or gone with its record."""

import signal

import pytest

from tests.fault.killed_review import SWEEP, open_lives, read_points, read_rows

FIRST, SECOND, THIRD = 400, 800, 1200
"""Seconds at which sweeps begin, further apart than the time of grace."""
NAMES = {"review:octo/hello#1", "review:octo/hello#2"}


@pytest.fixture(scope="module")
def lives():
    with open_lives() as live:
        yield live


def read_state(folder):
    """Return which tasks are there, have rows, a record, and a told end."""
    tasks = {row[0] for row in read_rows(folder, "SELECT external_id FROM tasks")}
    rows = {
        f"review:octo/hello#{row[0]}"
        for row in read_rows(folder, "SELECT pr_number FROM review_tasks")
    }
    audit = [
        row[0] for row in read_rows(folder, "SELECT external_id FROM review_audit")
    ]
    told = [
        row[0].removeprefix("acme/")
        for row in read_rows(
            folder,
            "SELECT subject FROM events WHERE type = 'GitHubPRReviewTaskDeleted'",
        )
    ]
    return tasks, rows, sorted(audit), sorted(told)


@pytest.mark.parametrize("killed_in", [FIRST, SECOND])
def test_killed_at_any_point_nothing_is_half_done(lives, tmp_path, killed_in):
    def sweep(folder, seconds, kill_at=-1):
        return lives(folder, seconds=seconds, mode=SWEEP, kill_at=kill_at)

    whole = tmp_path / "whole"
    assert lives(whole, seconds=0) == 0
    if killed_in == SECOND:
        assert sweep(whole, FIRST) == 0
    assert sweep(whole, killed_in, kill_at=0) == 0
    points = read_points(whole)
    committed = "_note" if killed_in == FIRST else "remove_done"
    assert any("before the commit of" in p and committed in p for p in points)

    for number, point in enumerate(points, 1):
        folder = tmp_path / f"at{number}"
        assert lives(folder, seconds=0) == 0
        if killed_in == SECOND:
            assert sweep(folder, FIRST) == 0
        assert sweep(folder, killed_in, kill_at=number) == -signal.SIGKILL, point
        tasks, rows, audit, told = read_state(folder)
        assert tasks == rows, point
        assert set(audit) == set(told) == NAMES - tasks, point
        assert killed_in == SECOND or tasks == NAMES, point
        for seconds in (SECOND + 100, THIRD + 100, THIRD + 500):
            assert sweep(folder, seconds) == 0
        assert read_state(folder) == (set(), set(), sorted(NAMES), sorted(NAMES)), point
