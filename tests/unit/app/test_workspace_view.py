"""Look-ups in a workspace that a cycle asks for each of thousands."""

import dataclasses

from prwatch.app.workspace_view import WorkspaceView
from prwatch.domain.targets import Target, Targets
from prwatch.domain.task import Origin
from tests.workspace_rows import (
    make_repository,
    make_snapshot,
    make_task,
    make_task_pull_request,
    make_watch,
)

NUMBERS = range(1, 51)


class Walked(tuple):  # noqa: SLOT001 - it counts in its own dictionary
    """Rows that count how often somebody goes through all of them."""

    walks = 0

    def __iter__(self):
        self.walks += 1
        return super().__iter__()


def make_view(origin=Origin.COMMAND):
    """Return a view of many tasks, each with a pull request and its branch."""
    snapshot = make_snapshot(
        repositories=[make_repository()],
        tasks=[make_task(f"t{number}", origin=origin) for number in NUMBERS],
        watches=[
            make_watch(f"w{n}", task_id=f"t{n}", pr_number=n, branch=f"b{n}")
            for n in NUMBERS
        ],
        task_pull_requests=[
            make_task_pull_request(task_id=f"t{n}", pr_number=n) for n in NUMBERS
        ],
    )
    return WorkspaceView(
        dataclasses.replace(snapshot, watches=Walked(snapshot.watches))
    )


def make_target(number):
    return Target(task_id=f"t{number}", repository_id="hello", branch=f"b{number}")


def test_what_a_named_task_takes_over_is_looked_up():
    view = make_view(Origin.ADOPTED)
    view.snapshot.watches.walks = 0

    found = [view.adopted.find("hello", number) for number in NUMBERS]

    assert [each.id for each in found] == [f"w{number}" for number in NUMBERS]
    assert view.adopted.find("docs", 1) is None
    assert view.snapshot.watches.walks == 1


def test_where_a_branch_is_searched_on_is_looked_up():
    view = make_view()
    view.discovered = Walked(view.discovered)
    rows = Walked(map(make_target, NUMBERS))
    view.targets = Targets(targets=rows)

    places = {view.find_search_place(watch) for watch in view.discovered}

    assert places == {("hello", ())}
    assert (rows.walks, view.discovered.walks) == (1, 2)  # one is our own


def test_new_targets_are_looked_at_anew():
    view = make_view()
    (first, *_) = view.discovered
    view.targets = Targets(targets=frozenset({make_target(1)}))
    before = view.find_search_place(first)
    view.targets = Targets()

    assert (before, view.find_search_place(first)) == (("hello", ()), ("", ()))


def test_the_pull_requests_of_a_task_are_looked_up():
    view = make_view()

    found = [view.list_task_pull_requests(f"t{number}") for number in NUMBERS]

    assert [[row.pr_number for row in rows] for rows in found] == [[n] for n in NUMBERS]
    assert view.list_task_pull_requests("none") == ()
