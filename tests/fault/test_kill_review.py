"""A review queue that is killed anywhere makes one task and one event of each hit."""

import signal

import pytest

from prwatch.domain.review_watch import RESERVED_FOR
from tests.fault.killed_review import open_lives, read_points, read_rows

EARLY = 60
LATE = EARLY + int(RESERVED_FOR.total_seconds())


@pytest.fixture(scope="module")
def lives():
    with open_lives() as live:
        yield live


def test_killed_at_any_point_there_is_one_task_and_one_event_of_each(lives, tmp_path):
    assert lives(tmp_path / "whole", kill_at=0, seconds=EARLY) == 0
    points = read_points(tmp_path / "whole")
    assert any("reserve" in each for each in points)
    assert any("before the commit of taking_up._create" in each for each in points)

    found = {}
    for number, point in enumerate(points, 1):
        folder = tmp_path / f"at{number}"
        assert lives(folder, kill_at=number, seconds=EARLY) == -signal.SIGKILL, point
        assert lives(folder, seconds=EARLY + 60) == 0
        early = read_rows(folder, "SELECT count(*) FROM events")[0][0]
        assert lives(folder, seconds=LATE + 60) == 0
        assert lives(folder, seconds=LATE + 120) == 0
        found[point] = (
            early,
            read_rows(folder, "SELECT external_id FROM tasks ORDER BY 1"),
            read_rows(folder, "SELECT subject FROM events ORDER BY 1"),
            read_rows(folder, "SELECT count(*) FROM review_tasks WHERE task_id <> ''"),
        )

    names = ["review:octo/hello#1", "review:octo/hello#2"]
    subjects = [f"acme/{each}" for each in names]
    for point, (_, tasks, events, rows) in found.items():
        assert [each[0] for each in tasks] == names, point
        assert [each[0] for each in events] == subjects, point
        assert rows == [(2,)], point
    # A hit that was reserved by the killed one is left alone until its time is over.
    assert {early for early, *_ in found.values()} == {1, 2}
